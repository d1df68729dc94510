"""What known evaluations save: whole runs on SMD problems, alone and with the evaluations of another seed's run.

Prints the table of docs/src/known.md: `python python/bench/known.py [PROBLEM ...]`.
"""

from __future__ import annotations

import statistics
import sys

import bilevo

SEEDS = ((1, 2), (3, 4), (5, 6))
OPTIONS = {"settings": {"stop.target": "off"}}


def main(names: list[str]) -> None:
    print("| problem | alone | with the table |\n|---|---|---|")
    for name in names:
        alone, informed = [], []
        for first, second in SEEDS:
            known = bilevo.minimize(name, seed=first, **OPTIONS).evaluations
            alone.append(bilevo.minimize(name, seed=second, **OPTIONS).nfev)
            informed.append(bilevo.minimize(name, seed=second, known=known, **OPTIONS).nfev)
        print(f"| {name.upper()} | {statistics.median(alone):,} | {statistics.median(informed):,} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or [f"smd{number}" for number in range(1, 13)])
