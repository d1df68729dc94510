"""The pictures of the guide's gallery.

    python gallery.py FOLDER

It writes bidding.png, plant.png and logistic.png: slices of the leader's objective through the answer of a run, with
one call of the follower's solver for each point. It also writes bridge.png and shops.png, from formulas of the
follower's response.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import bidding
import bilevo
import matplotlib
import numpy as np
import plant
import tune_logistic

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def line(value: Callable[[Any], float], best: Any, axis: int, ends: tuple[float, float], points: int) -> tuple[Any, Any]:
    """The objective along one variable through the answer."""
    places = np.linspace(*ends, points)
    return places, np.array([value(np.concatenate([best[:axis], [place], best[axis + 1 :]])) for place in places])


def plane(value: Callable[[Any], float], best: Any, axes: tuple[int, int], bounds: Any, points: int) -> tuple[Any, Any, Any]:
    """The objective over two variables through the answer; NaN where the follower's solver fails."""
    # The answer may lie at the edge of what works: the grid goes through it.
    first, second = (np.unique([*np.linspace(*bounds[axis], points), best[axis]]) for axis in axes)
    values = np.full((len(second), len(first)), np.nan)
    for row, b in enumerate(second):
        for column, a in enumerate(first):
            x = np.array(best, dtype=float)
            x[axes[0]], x[axes[1]] = a, b
            try:
                values[row, column] = value(x)
            except RuntimeError:
                pass
    return first, second, values


def draw_bidding(out: Path) -> None:
    best = bidding.solve(1).x
    figure, panels = plt.subplots(1, 3, figsize=(10.5, 3), sharey=True, layout="constrained")
    for axis, panel in enumerate(panels):
        ends = (float(bidding.COST[axis]), bidding.CAP)
        panel.plot(*line(lambda x: bidding.profit(x, bidding.clear(x)), best, axis, ends, 400), ".", markersize=2)
        panel.axvline(best[axis], color="tab:orange", label="bilevo's offer")
        panel.set_xlabel(f"offer of generator {axis + 1}")
    panels[0].set_ylabel("profit in an average hour")
    panels[0].legend()
    figure.savefig(out, dpi=110)


def draw_plane(out: Path, values: tuple[Any, Any, Any], best: Any, axes: tuple[int, int], labels: tuple[str, str, str]) -> None:
    figure, panel = plt.subplots(figsize=(6, 4), layout="constrained")
    panel.set_facecolor("lightgrey")
    top = np.nanpercentile(values[2], 80)
    filled = panel.contourf(*values[:2], np.minimum(values[2], top), levels=20)
    figure.colorbar(filled, label=labels[2])
    panel.plot(best[axes[0]], best[axes[1]], "*", color="gold", markeredgecolor="black", markersize=15, clip_on=False,
               zorder=4, label="bilevo's answer")
    panel.set_xlabel(labels[0])
    panel.set_ylabel(labels[1])
    panel.legend(loc="upper right")
    figure.savefig(out, dpi=110)


def draw_bridge(out: Path) -> None:
    """The bridge of `examples/network.toml`: the file says why 2 - toll/6.5 thousand drivers take it."""
    network = Path(__file__).parents[1] / "network.toml"
    best = bilevo.minimize(network, seed=1)
    tolls = np.linspace(0, 20, 201)
    drivers = np.maximum(0, 2 - tolls / 6.5)
    figure, panel = plt.subplots(figsize=(6, 3.6), layout="constrained")
    panel.plot(tolls, drivers, "--", color="tab:grey", label="drivers on the bridge, in thousands")
    panel.plot(tolls, tolls * drivers, label="income")
    panel.plot(best.x[0], best.fun, "*", color="gold", markeredgecolor="black", markersize=15, clip_on=False,
               zorder=4, label="bilevo's answer")
    panel.set_xlabel("toll")
    panel.set_ylim(0, 8.5)
    panel.legend(loc="upper right")
    figure.savefig(out, dpi=110)


DISTANCE = np.array([[1.55, 5.5, 3.71], [5.47, 3.27, 2.09], [1.75, 4.1, 1.6], [4.98, 3.47, 2.64]])
OPENING = np.array([2.28, 3.49, 2.2, 2.77])


def shop_profit(sites: Any, price: float) -> float:
    """Each customer buys at the nearest open site, unless that costs more than 9."""
    buyers = (DISTANCE[sites].min(axis=0) + price < 9).sum()
    return float(price * buyers - OPENING[sites].sum())


def draw_shops(out: Path) -> None:
    best = bilevo.minimize("integer/facility", seed=1)
    chosen = best.x[:4].astype(bool)
    prices = np.arange(1, 9)
    figure, panel = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for sites in [np.array(mask) for mask in product([False, True], repeat=4) if any(mask)]:
        style = {"color": "tab:blue", "zorder": 3} if (sites == chosen).all() else {"color": "lightgrey"}
        panel.plot(prices, [shop_profit(sites, price) for price in prices], marker=".", **style)
    panel.plot([], [], color="tab:blue", label="only the third site")
    panel.plot([], [], color="lightgrey", label="every other choice of sites")
    panel.plot(best.x[4], best.fun, "*", color="gold", markeredgecolor="black", markersize=15, zorder=4, label="bilevo's answer")
    panel.set_xlabel("price")
    panel.set_ylabel("profit")
    panel.legend(loc="lower center")
    figure.savefig(out, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--points", type=int, default=60, help="points along each side of a slice")
    options = parser.parse_args()
    draw_bridge(options.folder / "bridge.png")
    draw_shops(options.folder / "shops.png")
    draw_bidding(options.folder / "bidding.png")
    best = tune_logistic.solve(1, effort="quick").x
    slices = plane(lambda x: tune_logistic.unseen_loss(x, tune_logistic.fit(x)), best, (0, 2), tune_logistic.BOUNDS, options.points)
    draw_plane(options.folder / "logistic.png", slices, best, (0, 2),
               ("log10 penalty on the means", "log10 penalty on the worst values", "loss on unseen samples"))
    best = plant.solve(1, effort="quick").x
    slices = plane(lambda x: plant.cost(x, plant.gains(x)), best, (0, 2), plant.BOUNDS, options.points)
    draw_plane(options.folder / "plant.png", slices, best, (0, 2), ("volume in m³", "temperature in K", "cost (grey: cannot be run)"))


if __name__ == "__main__":
    main()
