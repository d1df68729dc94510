"""Tolls on a small road network, with a map.

    python toll_network.py [--out map.png] [--seed 1] [--budget 500]

A road operator (the leader) can charge tolls on three roads and wants a large income. The drivers (together, the
follower) spread over the routes until none of them gains by changing: Wardrop's equilibrium, which minimises the sum
of the integrals of the travel times plus the tolls paid (Beckmann, 1956).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import bilevo

#: Towns and where they lie on the map.
TOWNS = {"A": (0.0, 1.0), "B": (0.0, 0.0), "C": (1.2, 1.1), "D": (1.2, -0.1), "E": (2.4, 1.0), "F": (2.4, 0.0)}
#: Roads: minutes when empty, vehicles at which that has grown by 15 %.
ROADS = {
    "AC": (10, 40), "AD": (14, 30), "BC": (15, 30), "BD": (9, 40), "CD": (4, 25), "CE": (9, 40), "CF": (14, 30),
    "DE": (15, 25), "DF": (9, 40),
}
TOLLED = ["AC", "CD", "CE"]
#: Vehicles between two towns, and the routes they choose from.
TRIPS = {
    ("A", "F"): (50, [["AC", "CF"], ["AC", "CD", "DF"], ["AD", "DF"]]),
    ("B", "E"): (40, [["BC", "CE"], ["BD", "DE"], ["BD", "CD", "CE"]]),
}
LARGEST_TOLL = 12.0

NAMES = list(ROADS)
EMPTY = np.array([ROADS[name][0] for name in NAMES], dtype=float)
ROOM = np.array([ROADS[name][1] for name in NAMES], dtype=float)
#: Which roads each route uses.
USES = np.array([[name in route for name in NAMES] for _, routes in TRIPS.values() for route in routes], dtype=float)


def drivers(y: Any) -> Any:
    """Vehicles on every route. y has, for each pair of towns, two shares that split its drivers over
    three routes: first the share of the first route, then that of the second among the rest."""
    flows = []
    for index, (demand, _) in enumerate(TRIPS.values()):
        first, second = y[:, 2 * index], y[:, 2 * index + 1]
        flows += [demand * first, demand * (1 - first) * second, demand * (1 - first) * (1 - second)]
    return np.stack(flows, axis=1)


def volumes(y: Any) -> Any:
    """Vehicles on every road."""
    return drivers(y) @ USES


def tolls(x: Any) -> Any:
    """The toll on every road."""
    paid = np.zeros((len(x), len(NAMES)))
    paid[:, [NAMES.index(name) for name in TOLLED]] = x
    return paid


def income(x: Any, y: Any) -> Any:
    return (tolls(x) * volumes(y)).sum(axis=1)


def discomfort(x: Any, y: Any) -> Any:
    """Minimal where no driver gains by changing: sum of the integrals of
    t(v) = t0 (1 + 0.15 (v / c)^4) + toll."""
    v = volumes(y)
    return (EMPTY * (v + 0.03 * v**5 / ROOM**4) + tolls(x) * v).sum(axis=1)


def solve(seed: int = 1, **options: Any) -> bilevo.Result:
    return bilevo.minimize(
        income, discomfort,
        bounds_upper=[(0, LARGEST_TOLL)] * len(TOLLED),
        bounds_lower=[(0, 1)] * 4,
        maximize="upper", vectorized=True, seed=seed, name="tolls", **options,
    )  # fmt: skip


def minutes(result: bilevo.Result) -> Any:
    """Travel time plus toll on every route."""
    v = volumes(result.y[None])[0]
    return USES @ (EMPTY * (1 + 0.15 * (v / ROOM) ** 4) + tolls(result.x[None])[0])


def draw(result: bilevo.Result) -> Any:
    """The network: the wider a road, the more vehicles; tolled roads in red."""
    import matplotlib.pyplot as plt

    v, paid = volumes(result.y[None])[0], tolls(result.x[None])[0]
    figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    for name, volume, toll in zip(NAMES, v, paid):
        (x0, y0), (x1, y1) = TOWNS[name[0]], TOWNS[name[1]]
        colour = "tab:red" if name in TOLLED else "tab:gray"
        axes.plot([x0, x1], [y0, y1], color=colour, linewidth=1 + volume / 8, alpha=0.6, solid_capstyle="round")
        words = f"{volume:.0f}" + (f"\ntoll {toll:.1f}" if name in TOLLED else "")
        place = (x0 + 0.35 * (x1 - x0), y0 + 0.35 * (y1 - y0))
        axes.annotate(words, place, ha="center", va="center", fontsize=8,
                      bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": "none", "alpha": 0.8})  # fmt: skip
    for town, place in TOWNS.items():
        axes.plot(*place, "o", color="black", markersize=16)
        axes.annotate(town, place, color="white", ha="center", va="center", weight="bold")
    axes.set_title(f"vehicles on each road; income {result.fun:.0f}")
    axes.set_axis_off()
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("toll_network.png"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=int, help="upper evaluations")
    arguments = parser.parse_args()
    result = solve(arguments.seed, budget=arguments.budget)
    print(result)
    for name, toll in zip(TOLLED, result.x):
        print(f"toll on {name}: {toll:.2f}")
    costs, vehicles = minutes(result), drivers(result.y[None])[0]
    for index, (towns, (_, routes)) in enumerate(TRIPS.items()):
        here = slice(3 * index, 3 * index + 3)
        shown = [f"{'-'.join(r)} {c:.1f} by {v:.0f}" for r, c, v in zip(routes, costs[here], vehicles[here])]
        print(f"minutes and tolls from {towns[0]} to {towns[1]}: {', '.join(shown)}")
    draw(result).savefig(arguments.out, dpi=120)
    print(f"map: {arguments.out}")


if __name__ == "__main__":
    main()
