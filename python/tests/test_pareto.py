"""The front of a leader with two goals: problems whose fronts are known in closed form."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bilevo

Front = tuple[list[Any], Any, Any, Any, Callable[[float], float]]
ROOT = 2**-0.5


def income_by_traffic(traffic: float) -> float:
    """Two roads with 8 - x and 6 - x trips, the second one twice as dirty: what is lost by a limit on the dirt."""
    price = (10 - traffic) * 2 / 5
    trips = np.array([4 - price / 2, 3 - price])
    trips = trips if trips[1] >= 0 else np.array([traffic, 0])
    return float((trips**2 - np.array([8, 6]) * trips).sum())


#: Two goals, f, the boxes, and the first goal on the front by the second one.
FRONTS: dict[str, Front] = {
    "follows": (
        [lambda x, y: (x[0] - 1) ** 2, lambda x, y: y[0] ** 2],
        lambda x, y: (y[0] - x[0]) ** 2,
        [(-3, 3)],
        [(-3, 3)],
        lambda second: (1 - second**0.5) ** 2,
    ),
    "tolls": (
        [lambda x, y: -(x[0] * y[0] + x[1] * y[1]), lambda x, y: y[0] + 2 * y[1]],
        lambda x, y: (y[0] - 8 + x[0]) ** 2 + (y[1] - 6 + x[1]) ** 2,
        [(0, 8), (0, 6)],
        [(0, 8), (0, 6)],
        income_by_traffic,
    ),
    # Fonseca and Fleming's front is concave: no weighted sum of the goals finds its middle.
    "concave": (
        [lambda x, y: 1 - np.exp(-np.sum((x - ROOT) ** 2)), lambda x, y: 1 - np.exp(-np.sum((y + ROOT) ** 2))],
        lambda x, y: float(np.sum((y - x) ** 2)),
        [(-2, 2)] * 2,
        [(-2, 2)] * 2,
        lambda second: 1 - np.exp(-((2 - (-np.log(1 - second)) ** 0.5) ** 2)),
    ),
}


@pytest.mark.parametrize("name", FRONTS)
def test_nine_points_lie_on_the_known_front_and_cost_little(name: str) -> None:
    goals, f, upper, lower, first = FRONTS[name]
    front = bilevo.pareto(goals, f, upper, lower, seed=1)
    assert len(front) == 9 and front.verified.all() and front.success
    for point in front.F:
        assert point[0] == pytest.approx(first(point[1]), abs=1e-4 * np.ptp(front.F[:, 0]))
    # None is better than another in both goals, and they are spread over the whole range.
    assert (np.diff(front.F[:, 0]) > 0).all() and (np.diff(front.F[:, 1]) < 0).all()
    steps = -np.diff(front.F[:, 1])
    assert steps.max() < 1.05 * steps.mean()
    # What a run costs depends on its seed. Single runs have become cheaper than the points of a front.
    fronts = [front.nfev] + [bilevo.pareto(goals, f, upper, lower, seed=seed).nfev for seed in (2, 3)]
    single = [bilevo.minimize(goals[0], f, upper, lower, seed=seed).nfev for seed in (1, 2, 3)]
    assert np.median(fronts) <= 3.25 * np.median(single)
    for x, y, F in zip(front.x, front.y, front.F):
        assert F.tolist() == [goal(x, y) for goal in goals]


def test_constraints_directions_and_names_are_kept() -> None:
    front = bilevo.pareto(
        [lambda x, y: x[0] * y[0], lambda x, y: -y[0]],
        lambda x, y: (y[0] - 8 + x[0]) ** 2,
        [(0, 10)],
        [(0, 10)],
        maximize="upper",
        upper_constraints=lambda x, y: x[0] - 7,
        names_upper=["toll"],
        points=4,
        seed=1,
    )
    # Income falls with the toll from 4 on, and so do the trips; beyond 7 the toll is not allowed.
    # At its top income is flat, so that trips are found less exactly than income: they differ by the square.
    assert front.F[0, 0] == pytest.approx(16, abs=1e-6) and front.F[0, 1] == pytest.approx(-4, abs=1e-3)
    assert front.F[-1].tolist() == pytest.approx([7, -1], abs=1e-4)
    assert front.x[:, 0].tolist() == pytest.approx([4, 5, 6, 7], abs=1e-3)
    assert list(front.to_pandas().columns) == ["F1", "F2", "toll", "y1", "verified"]
    assert [result.verification is not None for result in front] == [True] * 4


def test_goals_that_do_not_conflict_have_one_best_point() -> None:
    goals = [lambda x, y: (x[0] - 1) ** 2, lambda x, y: (y[0] - 1) ** 2]
    front = bilevo.pareto(goals, lambda x, y: (y[0] - x[0]) ** 2, [(-3, 3)], [(-3, 3)], points=3, seed=1)
    assert np.abs(front.F).max() < 1e-6


def test_a_follower_with_its_own_solver() -> None:
    calls = []

    def solve(x: Any) -> Any:
        calls.append(x)
        return [x[0]]

    goals = [lambda x, y: (x[0] - 1) ** 2, lambda x, y: y[0] ** 2]
    front = bilevo.pareto(goals, follower=solve, bounds_upper=[(-3, 3)], points=5, seed=1)
    assert len(front) == 5 and front.F[2].tolist() == pytest.approx([(1 - 0.5**0.5) ** 2, 0.5], abs=1e-4)


def test_a_total_budget_is_that_of_all_runs() -> None:
    goals, f, upper, lower, _ = FRONTS["tolls"]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        front = bilevo.pareto(goals, f, upper, lower, points=3, seed=1, budget={"total": 600})
    assert front.nfev <= 650 and len(front) == 3 and any("budget" in str(words.message) for words in said)


def test_mistakes() -> None:
    goals, f, upper, lower, _ = FRONTS["follows"]
    with pytest.raises(bilevo.ProblemError, match="two goals"):
        bilevo.pareto(goals[0], f, upper, lower)
    with pytest.raises(bilevo.ProblemError, match="at least two ends"):
        bilevo.pareto(goals, f, upper, lower, points=1)
    with pytest.raises(bilevo.ProblemError, match="takes no `workers`"):
        bilevo.pareto(goals, f, upper, lower, workers=2)
    with pytest.raises(bilevo.ProblemError, match="the evaluations of all runs"):
        bilevo.pareto(goals, f, upper, lower, budget={"upper": 9})


def test_a_plot() -> None:
    pytest.importorskip("matplotlib")
    goals, f, upper, lower, _ = FRONTS["follows"]
    figure = bilevo.pareto(goals, f, upper, lower, points=3, seed=1).plot()
    assert [axes.get_xlabel() for axes in figure.axes] == ["first goal"]


def test_a_follower_with_its_own_solver_has_a_front_too() -> None:
    # Three firms compete; a tax on dirt and a help for the cleanest of them. Dirt against what the market is worth.
    cost, dirt, clean = np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 0.3]), np.array([0.0, 0.0, 1.0])

    def firms(x: Any) -> Any:
        made, costs = np.ones(3), cost + x[0] * dirt - x[1] * clean
        for _ in range(200):
            for firm in range(3):
                made[firm] = max(0.0, (20 - (made.sum() - made[firm]) - costs[firm]) / 2)
        return made

    def lost(x: Any, made: Any) -> float:
        total = made.sum()
        return -float(total**2 / 2 + ((20 - total) * made - cost * made).sum() - 1.5 * dirt @ made - 0.05 * (dirt @ made) ** 2)

    upper = [(0, 10), (0, 8)]
    front = bilevo.pareto([lost, lambda x, made: float(dirt @ made)], follower=firms, bounds_upper=upper, points=5, seed=1)
    assert len(front) == 5 and front.verified.sum() >= 4
    # A point is on the front, or says that it may not be: a run of its own finds nothing better under the same limit.
    for point in front.F[front.verified][1:-1]:
        limit = lambda x, made, most=point[1]: float(dirt @ made) - most  # noqa: E731
        alone = bilevo.minimize(lost, follower=firms, bounds_upper=upper, upper_constraints=limit, seed=7)
        assert point[0] == pytest.approx(alone.fun, abs=1e-4 * np.ptp(front.F[:, 0]))


def test_a_quick_run_of_one_search_does_not_speak_of_restarts() -> None:
    toll = {"follower": lambda x: [8 - x[0]], "bounds_upper": [(0, 10)], "maximize": "upper", "seed": 1}
    quick = bilevo.minimize(lambda x, y: x[0] * y[0], effort="quick", **toll)
    assert quick.message == "the search finished; there was no restart to confirm it"
    normal = bilevo.minimize(lambda x, y: x[0] * y[0], **toll)
    assert "agree" in normal.message and "searches agree" in str(normal)


def test_runs_that_are_done_again_do_not_warn() -> None:
    # The first run of a point ends at a limit that it misses by a hair; what is returned meets it.
    goals, f, upper, lower, _ = FRONTS["follows"]
    for seed in (901, 902, 903, 904, 905):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            front = bilevo.pareto(goals, f, upper, lower, seed=seed)
        assert front.success and not said, (seed, [str(words.message) for words in said])
