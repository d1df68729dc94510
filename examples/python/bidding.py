"""Strategic bidding: a power company against a market that is cleared by a linear program.

    python bidding.py [--seed 1] [--effort normal] [--reference]

The company owns three of ten generators and decides at what prices to offer their power. The operator (the follower)
clears the market at the lowest total cost of the offers, for five parts of the day; the price of each part is the
dual value of its balance. The company's profit depends on these prices as well as on quantities, so the follower's
answer includes them in `info`.

The profit jumps where one of the company's offers overtakes that of another generator. Between two jumps it is linear,
so trying every step gives an exact reference (`--reference`).
"""

from __future__ import annotations

import argparse
import itertools
from typing import Any

import numpy as np
from scipy.optimize import linprog

import bilevo

#: Cost of each generator per MWh, and its size in MW; the first three are ours.
COST = np.array([12.0, 23.0, 31.0, 9.0, 17.5, 21.0, 28.0, 33.0, 46.0, 58.0])
SIZE = np.array([60.0, 45.0, 30.0, 80.0, 60.0, 50.0, 50.0, 45.0, 30.0, 30.0])
OURS = 3
#: Demand of each part of the day in MW, and how long it lasts, as a share of the day.
DEMAND = np.array([143.0, 207.0, 252.0, 288.0, 311.0])
HOURS = np.array([7.0, 6.0, 5.0, 4.0, 2.0]) / 24
#: No offer may be higher.
CAP = 70.0


def clear(x: Any) -> bilevo.Answer:
    """The operator's answer to our offers: the output of each generator in each part of the day, and the prices."""
    offers = np.concatenate([x, COST[OURS:]])
    periods, plants = len(DEMAND), len(COST)
    balance = np.kron(np.eye(periods), np.ones(plants))
    cost = np.concatenate([hours * offers for hours in HOURS])
    limits = [(0, size) for _ in range(periods) for size in SIZE]
    cleared = linprog(cost, A_eq=balance, b_eq=DEMAND, bounds=limits, method="highs")
    return bilevo.Answer(y=cleared.x, f=cleared.fun, info={"prices": cleared.eqlin.marginals / HOURS})


def profit(x: Any, answer: bilevo.Answer) -> float:
    """What we earn in an average hour."""
    sold = answer.y.reshape(len(DEMAND), -1)[:, :OURS]
    margins = answer.info["prices"][:, None] - COST[:OURS]
    return float(HOURS @ (sold * margins).sum(axis=1))


def solve(seed: int = 1, **options: Any) -> bilevo.Result:
    bounds = [(cost, CAP) for cost in COST[:OURS]]
    return bilevo.minimize(profit, follower=clear, bounds_upper=bounds, maximize="upper", seed=seed, name="bidding", **options)


def reference() -> tuple[Any, float, int]:
    """The best of all offers just below a competitor's or the cap: x, profit, and the programs solved."""
    steps = [[cost, *(other - 1e-4 for other in COST[OURS:] if other > cost), CAP] for cost in COST[:OURS]]
    tried = [(profit(x, clear(x)), x) for x in itertools.product(*steps)]
    best, x = max(tried)
    return np.array(x), best, len(tried)


def main() -> None:
    parser = argparse.ArgumentParser(description="Strategic bidding against a cleared market.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--effort", choices=["quick", "normal"], default="normal")
    parser.add_argument("--reference", action="store_true", help="compare with trying every step")
    options = parser.parse_args()
    honest = COST[:OURS]
    print(f"offers at cost  profit {profit(honest, clear(honest)):8.2f}")
    result = solve(options.seed, effort=options.effort)
    print(f"bilevo          profit {result.fun:8.2f} after {result.nfev_lower} clearings, offers {result.x.round(2)}")
    if options.reference:
        x, best, programs = reference()
        print(f"every step      profit {best:8.2f} after {programs} clearings, offers {x.round(2)}")


if __name__ == "__main__":
    main()
