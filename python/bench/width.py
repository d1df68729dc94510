"""How much parallel work a run offers: the points of its batches, and what workers make of them.

    python python/bench/width.py [--methods bl-cma-es,cr-bl-cma-es] [--sizes 2+3,5+5,10+10] [--first 300]

Prints a Markdown table, of whole runs or of their first evaluations. `points` is the mean number of points in a
lower batch. A column `on W` is the
best possible speed-up on W workers when all evaluations cost the same: the points of all batches,
divided by the rounds of W points they take.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import bilevo

WORKERS = (2, 8, 32, 128)
WHOLE = 10**12
METHODS = "auto,bl-cma-es,tlea-cma-es,tlea-de,motea,boc,cr-bl-cma-es"


def widths(problem: bilevo.problems.NamedProblem, first: int, **options: Any) -> tuple[list[int], list[int]]:
    """The sizes of the batches that make up the first evaluations of a run, lower and upper."""
    lower: list[int] = []
    upper: list[int] = []
    optimizer = bilevo.Optimizer(problem, **options)
    while sum(lower) + sum(upper) < first and (batch := optimizer.ask()) is not None:
        (lower if batch.level == "lower" else upper).append(len(batch))
        answers = [problem.evaluate(point.level, point.x, point.y) for point in batch]
        optimizer.tell(batch, [answer.value for answer in answers])
    return lower, upper


def row(method: str, size: str, settings: dict[str, Any], first: int, phase: str) -> str:
    m, n = (int(part) for part in size.split("+"))
    problem = bilevo.problems.smd(1, m, n)
    lower, upper = widths(problem, first, method=method, seed=1, settings={"stop.target": "off", **settings}, budget=200)
    points = np.array(lower + upper)
    cells = [f"{points.sum() / np.ceil(points / w).sum():.1f}" for w in WORKERS]
    return f"| `{method}`{phase} | {size} | {np.mean(lower):.0f} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--sizes", default="2+3,5+5,10+10")
    parser.add_argument("--population", type=int, help="candidates in a generation")
    parser.add_argument("--first", type=int, default=WHOLE, help="evaluations of a run that are looked at")
    arguments = parser.parse_args()
    settings = {} if arguments.population is None else {"upper.population": arguments.population}
    print("| Method | Variables | Points | " + " | ".join(f"on {w}" for w in WORKERS) + " |")
    print("|" + "---|" * (3 + len(WORKERS)))
    for method in arguments.methods.split(","):
        # The default method begins with descents, whose batches are narrow.
        both = method == "auto" and arguments.first == WHOLE
        phases = {", first 300 evaluations": 300, ", 200 upper evaluations": WHOLE} if both else {"": arguments.first}
        for phase, first in phases.items():
            for size in arguments.sizes.split(","):
                print(row(method, size, settings, first, phase), flush=True)


if __name__ == "__main__":
    main()
