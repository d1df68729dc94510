"""Own followers without jumps: random regressions and toll networks, with a reference from many searches.

    python python/bench/smooth.py [fits] [roads] [--instances 1-60] [--seed 1]

In a regression, the leader chooses how strongly groups of features are penalised, the follower fits the weights to some
samples, and the leader wants a small error on others: smooth, with several local optima. On toll roads, the travellers
spread over their paths until none of them gains by changing, and the leader wants them to lose little time: smooth, with
kinks where a path falls out of use. The reference is the best of 20 SciPy searches, which start from the best of 1,024
random decisions. An answer is right if its distance from the reference is at most 1e-4 of that of the median random
decision. A wrong answer is silent if the run says that its restarts agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize, nnls
from scipy.stats import qmc

import bilevo
from jumps import table

RIGHT = 1e-4
POINTS, SEARCHES = 1024, 20


class Cost:
    """A problem whose leader wants small costs."""

    def solve(self, seed: int) -> bilevo.Result:
        return bilevo.minimize(self.cost, follower=self.follower, bounds_upper=self.bounds, seed=seed)

    def lacks(self, cost: float) -> float:
        """By how much it is worse than the best known, as a part of what the median all over the box is."""
        low, high = np.array(self.bounds).T
        points = low + qmc.Sobol(len(low), seed=1).random(POINTS) * (high - low)
        value = lambda x: self.cost(x, self.follower(np.clip(x, low, high)))  # noqa: E731
        values = np.array([value(x) for x in points])
        starts = points[np.argsort(values)[:SEARCHES]]
        options = {"xatol": 1e-7, "fatol": 1e-12, "maxfev": 2000}
        search = lambda start: minimize(value, start, method="Nelder-Mead", bounds=self.bounds, options=options)  # noqa: E731
        best = min(search(start).fun for start in starts)
        # where the leader's decision does not matter, rounding is no lack
        return (cost - best) / max(float(np.median(values)) - best, 1e-9 * abs(best))


class Fits(Cost):
    """Ridge regression with a penalty for each group of features."""

    def __init__(self, number: int) -> None:
        draw = np.random.default_rng([24, number])
        groups, each = int(draw.integers(2, 5)), int(draw.integers(3, 7))
        self.each = each
        weights = np.repeat(draw.exponential(1.0, groups) * (draw.uniform(size=groups) < 0.7), each)
        weights = weights * draw.normal(size=groups * each)
        samples = draw.normal(size=(60, groups * each)) @ (np.eye(groups * each) + 0.3 * draw.normal(size=(groups * each,) * 2))
        values = samples @ weights + draw.uniform(0.5, 3.0) * draw.normal(size=60)
        self.seen, self.unseen = (samples[:30], values[:30]), (samples[30:], values[30:])
        self.bounds = [(-4.0, 4.0)] * groups

    def follower(self, x: Any) -> Any:
        samples, values = self.seen
        return np.linalg.solve(samples.T @ samples + np.diag(np.repeat(10.0 ** np.asarray(x), self.each)), samples.T @ values)

    def cost(self, x: Any, y: Any) -> float:
        return float(np.mean((self.unseen[0] @ y - self.unseen[1]) ** 2))


class Roads(Cost):
    """Travellers between some towns, on paths over roads that get slower the more use them; some roads have tolls."""

    #: How firmly every traveller is held to travel.
    FIRM = 1e4

    def __init__(self, number: int) -> None:
        draw = np.random.default_rng([25, number])
        roads, tolls, towns = int(draw.integers(6, 11)), int(draw.integers(2, 6)), int(draw.integers(2, 5))
        self.free, self.slower = draw.uniform(1, 10, roads), draw.uniform(0.1, 3, roads)
        paths, owner = [], []
        for town in range(towns):
            for _ in range(int(draw.integers(3, 6))):
                uses = np.zeros(roads)
                uses[draw.choice(roads, int(draw.integers(1, 4)), replace=False)] = 1
                paths.append(uses)
                owner.append(town)
        self.paths = np.array(paths).T
        travels = np.array([[float(of == town) for of in owner] for town in range(towns)])
        self.matrix = np.vstack([np.sqrt(self.slower)[:, None] * self.paths, self.FIRM * travels])
        self.trips = draw.uniform(2, 10, towns)
        self.tolled = np.eye(roads)[:, draw.choice(roads, tolls, replace=False)]
        self.bounds = [(0.0, 20.0)] * tolls

    def follower(self, x: Any) -> Any:
        paid = self.free + self.tolled @ np.asarray(x)
        return self.paths @ nnls(self.matrix, np.append(-paid / np.sqrt(self.slower), self.FIRM * self.trips))[0]

    def cost(self, x: Any, y: Any) -> float:
        return float((self.free + self.slower * y) @ y)


FAMILIES: dict[str, Any] = {"fits": Fits, "roads": Roads}


if __name__ == "__main__":
    table(__doc__, FAMILIES, RIGHT)
