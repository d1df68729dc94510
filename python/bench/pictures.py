"""The pictures of the README and the guide that show runs, made again in place.

    pip install . matplotlib scipy scikit-learn
    python python/bench/pictures.py [toll] [maps] [gallery] [history] [report] [live]

Without names, it makes all of them. `toll` is the picture of the README, `maps` and `gallery` those of the gallery;
`history` is the picture of searches on the page about the default method, `report` the report on the page about
reports, `live` the live page of a run. The last three need the command `bilevo` (or BILEVO_PROGRAM), the last two also
Chromium (or BILEVO_BROWSER). Look at every picture before you commit it: texts around it may quote its numbers.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "src"
PICTURES = PAGES / "pictures"
EXAMPLES = ROOT / "examples" / "python"
BILEVO = os.environ.get("BILEVO_PROGRAM", "bilevo")
BROWSERS = (os.environ.get("BILEVO_BROWSER", "chromium"), "chromium-browser", "google-chrome")


def example(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], cwd=EXAMPLES, check=True)


def solve(folder: Path, *arguments: str) -> None:
    """A run of the command line, whatever its answer."""
    done = subprocess.run([BILEVO, "solve", *arguments], cwd=folder, stdout=subprocess.DEVNULL)
    if done.returncode > 1:
        sys.exit(f"bilevo solve {' '.join(arguments)} failed")


def shoot(address: str, out: Path, height: int, folder: Path) -> None:
    """A page in a real browser, as wide as a page of the guide."""
    browser = next((name for name in BROWSERS if shutil.which(name)), None) or sys.exit("no Chromium was found")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder / 'browser'}"]
    picture = [f"--window-size=1000,{height}", f"--screenshot={out}", address]
    subprocess.run([browser, *options, *picture], check=True, stderr=subprocess.DEVNULL)
    # A third of the size, and it looks the same.
    with Image.open(out) as whole:
        small = whole.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    small.save(out, optimize=True)


def toll(folder: Path) -> None:
    example("picture.py", str(PICTURES / "toll.png"))


def maps(folder: Path) -> None:
    example("sioux_falls.py", "tolls", "--out", str(PICTURES / "sioux_falls.png"))
    example("sioux_falls.py", "design", "--out", str(PICTURES / "sioux_falls_design.png"))


def gallery(folder: Path) -> None:
    example("gallery.py", str(PICTURES))


def history(folder: Path) -> None:
    solve(folder, "smd7", "--seed", "5", "--target", "off", "--report", "run.html", "--report-evals", "0")
    page = (folder / "run.html").read_text(encoding="utf-8")
    found = re.search(r"<svg[^>]*><title[^>]*>Where each search ended.*?</svg>", page, re.DOTALL)
    assert found, "the report shows no searches"
    # On its own, a picture needs a size, and there is no table above it.
    text = re.sub(r'(viewBox="0 0 420 294")', r'\1 width="600" height="420"', found[0], count=1)
    (PAGES / "images" / "history.svg").write_text(text.replace(" The table above lists them.", "", 1) + "\n", encoding="utf-8")


def report(folder: Path) -> None:
    page = (PAGES / "report.md").read_text(encoding="utf-8")
    file = re.search(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert file, "the page about reports has no problem file"
    (folder / "tolls.toml").write_text(file[1], encoding="utf-8")
    solve(folder, "tolls.toml", "--seed", "1", "--report", "run.html")
    shoot((folder / "run.html").as_uri(), PICTURES / "report.png", 1560, folder)


def live(folder: Path) -> None:
    long = ["smd8", "--dims", "5+5", "--target", "off", "--seed", "1", "--checkpoint", "run.ckpt"]
    run = subprocess.Popen([BILEVO, "solve", *long], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(4)
    # Without a PATH there is nothing that opens the page.
    program, quiet = shutil.which(BILEVO) or BILEVO, {**os.environ, "PATH": ""}
    watch = subprocess.Popen([program, "watch", "run.ckpt", "--open"], cwd=folder, env=quiet, stderr=subprocess.PIPE, text=True)
    try:
        assert watch.stderr is not None
        address = re.search(r"http://\S+", watch.stderr.readline())
        assert address, "there is no live page"
        time.sleep(8)
        shoot(address[0], PICTURES / "live.png", 920, folder)
    finally:
        watch.kill()
        run.kill()


MAKERS: dict[str, Callable[[Path], None]] = {
    maker.__name__: maker for maker in (toll, maps, gallery, history, report, live)
}


def main() -> None:
    names = sys.argv[1:] or list(MAKERS)
    if unknown := [name for name in names if name not in MAKERS]:
        sys.exit(f"there is no picture {unknown[0]}; there are {', '.join(MAKERS)}")
    for name in names:
        print(name)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            MAKERS[name](Path(folder))


if __name__ == "__main__":
    main()
