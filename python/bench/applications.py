"""The applications with their own follower, over many seeds: how many answers are right, and what they cost.

    python python/bench/applications.py [bidding] [logistic] [tolls] [tolls-quick] [--seeds 901-910]

An answer is right if it is as good as the reference: for bidding, the best of all steps; for the logistic regression,
the best of eight runs of nested COBYQA; for the tolls, the best known; for `tolls-quick`, nested COBYQA from the middle
of the box. The table shows how many answers are right, how many of these took no more than the calls allowed, and how
many are wrong although the restarts agree.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import bilevo

sys.path.append(str(Path(__file__).parents[2] / "examples" / "python"))


@dataclass(frozen=True)
class Case:
    solve: Callable[[int], bilevo.Result]
    #: The value to reach, and whether F is minimised.
    value: float
    tolerance: float
    minimised: bool
    calls: int


def bidding() -> Case:
    import bidding as application

    return Case(lambda seed: application.solve(seed), application.reference()[1], 0.005, False, 1500)


def logistic() -> Case:
    import tune_logistic as application

    solve = lambda seed: application.solve(seed, effort="normal")  # noqa: E731
    return Case(solve, application.reference()[1], 1e-6, True, 120)


def tolls() -> Case:
    import sioux_falls as application

    solve = lambda seed: application.solve("tolls", seed, effort="normal")  # noqa: E731
    return Case(solve, application.best_known("tolls"), 1e-4, True, 300)


def tolls_quick() -> Case:
    import sioux_falls as application

    _, value, equilibria = application.reference("tolls")
    solve = lambda seed: application.solve("tolls", seed, effort="quick")  # noqa: E731
    return Case(solve, value, 1e-4, True, round(1.2 * equilibria))


CASES: dict[str, Callable[[], Case]] = {
    "bidding": bidding,
    "logistic": logistic,
    "tolls": tolls,
    "tolls-quick": tolls_quick,
}


def row(name: str, case: Case, seeds: range, verbose: bool) -> str:
    right, within, silent, calls = 0, 0, 0, []
    for seed in seeds:
        result: Any = case.solve(seed)
        excess = (result.fun - case.value) * (1 if case.minimised else -1)
        good = excess <= case.tolerance
        right += good
        within += good and result.nfev_lower <= case.calls
        silent += not good and result.verification.agreed
        calls.append(result.nfev_lower)
        if verbose:
            print(f"  seed {seed}: {result.fun:.7f} in {result.nfev_lower}, agreed {result.verification.agreed}", flush=True)
    costs = f"{min(calls):,} | {median(calls):,.0f} | {max(calls):,}"
    return f"| {name} | {case.value:.7g} | {right} of {len(seeds)} | {within} within {case.calls:,} | {silent} | {costs} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--seeds", default="901-910")
    parser.add_argument("--verbose", action="store_true", help="show every run")
    options = parser.parse_args()
    first, last = map(int, options.seeds.split("-"))
    warnings.simplefilter("ignore")
    print("| case | reference | right | of them | wrong, silent | fewest calls | median | most |\n" + "|---" * 8 + "|", flush=True)
    for name in options.cases:
        print(row(name, CASES[name](), range(first, last + 1), options.verbose), flush=True)


if __name__ == "__main__":
    main()
