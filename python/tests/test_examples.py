"""The examples and the Python code of the guide run and print what they say."""

from __future__ import annotations

import io
import json
import re
import runpy
import subprocess
import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

import bilevo

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "python"


def run_script(name: str, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    printed = io.StringIO()
    with redirect_stdout(printed):
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return printed.getvalue()


def test_tolls_on_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    printed = run_script("toll_network.py", monkeypatch, "--budget", "200", "--out", str(tmp_path / "map.png"))
    assert (tmp_path / "map.png").stat().st_size > 10_000
    # where drivers use several routes, no route is faster than another
    routes = re.findall(r"\S+ (\d+\.\d) by (\d+)", printed)
    assert len(routes) == 6
    for pair in (routes[:3], routes[3:]):
        used = [float(cost) for cost, drivers in pair if int(drivers) > 0]
        assert used and max(used) - min(used) < 1.0
        assert min(float(cost) for cost, _ in pair) > min(used) - 1.0


def test_two_methods_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    store, out = tmp_path / "compare.db", tmp_path / "compare.png"
    printed = run_script("compare.py", monkeypatch, "--runs", "1", "--store", str(store), "--out", str(out))
    assert "saved" in printed and "%" in printed and out.stat().st_size > 10_000


def test_the_picture_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    printed = run_script("picture.py", monkeypatch, str(tmp_path / "toll.png"))
    found = re.search(r"(\d+) upper and (\d+) lower evaluations, toll (\d+\.\d+)", printed)
    assert found and 0 < int(found[1]) < int(found[2]) and abs(float(found[3]) - 4) < 0.05
    assert (tmp_path / "toll.png").stat().st_size > 10_000


def test_a_support_vector_machine_tuned(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    printed = run_script("tune_svr.py", monkeypatch, "--budget", "2", "--workers", "1")
    errors = [float(number) for number in re.findall(r"^  \S.* (\d+\.\d+)$", printed, re.MULTILINE)]
    assert len(errors) == 3 and all(40 < error < 90 for error in errors)


def assert_alike(now: str, stored: str) -> None:
    """The same words, and numbers that differ by no more than roundings of NumPy on another machine may cause."""
    number = re.compile(r"-?\d+(?:\.\d+)?")
    assert number.sub("", now).split() == number.sub("", stored).split()
    assert [float(n) for n in number.findall(now)] == pytest.approx([float(n) for n in number.findall(stored)], abs=0.1)


def test_the_notebook_shows_what_its_code_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    matplotlib.use("Agg")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    notebook = json.loads((EXAMPLES / "toll_network.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    for cell in cells:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec("".join(cell["source"]), names)
        assert_alike(printed.getvalue(), "".join(text for o in cell["outputs"] for text in o.get("text", [])))
    matplotlib.pyplot.close("all")
    shown = [kind for cell in cells for output in cell["outputs"] for kind in output.get("data", {})]
    assert shown.count("image/png") == 3 and shown.count("text/html") == 1
    table = "".join(cells[0]["outputs"][0]["data"]["text/plain"])
    for now in str(names["result"]).splitlines():
        name = now.split(":")[0]
        if name.strip() in ("problem", "method", "status", "x", "fun (F)", "success"):
            assert_alike(now, next(line for line in table.splitlines() if line.startswith(f"{name}:")))
    assert names["result"].fun >= max(names["income"]) - 0.01, "the answer is at the top of the curve"


def fences(path: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page: language and text."""
    return re.findall(r"^```([^\n]*)\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_file_of_the_readme(program: str, tmp_path: Path) -> None:
    blocks = fences(ROOT / "README.md")
    at = next(index for index, (language, _) in enumerate(blocks) if language == "toml")
    (tmp_path / "toll.toml").write_text(blocks[at][1], encoding="utf-8")
    command = next(line for line in blocks[at + 1][1].splitlines() if line.startswith("bilevo solve"))
    assert blocks[at + 2][0] == "text"
    solved = [program, *command.split()[1:]]
    printed = subprocess.run(solved, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    for line in blocks[at + 2][1].splitlines():
        name, _, shown = line.strip().partition(" ")
        real = next(words for words in printed.splitlines() if words.split()[:1] == [name]).strip()
        if name == "audit":
            assert real.startswith(line.strip())
        else:
            assert float(real.split()[-1]) == pytest.approx(float(shown.split()[-1]), abs=0.05)


#: Every page with Python code; that of programs.md is a program which waits for requests.
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in [ROOT / "README.md", *(ROOT / "docs/src").glob("*.md")]
    if path.name != "programs.md" and any(language.startswith("python") for language, _ in fences(path))
)


@pytest.mark.parametrize("page", PAGES)
def test_python_code_of_the_guide(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(EXAMPLES))
    blocks = fences(ROOT / page)
    if page.endswith("plant.md"):
        # Its follower fails in part of the box.
        warnings.filterwarnings("ignore", ".* evaluations failed", bilevo.BilevoWarning)
    names: dict[str, object] = {}
    for index, (language, text) in enumerate(blocks):
        if language != "python":
            continue
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(text, f"{page}, block {index}", "exec"), names)
        if printed.getvalue() and index + 1 < len(blocks) and blocks[index + 1][0] == "text":
            assert printed.getvalue() == blocks[index + 1][1]
    for language, text in blocks:
        if language.startswith("python,"):
            compile(text, page, "exec")


def test_the_program_of_the_guide_speaks_the_protocol(tmp_path: Path) -> None:
    blocks = fences(ROOT / "docs/src/programs.md")
    source = next(text for language, text in blocks if language == "python")
    requests = next(text.splitlines() for _, text in blocks if text.startswith('{"id":7'))
    (tmp_path / "plant.py").write_text(source, encoding="utf-8")
    asked = "".join(f"{line}\n" for line in requests[::2])
    run = subprocess.run([sys.executable, tmp_path / "plant.py"], input=asked, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == requests[1::2]


def test_excerpts_of_the_guide_are_in_the_examples() -> None:
    """Blocks that show a part of a longer file, apart from indentation and comments."""

    def bare(text: str) -> str:
        return "".join(re.sub(r"[#%].*", "", line) for line in text.splitlines()).replace(" ", "")

    def block(page: str, start: str) -> str:
        return bare(next(text for _, text in fences(ROOT / "docs/src" / page) if text.startswith(start)))

    network = (ROOT / "examples/network.toml").read_text(encoding="utf-8")
    octave = (ROOT / "examples/programs/duopoly.m").read_text(encoding="utf-8")
    for level in block("bridge.md", "[upper]\nmaximize = \"toll").split("[lower]"):
        assert level in bare(network)
    assert block("programs.md", "while true") in bare(octave)


def test_every_problem_of_the_gallery_is_complete() -> None:
    gallery = (ROOT / "docs/src/gallery.md").read_text(encoding="utf-8")
    pages = re.findall(r"^\| \[[^]]*\]\(([a-z-]+\.md)\)", gallery, re.MULTILINE)
    assert len(pages) == 7
    for page in pages:
        path = ROOT / "docs/src" / page
        text = path.read_text(encoding="utf-8")
        for part in ("**Problem.**", "**Answer.**", "**Reference.**", "](pictures/", "```"):
            assert part in text, f"{page}: {part}"
        assert "**Program.**" in text or "**File.**" in text
        assert all(len(block.splitlines()) <= 40 for _, block in fences(path))
        picture = re.search(r"\]\((pictures/[a-z_]+\.png)\)", text)
        assert picture and f"({picture[1]})]({page})" in gallery, f"{page}: its picture is not in the gallery"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with Python 3.11")
def test_toml_of_the_guide_is_toml() -> None:
    import tomllib

    pages = [ROOT / "README.md", *(ROOT / "docs/src").glob("*.md")]
    blocks = [(page.name, text) for page in pages for language, text in fences(page) if language == "toml"]
    assert len(blocks) > 10
    for page, text in blocks:
        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            pytest.fail(f"{page}: {error}\n{text}")
