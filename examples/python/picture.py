"""What a run looks like: the picture of the README.

    python examples/python/picture.py docs/src/pictures/toll.png

The toll problem of the README has one variable at each level, so everything fits on a page. Left: every point that
the run evaluated. Right: the best income over the run. Needs matplotlib.
"""

from __future__ import annotations

import sys
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib import patheffects

import bilevo


def income(x: Any, y: Any) -> Any:
    return x[0] * y[0]


def annoyance(x: Any, y: Any) -> Any:
    return (y[0] - 8 + x[0]) ** 2


def response(toll: Any) -> Any:
    """What the drivers do, by hand."""
    return np.maximum(8.0 - toll, 0.0)


def evaluated(method: str) -> tuple[bilevo.Result, dict[str, Any]]:
    """A run, and the points it evaluated at each level in their order."""
    points: dict[str, list[tuple[float, float, int]]] = {"upper": [], "lower": []}
    problem = bilevo.BilevelProblem([(0, 10)], [(0, 10)], maximize="upper", name="toll")
    optimizer = bilevo.Optimizer(problem, method=method, seed=1)
    functions = {"upper": income, "lower": annoyance}
    count = 0
    while (batch := optimizer.ask()) is not None:
        for point in batch:
            count += 1
            points[batch.level].append((point.x[0], point.y[0], count))
        optimizer.tell(batch, [functions[batch.level](point.x, point.y) for point in batch])
    return optimizer.result(), {level: np.array(rows) for level, rows in points.items()}


def draw(path: str, method: str = "auto") -> None:
    result, points = evaluated(method)
    assert result.x is not None and result.y is not None
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure, (plane, curve) = plt.subplots(1, 2, figsize=(10, 4), width_ratios=(1.25, 1), layout="constrained")

    tolls = np.linspace(0, 10, 101)
    lines = plane.contour(tolls, tolls, np.outer(tolls, tolls), levels=[4, 8, 16, 32, 64], colors="0.75", linewidths=0.8)
    plane.clabel(lines, levels=[8, 16], fmt="income %d", fontsize=8, colors="0.4", manual=[(8.6, 0.93), (8.6, 1.86)])
    plane.plot(tolls, response(tolls), color="tab:orange", linewidth=2)
    halo = [patheffects.withStroke(linewidth=4, foreground="white")]
    plane.text(1.3, 7.3, "what the drivers do", color="tab:orange", rotation=-33, rotation_mode="anchor", zorder=5,
               fontsize=9, weight="bold", path_effects=halo)
    plane.plot(*points["lower"][:, :2].T, ".", markersize=3.5, color="tab:blue", label="drivers' objective evaluated")
    plane.plot(*points["upper"][:, :2].T, "x", markersize=5, color="tab:red", label="operator's income evaluated")
    plane.plot(result.x[0], result.y[0], "*", markersize=17, color="gold", markeredgecolor="black")
    answer = f"answer: toll {result.x[0]:.0f}, trips {result.y[0]:.0f}"
    plane.annotate(answer, (result.x[0], result.y[0]), (5.2, 5.3), arrowprops={"arrowstyle": "-", "color": "0.3"},
                   bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": "0.7"})
    plane.set(xlabel="toll (the operator decides)", ylabel="trips (the drivers respond)", xlim=(0, 10), ylim=(0, 10))
    plane.set_title("Every point that one run evaluated", fontsize=11)
    plane.legend(loc="upper right", fontsize=8, framealpha=1)

    # Where the drivers' response is known, an evaluation of the income is worth something.
    toll, trips, order = points["upper"].T
    settled = np.abs(trips - response(toll)) < 1e-2
    best = np.maximum.accumulate(np.where(settled, toll * response(toll), 0.0))
    found = int(order[np.argmax(best > 15.99)])
    curve.step([*order, result.nfev], [*best, best[-1]], where="post", color="tab:red", linewidth=2)
    curve.axvspan(found, result.nfev, color="0.93")
    curve.set_xscale("log")
    curve.xaxis.set_major_formatter("{x:.0f}")
    curve.text((found * result.nfev) ** 0.5, 7, "restarts look for\na better toll\nelsewhere", ha="center")
    curve.annotate(f"found after {found} evaluations", (found, 16), (1.6 * found, 13),
                   arrowprops={"arrowstyle": "-", "color": "0.3"})
    curve.set(xlabel="evaluations of both levels", xlim=(1, result.nfev), ylim=(0, 17.5))
    curve.set_title("Best income so far", fontsize=11)
    figure.savefig(path, dpi=120)
    print(f"{path}: {len(points['upper'])} upper and {len(points['lower'])} lower evaluations, toll {result.x[0]:.3f}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    draw(*sys.argv[1:])
