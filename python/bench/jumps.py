"""Own followers that jump: random markets and toll roads, whose best values are known by enumeration.

    python python/bench/jumps.py [markets] [tolls] [--instances 1-60] [--seed 1]

In a market, the leader owns some generators and offers their power; the others offer at cost, and the operator takes
the cheapest offers first (the merit order). On toll roads, every traveller takes the cheapest of some paths and pays
the tolls on it. In both, the leader's income jumps wherever the follower changes its choice. The table shows how many
answers are right (within 1e-3 of the best income), how many are wrong although the run says that its restarts agree
("silent"), and what the runs cost.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from typing import Any

import numpy as np

import bilevo

#: An answer is right if it falls short of the best by this share at most.
RIGHT = 1e-3
CAP = 70.0
#: How far the reference stays below a competitor's offer.
BELOW = 1e-6


class Income:
    """A problem whose leader wants a large income, and whose best is known."""

    def solve(self, seed: int) -> bilevo.Result:
        return bilevo.minimize(self.income, follower=self.follower, bounds_upper=self.bounds, maximize="upper", seed=seed)

    def lacks(self, income: float) -> float:
        best = self.best()
        return (best - income) / max(best, 1e-12)


class Market(Income):
    """Generators, of which the first are the leader's, and parts of the day with their demands."""

    def __init__(self, number: int) -> None:
        draw = np.random.default_rng([22, number])
        self.ours, others, periods = int(draw.integers(2, 5)), int(draw.integers(3, 8)), int(draw.integers(2, 6))
        self.cost = draw.uniform(5, 60, self.ours + others).round(1)
        self.size = draw.uniform(20, 90, self.ours + others).round()
        # The other firms can always serve everyone, so no firm can ask for any price it likes.
        self.demand = draw.uniform(0.4, 0.98, periods) * self.size[self.ours :].sum()
        self.hours = draw.dirichlet(np.ones(periods) * 3)
        self.bounds = [(cost, CAP) for cost in self.cost[: self.ours]]

    def clear(self, x: Any) -> tuple[Any, Any]:
        """What each generator sells in each part of the day, and the prices; x may have many rows."""
        x = np.atleast_2d(x)
        offers = np.hstack([x, np.tile(self.cost[self.ours :], (len(x), 1))])
        order = np.argsort(offers, axis=1, kind="stable")
        sizes = self.size[order]
        before = np.cumsum(sizes, axis=1) - sizes
        sold = np.clip(self.demand[:, None, None] - before, 0, sizes)
        last = (sold > 0).sum(axis=2) - 1
        prices = np.take_along_axis(np.take_along_axis(offers, order, axis=1), last.T, axis=1)
        amounts = np.empty_like(sold)
        np.put_along_axis(amounts, np.broadcast_to(order, sold.shape), sold, axis=2)
        return amounts, prices

    def incomes(self, x: Any) -> Any:
        amounts, prices = self.clear(x)
        margins = prices.T[:, :, None] - self.cost[: self.ours]
        return self.hours @ (amounts[:, :, : self.ours] * margins).sum(axis=2)

    def follower(self, x: Any) -> bilevo.Answer:
        amounts, prices = self.clear(x)
        return bilevo.Answer(y=amounts[:, 0].ravel(), info=prices[0])

    def income(self, x: Any, answer: bilevo.Answer) -> float:
        sold = answer.y.reshape(len(self.demand), -1)[:, : self.ours]
        return float(self.hours @ (sold * (answer.info[:, None] - self.cost[: self.ours])).sum(axis=1))

    def best(self) -> float:
        """The best of all offers just below a competitor's or the cap, in every order of ours."""
        levels = [*self.cost[self.ours :], CAP]
        best = -np.inf
        for order in itertools.permutations(range(self.ours)):
            steps = [
                [cost, *(level - BELOW * (1 + order[i]) for level in levels if level - 1e-4 > cost)]
                for i, cost in enumerate(self.cost[: self.ours])
            ]
            best = max(best, self.incomes(np.array(list(itertools.product(*steps)))).max())
        return float(best)


class Tolls(Income):
    """Travellers, each with some paths over toll roads and one free path; they take the cheapest."""

    def __init__(self, number: int) -> None:
        draw = np.random.default_rng([23, number])
        self.roads, travellers = int(draw.integers(2, 5)), int(draw.integers(2, 5))
        paths = int(draw.integers(2, 4))
        self.uses = [(draw.uniform(size=(paths, self.roads)) < 0.5).astype(float) for _ in range(travellers)]
        for uses in self.uses:
            uses[np.arange(paths), draw.integers(self.roads, size=paths)] = 1
        self.lengths = [draw.uniform(2, 14, paths).round(1) for _ in range(travellers)]
        self.free = draw.uniform(14, 24, travellers).round(1)
        self.count = draw.uniform(1, 10, travellers).round()
        self.bounds = [(0.0, 25.0)] * self.roads

    def follower(self, x: Any) -> bilevo.Answer:
        chosen, paid = [], []
        for uses, lengths, free in zip(self.uses, self.lengths, self.free):
            # The free path is the last; of equally cheap ones the first.
            prices = np.append(uses @ x, 0.0)
            path = int(np.argmin(np.append(lengths, free) + prices))
            chosen.append(float(path))
            paid.append(prices[path])
        return bilevo.Answer(y=chosen, info=paid)

    def income(self, x: Any, answer: bilevo.Answer) -> float:
        return float(self.count @ answer.info)

    def best(self) -> float:
        """The best over all choices of paths, each by a linear program."""
        from scipy.optimize import linprog

        best = 0.0
        options = [range(len(lengths) + 1) for lengths in self.lengths]
        for choice in itertools.product(*options):
            rows, limits, gain = [], [], np.zeros(self.roads)
            for uses, lengths, free, count, path in zip(self.uses, self.lengths, self.free, self.count, choice):
                uses, lengths = np.vstack([uses, np.zeros(self.roads)]), np.append(lengths, free)
                gain += count * uses[path]
                for other in range(len(lengths)):
                    rows.append(uses[path] - uses[other])
                    limits.append(lengths[other] - lengths[path])
            found = linprog(-gain, A_ub=rows, b_ub=limits, bounds=self.bounds, method="highs")
            best = max(best, -found.fun if found.success else 0.0)
        return best


FAMILIES: dict[str, Any] = {"markets": Market, "tolls": Tolls}


def table(about: str, families: dict[str, Any], right: float) -> None:
    """Prints how many answers to random problems are right, by families; those may lack a share of what matters."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("families", nargs="*", help="by default all: " + ", ".join(families))
    parser.add_argument("--instances", default="1-60")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="name the wrong ones")
    options = parser.parse_args()
    first, last = map(int, options.instances.split("-"))
    print("| family | right | wrong, flagged | wrong, silent | calls, median | most |\n|---|---|---|---|---|---|")
    for family in options.families or families:
        counts, calls = [0, 0, 0], []
        for number in range(first, last + 1):
            problem = families[family](number)
            result = problem.solve(options.seed)
            lacks = problem.lacks(result.fun)
            agreed = result.verification is not None and result.verification.agreed
            calls.append(result.nfev_lower)
            counts[0 if lacks <= right else 2 if agreed else 1] += 1
            if options.verbose and lacks > right:
                print(f"  {family} {number}: lacks {lacks:.1e}, {result.nfev_lower} calls, agreed {agreed}", flush=True)
        cells = " | ".join(map(str, counts))
        print(f"| {family} | {cells} | {statistics.median(calls):.0f} | {max(calls):,} |", flush=True)


if __name__ == "__main__":
    table(__doc__, FAMILIES, RIGHT)
