"""Tolls and wider roads in Sioux Falls: 24 nodes, 76 links, 528 pairs of towns.

    python sioux_falls.py [tolls|design] [--seed 1] [--effort quick] [--reference] [--out map.png]

`tolls` chooses tolls on five links to minimise the time that all drivers together lose; `design` widens ten links and
weighs time against money. `--reference` solves the same problem with SciPy's COBYQA, with one equilibrium per point.

The leader decides about a few links. The drivers spread over the network until none of them gains by changing routes
(Wardrop's equilibrium, the minimum of Beckmann's objective). A traffic assignment computes that far faster than a
search over 76 link flows could, so it is the follower's own solver: gradient projection on the routes in use
(Jayakrishnan et al., 1994).

Network and trips are the usual ones (LeBlanc, 1975, in the form of the Transportation Networks collection). Without
tolls, the equilibrium has the published objective, 42.31335287107440.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import bilevo

DATA = Path(__file__).parent / "data"
LINKS = np.genfromtxt(DATA / "sioux_falls_links.csv", delimiter=",", names=True)
TRIPS = np.genfromtxt(DATA / "sioux_falls_trips.csv", delimiter=",")

NODES = len(TRIPS)
TAIL, HEAD = LINKS["from"].astype(int) - 1, LINKS["to"].astype(int) - 1
CAPACITY, FREE = LINKS["capacity"], LINKS["free_flow_time"]
#: Number of the link between two nodes.
LINK = np.full((NODES, NODES), -1)
LINK[TAIL, HEAD] = np.arange(len(FREE))
#: Vehicles times 0.01 hours, as a thousand vehicles times hours: the unit of published objectives.
UNIT = 1e5


def link(a: int, b: int) -> int:
    """The link from node a to node b, both counted from 1 as on the map."""
    return int(LINK[a - 1, b - 1])


def times(flow: Any, capacity: Any) -> Any:
    """Minutes on each link (the BPR function)."""
    return FREE * (1 + 0.15 * (flow / capacity) ** 4)


def beckmann(flow: Any, toll: Any, capacity: Any) -> float:
    """What the drivers minimise together: the integral of time and toll over the flow."""
    return float(np.sum(FREE * flow * (1 + 0.03 * (flow / capacity) ** 4) + toll * flow))


def shortest(cost: Any) -> tuple[Any, Any]:
    """Distances between all nodes and the next node on the way (Floyd and Warshall)."""
    distance = np.full((NODES, NODES), np.inf)
    np.fill_diagonal(distance, 0)
    distance[TAIL, HEAD] = cost
    step = np.where(np.isfinite(distance), np.arange(NODES)[None, :], -1)
    for via in range(NODES):
        through = distance[:, via, None] + distance[via]
        shorter = through < distance
        distance = np.where(shorter, through, distance)
        step = np.where(shorter, step[:, via, None], step)
    return distance, step


class Drivers:
    """Solves for the equilibrium by gradient projection on path flows (Jayakrishnan et al., 1994).

    Every pair of towns has a list of the ways in use; drivers move from dearer ways to the cheapest one,
    by Newton's step on the difference, one origin after the other.
    """

    def __init__(self, toll: Any, capacity: Any) -> None:
        self.toll = np.broadcast_to(np.asarray(toll, float), FREE.shape)
        self.capacity = capacity
        self.ways = [np.zeros((0, len(FREE))) for _ in range(NODES)]  # of each origin: which links a way uses
        self.goal = [np.zeros(0, int) for _ in range(NODES)]
        self.drivers = [np.zeros(0) for _ in range(NODES)]
        self.flow = np.zeros(len(FREE))

    def cost(self) -> Any:
        return times(self.flow, self.capacity) + self.toll

    def open_ways(self) -> float:
        """Adds the shortest ways that are not in use yet; returns the relative gap before that."""
        cost = self.cost()
        distance, step = shortest(cost)
        best, paid = float(np.sum(distance * TRIPS)), float(cost @ self.flow)
        for origin in range(NODES):
            known = np.full(NODES, np.inf)
            np.minimum.at(known, self.goal[origin], self.ways[origin] @ cost)
            new = np.flatnonzero((TRIPS[origin] > 0) & (distance[origin] < known * (1 - 1e-13)))
            if len(new):
                self.ways[origin] = np.vstack([self.ways[origin], walk(step, origin, new)])
                fresh = np.where(np.isfinite(known[new]), 0.0, TRIPS[origin, new])
                self.goal[origin] = np.append(self.goal[origin], new)
                self.drivers[origin] = np.append(self.drivers[origin], fresh)
                self.flow = self.flow + fresh @ self.ways[origin][-len(new):]
        return (paid - best) / best if paid > 0 else np.inf

    def settle(self, origin: int) -> None:
        """Moves the drivers of one origin to their cheapest ways."""
        ways, goal, drivers = self.ways[origin], self.goal[origin], self.drivers[origin]
        cost = ways @ self.cost()
        cheapest = np.zeros(NODES, int)
        order = np.argsort(-cost, kind="stable")
        cheapest[goal[order]] = order  # the last one written is the cheapest
        to = cheapest[goal]
        gain = ways[to] - ways
        slope = 0.6 * FREE * self.flow**3 / self.capacity**4
        moving = np.minimum(drivers, (cost - cost[to]) / np.maximum((gain * gain) @ slope, 1e-12))
        change = moving @ gain
        curvature = change @ (slope * change)
        downhill = float(moving @ (cost - cost[to]))
        length = min(1.0, downhill / curvature) if curvature > 0 else 1.0
        drivers = drivers - length * moving
        np.add.at(drivers, to, length * moving)
        self.drivers[origin] = drivers
        self.flow = np.maximum(self.flow + length * change, 0.0)


def walk(step: Any, origin: int, goals: Any) -> Any:
    """The links of the shortest ways from an origin, one row for each goal."""
    ways = np.zeros((len(goals), len(FREE)))
    rows, here, goal = np.arange(len(goals)), np.full(len(goals), origin), goals
    while len(rows):
        following = step[here, goal]
        ways[rows, LINK[here, following]] = 1
        on = following != goal
        rows, here, goal = rows[on], following[on], goal[on]
    return ways


def equilibrium(toll: Any = 0.0, capacity: Any = CAPACITY, gap: float = 1e-8, rounds: int = 500) -> Any:
    """Vehicles on each link when no driver gains by changing, to a relative gap."""
    drivers = Drivers(toll, capacity)
    for _ in range(rounds):
        if drivers.open_ways() <= gap:
            return drivers.flow
        for origin in range(NODES):
            drivers.settle(origin)
    raise RuntimeError(f"the drivers have not settled after {rounds} rounds")


#: Links that may be tolled (those whose drivers cost the others most), and the largest toll in minutes.
TOLLED = [link(*pair) for pair in ((15, 10), (10, 15), (16, 10), (10, 16), (13, 24))]
LARGEST_TOLL = 15.0
#: Links that may be widened, and the price of that (Suwansirikul et al., 1987).
WIDENED = [link(*pair) for pair in ((6, 8), (7, 8), (8, 6), (8, 7), (9, 10), (10, 9), (10, 16), (13, 24), (16, 10), (24, 13))]
PRICE = np.array([26, 40, 26, 40, 25, 25, 48, 34, 48, 34])
MOST_WIDENED = 10.0


def tolled(x: Any) -> bilevo.Answer:
    """How the drivers respond to tolls."""
    toll = np.zeros(len(FREE))
    toll[TOLLED] = x
    flow = equilibrium(toll=toll)
    return bilevo.Answer(y=flow, f=beckmann(flow, toll, CAPACITY) / UNIT)


def time_lost(x: Any, answer: bilevo.Answer) -> float:
    """The time of all drivers together; tolls are money that changes hands."""
    return float(times(answer.y, CAPACITY) @ answer.y) / UNIT


def capacity(x: Any) -> Any:
    """Capacities after widening some links by thousands of vehicles."""
    wide = CAPACITY.copy()
    wide[WIDENED] += 1000 * np.asarray(x)
    return wide


def widened(x: Any) -> bilevo.Answer:
    """How the drivers respond to wider roads."""
    return bilevo.Answer(y=equilibrium(capacity=capacity(x)))


def time_and_money(x: Any, answer: bilevo.Answer) -> float:
    """The time of all drivers and the price of the works."""
    return float(times(answer.y, capacity(x)) @ answer.y) / UNIT + 0.001 * float(PRICE @ np.asarray(x) ** 2)


CASES = {
    "tolls": (time_lost, tolled, [(0.0, LARGEST_TOLL)] * len(TOLLED)),
    "design": (time_and_money, widened, [(0.0, MOST_WIDENED)] * len(WIDENED)),
}


def solve(case: str = "tolls", seed: int = 1, **options: Any) -> bilevo.Result:
    leader, follower, bounds = CASES[case]
    return bilevo.minimize(leader, follower=follower, bounds_upper=bounds, seed=seed, name=f"sioux falls {case}", **options)


#: Best known decisions: COBYQA from 16 random starts finds the tolls in six of them, and nothing better.
BEST_KNOWN = {"tolls": [0.0, 0.46, 5.22, 6.28, 7.74]}


def best_known(case: str) -> float:
    """F at the best decision known."""
    leader, follower, _ = CASES[case]
    return leader(BEST_KNOWN[case], follower(BEST_KNOWN[case]))


def reference(case: str) -> tuple[Any, float, int]:
    """The answer of nested COBYQA from the middle of the box: x, F, and how many equilibria it took."""
    from scipy.optimize import minimize

    leader, follower, bounds = CASES[case]
    start = [(low + high) / 2 for low, high in bounds]
    found = minimize(lambda x: leader(x, follower(x)), start, method="COBYQA", bounds=bounds)
    return found.x, found.fun, found.nfev


def draw(case: str, result: bilevo.Result, path: Path) -> None:
    """The network: how full each link is, and where the leader acted."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 7))
    full = result.y / (capacity(result.x) if case == "design" else CAPACITY)
    touched = dict(zip(WIDENED if case == "design" else TOLLED, result.x))
    colours = pyplot.get_cmap("viridis_r")
    for index, (a, b) in enumerate(zip(TAIL, HEAD)):
        start, end = np.array(PLACES[a]), np.array(PLACES[b])
        aside = np.array([start[1] - end[1], end[0] - start[0]])
        aside = 0.05 * aside / np.hypot(*aside)
        start, end = start + aside, end + aside
        axes.plot(*zip(start, end), color=colours(min(full[index] / 2.5, 1.0)), lw=2.5, zorder=1)
        if touched.get(index, 0) > 0.05:
            axes.text(*(0.5 * (start + end) + [5.0, 2.5] * aside), f"{touched[index]:.1f}", ha="center", va="center", weight="bold",
                      bbox={"fc": "white", "ec": "none", "pad": 0.6})
    for number, (across, up) in enumerate(PLACES, 1):
        axes.text(across, up, number, ha="center", va="center", size=8, bbox={"boxstyle": "circle", "fc": "white"})
    axes.set_axis_off()
    axes.set_title({"tolls": "Tolls in minutes", "design": "Thousands of vehicles added"}[case] + "; dark links are full")
    figure.savefig(path, dpi=110, bbox_inches="tight")


#: Where the nodes lie on the map.
PLACES = [
    (0, 7), (4, 7), (0, 6), (1, 6), (2, 6), (4, 6), (5, 5), (4, 5), (2, 5), (2, 4), (1, 4), (0, 4), (0, 0), (1, 2),
    (2, 2), (4, 4), (4, 3), (5, 4), (4, 2), (4, 0), (2, 0), (2, 1), (1, 1), (1, 0),
]


def main() -> None:
    parser = argparse.ArgumentParser(description="Tolls and wider roads in Sioux Falls.")
    parser.add_argument("case", nargs="?", choices=list(CASES), default="tolls")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--effort", choices=["quick", "normal"], default="quick")
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--reference", action="store_true", help="compare with nested COBYQA (needs SciPy)")
    parser.add_argument("--out", type=Path, help="draw a map into this file (needs matplotlib)")
    options = parser.parse_args()
    leader, follower, bounds = CASES[options.case]
    nothing = np.zeros(len(bounds))
    print(f"nothing done   F = {leader(nothing, follower(nothing)):.4f}")
    result = solve(options.case, options.seed, effort=options.effort, workers=options.workers)
    print(f"bilevo         F = {result.fun:.4f} after {result.nfev_lower} equilibria, x = {result.x.round(2)}")
    if options.reference:
        x, value, calls = reference(options.case)
        print(f"nested COBYQA  F = {value:.4f} after {calls} equilibria, x = {x.round(2)}")
    if options.out:
        draw(options.case, result, options.out)


if __name__ == "__main__":
    main()
