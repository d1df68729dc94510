"""What nine points of a front cost, on problems whose fronts are known: the table of docs/src/fronts.md.

`python python/bench/fronts.py`
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

import bilevo

sys.path.append(str(Path(__file__).parent.parent / "tests"))
from test_pareto import FRONTS  # noqa: E402


def main() -> None:
    print("| problem | variables | one run | nine points | ratio | points | verified | largest error |")
    print("|---|---|---|---|---|---|---|---|")
    for name, (goals, f, upper, lower, first) in FRONTS.items():
        runs = [bilevo.minimize(goals[0], f, upper, lower, seed=seed).nfev for seed in (1, 2, 3)]
        fronts = [bilevo.pareto(goals, f, upper, lower, seed=seed) for seed in (1, 2, 3)]
        one, nine = statistics.median(runs), statistics.median(front.nfev for front in fronts)
        ratio = statistics.median(front.nfev / run for front, run in zip(fronts, runs))
        error = max(abs(F[0] - first(F[1])) for front in fronts for F in front.F)
        points, verified = min(map(len, fronts)), min(int(front.verified.sum()) for front in fronts)
        sizes = f"{len(upper)}+{len(lower)}"
        print(f"| {name} | {sizes} | {one:,} | {nine:,} | {ratio:.2f} | {points} | {verified} | {error:.0e} |", flush=True)


if __name__ == "__main__":
    main()
