"""How many calls of the follower's own solver contrastive ranking saves.

    python python/bench/oracle_savings.py [--runs 11]

The solver is the formula of the follower's answer, on the SMD problems that have one. A run ends at the known optimum.
The table shows the median number of calls of each base method and of its `cr-` variant, over the runs that found it.
"""

from __future__ import annotations

import argparse
import statistics
import warnings
from typing import Any

import numpy as np

import bilevo

#: y2 as a function of x2, and the value of all y1, at the follower's optimum (2+3 variables: y1, y1, y2).
RESPONSES = {
    1: (np.arctan, 0.0),
    2: (np.exp, 0.0),
    3: (lambda x: np.arctan(x**2), 0.0),
    4: (lambda x: np.exp(np.abs(x)) - 1, 0.0),
    5: (lambda x: np.sqrt(np.abs(x)), 1.0),
    6: (lambda x: x, 0.0),  # of the answers that are equally good for it, the one best for the leader
    7: (np.exp, 0.0),
    8: (np.cbrt, 1.0),
}


def response_9(x: float, low: float, high: float) -> Any:
    """SMD9's answer: y1² + y1² + y2² must not lie in the upper half between two whole numbers, so that y1 may have
    to fill it up. To seven digits where that is so."""
    free = np.expm1(x)
    if low <= free <= high and free**2 % 1 < 0.5:
        return [0.0, 0.0, free]
    ends = (low, high)
    for _ in range(4):
        y = np.linspace(*ends, 10_001)
        filled = np.where(y**2 % 1 < 0.5, 0.0, 1 - y**2 % 1)
        best = np.argmin((x - np.log1p(y)) ** 2 + filled)
        ends = (y[max(best - 1, 0)], y[min(best + 1, len(y) - 1)])
    return [np.sqrt(filled[best]), 0.0, y[best]]


def calls(number: int, method: str, seed: int) -> int | None:
    """Calls of the solver until the optimum was found; none if it was not."""
    smd = bilevo.problems.smd(number)
    response, first = RESPONSES.get(number, (None, 0.0))
    low, high = np.array(smd.bounds_lower).T

    def follower(x: Any) -> Any:
        if response is None:
            return response_9(x[1], low[2], high[2])
        return np.clip([first, first, float(response(x[1]))], low, high)

    constraints = {} if response else {"upper_constraints": lambda x, y: smd.evaluate("upper", x, y).constraints}
    result = bilevo.minimize(
        lambda x, y: smd.evaluate("upper", x, y).value, **constraints,
        follower=follower, bounds_upper=smd.bounds_upper, method=method, seed=seed, best_known=0.0,
    )
    return result.nfev_lower if result.accuracy is not None and result.accuracy <= 1e-6 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--base", default="bl-cma-es")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"| problem | {options.base} | cr-{options.base} | saved | auto |\n|---|---|---|---|---|")
    for number in (*RESPONSES, 9):
        cells = []
        for method in (options.base, f"cr-{options.base}", "auto"):
            found = [calls(number, method, seed) for seed in range(1, options.runs + 1)]
            solved = [count for count in found if count is not None]
            cells.append((statistics.median(solved) if solved else float("nan"), len(solved)))
        saved = 1 - cells[1][0] / cells[0][0]
        words = [f"{median:.0f} ({solved} of {options.runs})" for median, solved in cells]
        print(f"| SMD{number} | {words[0]} | {words[1]} | {saved:.0%} | {words[2]} |", flush=True)


if __name__ == "__main__":
    main()
