"""What nine points of a front cost, on problems whose fronts are known: the table of docs/src/fronts.md.

    python python/bench/fronts.py [--seeds 1-3]
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

import bilevo

sys.path.append(str(Path(__file__).parent.parent / "tests"))
from test_pareto import FRONTS  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="1-3")
    first_seed, last_seed = map(int, parser.parse_args().seeds.split("-"))
    seeds = range(first_seed, last_seed + 1)
    print("| problem | variables | one run | nine points | ratio | points | verified | largest error |")
    print("|---|---|---|---|---|---|---|---|")
    for name, (goals, f, upper, lower, first) in FRONTS.items():
        runs = [bilevo.minimize(goals[0], f, upper, lower, seed=seed).nfev for seed in seeds]
        fronts = [bilevo.pareto(goals, f, upper, lower, seed=seed) for seed in seeds]
        one, nine = statistics.median(runs), statistics.median(front.nfev for front in fronts)
        ratio = statistics.median(front.nfev / run for front, run in zip(fronts, runs))
        error = max(abs(F[0] - first(F[1])) for front in fronts for F in front.F)
        points, verified = min(map(len, fronts)), min(int(front.verified.sum()) for front in fronts)
        sizes = f"{len(upper)}+{len(lower)}"
        print(f"| {name} | {sizes} | {one:,} | {nine:,} | {ratio:.2f} | {points} | {verified} | {error:.0e} |", flush=True)


if __name__ == "__main__":
    main()
