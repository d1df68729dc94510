"""What a run looks like: the picture of the README.

    python examples/python/picture.py docs/src/pictures/toll.png

The toll of the README, whose two levels have one variable each, so that everything fits on a page. Left,
every point that was evaluated; right, the leader's income over the run. Needs matplotlib.
"""

from __future__ import annotations

import sys
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

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
    plt.rcParams.update({"font.size": 9})
    figure, (plane, curve) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=(1.4, 1), layout="constrained")

    tolls = np.linspace(0, 10, 101)
    shade = plane.contourf(tolls, tolls, np.outer(tolls, tolls), levels=12, cmap="Greys", alpha=0.45)
    figure.colorbar(shade, ax=plane, label="income of the leader")
    plane.plot(tolls, response(tolls), color="tab:orange", linewidth=1.5, label="best answer of the drivers")
    plane.plot(*points["lower"][:, :2].T, ".", markersize=3, color="tab:blue", label="lower evaluations")
    plane.plot(*points["upper"][:, :2].T, "x", markersize=5, color="tab:red", label="upper evaluations")
    plane.plot(result.x[0], result.y[0], "*", markersize=14, color="gold", markeredgecolor="black", label="result")
    plane.set(xlabel="toll (the leader decides)", ylabel="trips (the follower answers)", xlim=(0, 10), ylim=(0, 10))
    plane.legend(loc="upper right", fontsize=8)

    toll, trips, order = points["upper"].T
    curve.plot(order, toll * trips, "x", markersize=5, color="tab:red")
    curve.axhline(16, color="tab:orange", linewidth=1, label="the best possible")
    curve.set(xlabel="evaluations of both levels", ylabel="income at upper evaluations")
    curve.legend(loc="lower right", fontsize=8)
    figure.savefig(path, dpi=130)
    print(f"{path}: {len(points['upper'])} upper and {len(points['lower'])} lower evaluations, toll {result.x[0]:.3f}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    draw(*sys.argv[1:])
