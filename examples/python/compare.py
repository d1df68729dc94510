"""Two methods on a few problems: what contrastive ranking saves, with a figure.

    python compare.py [--runs 5] [--store compare.db] [--out compare.png]

Every run is a row of the store. If you call the program again with more runs, it does only the missing ones.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import bilevo

METHODS = ["bl-cma-es", "cr-bl-cma-es"]
PROBLEMS = ["smd1", "smd3", "smd6", "tp1"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--store", type=Path, default=Path("compare.db"))
    parser.add_argument("--out", type=Path, default=Path("compare.png"))
    arguments = parser.parse_args()
    experiment = bilevo.lab.run(METHODS, PROBLEMS, runs=arguments.runs, store=arguments.store, workers=-1)
    frame = experiment.frame()
    table = frame.pivot_table(index="problem", columns="method", values="evaluations_total", aggfunc="median")
    table["saved"] = (1 - table[METHODS[1]] / table[METHODS[0]]).map("{:.0%}".format)
    solved = frame.groupby(["problem", "method"])["solved"].sum().unstack()
    print(f"median evaluations of {arguments.runs} runs")
    print(table.to_string())
    print("runs that found the known optimum")
    print(solved.to_string())
    import matplotlib

    matplotlib.use("Agg")
    experiment.plot_convergence().savefig(arguments.out, dpi=120)
    print(f"figure: {arguments.out}")


if __name__ == "__main__":
    main()
