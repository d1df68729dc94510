"""What known evaluations save: whole runs on SMD problems, alone and with the evaluations of another seed's run.

    python python/bench/known.py [PROBLEM ...] [--seeds 1-6]

It prints the table of docs/src/known.md. Of each pair of seeds, the first run makes the table and the second uses it.
"""

from __future__ import annotations

import argparse
import statistics
import warnings

import bilevo

OPTIONS = {"settings": {"stop.target": "off"}}



def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", default=[f"smd{number}" for number in range(1, 13)])
    parser.add_argument("--seeds", default="1-6", help="an even number of them")
    options = parser.parse_args()
    first, last = map(int, options.seeds.split("-"))
    warnings.simplefilter("ignore")
    print("| problem | alone | with the table | part |\n|---|---|---|---|")
    for name in options.problems:
        alone, informed = [], []
        for seed in range(first, last, 2):
            known = bilevo.minimize(name, seed=seed, **OPTIONS).evaluations
            alone.append(bilevo.minimize(name, seed=seed + 1, **OPTIONS).nfev)
            informed.append(bilevo.minimize(name, seed=seed + 1, known=known, **OPTIONS).nfev)
        one, other = statistics.median(alone), statistics.median(informed)
        print(f"| {name.upper()} | {one:,} | {other:,} | {other / one:.2f} |", flush=True)


if __name__ == "__main__":
    main()
