"""Constraints as people write them: functions, SciPy's objects, and what cannot be meant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import same, solve_toll

import bilevo

optimize = pytest.importorskip("scipy.optimize")

pytestmark = pytest.mark.filterwarnings("ignore::bilevo.BilevoWarning")  # of runs too short for a constraint

BOX: dict[str, Any] = {"bounds_upper": [(0, 10)], "bounds_lower": [(0, 10)]}


def total(x: Any, y: Any) -> Any:
    return x[..., 0] + y[..., 0]


def both(x: Any, y: Any) -> Any:
    return np.stack([x[..., 0] + y[..., 0], x[..., 0]], axis=-1)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (optimize.NonlinearConstraint(total, -np.inf, 6), {"G": lambda x, y: total(x, y) - 6}),
        (optimize.NonlinearConstraint(total, 5, np.inf), {"G": lambda x, y: 5 - total(x, y)}),
        (optimize.NonlinearConstraint(total, 5, 6), {"G": lambda x, y: [total(x, y) - 6, 5 - total(x, y)]}),
        (optimize.NonlinearConstraint(total, 6, 6), {"H": lambda x, y: total(x, y) - 6}),
        (
            [optimize.NonlinearConstraint(both, [6, -np.inf], [6, 3])],
            {"G": lambda x, y: x[0] - 3, "H": lambda x, y: total(x, y) - 6},
        ),
        (optimize.LinearConstraint([[1]], -np.inf, 3), {"G": lambda x, y: x[0] - 3}),
        (optimize.LinearConstraint([[1, 1]], -np.inf, 6), {"G": lambda x, y: total(x, y) - 6}),
        ({"type": "ineq", "fun": lambda x, y: 6 - total(x, y)}, {"G": lambda x, y: total(x, y) - 6}),
        ([{"type": "eq", "fun": lambda x, y: total(x, y) - 6}], {"H": lambda x, y: total(x, y) - 6}),
    ],
)
def test_constraints_of_scipy_mean_what_they_mean_there(given: Any, meant: Any) -> None:
    expected = solve_toll(upper_constraints=meant, budget=40)
    assert same(expected, solve_toll(upper_constraints=given, budget=40))


def test_constraints_of_scipy_on_workers_and_in_batches() -> None:
    given = [optimize.NonlinearConstraint(both, [2, -np.inf], [6, 3]), optimize.LinearConstraint([[1, 2]], 1, 20)]
    expected = solve_toll(lower_constraints=given, budget=30)
    assert same(expected, solve_toll(lower_constraints=given, budget=30, workers=2))
    batches = {"F": lambda x, y: x[:, 0] * y[:, 0], "f": lambda x, y: (y[:, 0] - 8 + x[:, 0]) ** 2 + 0.1 * y[:, 0]}
    assert same(expected, solve_toll(lower_constraints=given, budget=30, vectorized=True, **batches))


def test_bounds_of_scipy() -> None:
    bounds = optimize.Bounds([0], [10])
    assert same(solve_toll(), solve_toll(bounds_upper=bounds, bounds_lower=bounds))
    with pytest.raises(bilevo.ProblemError, match="give it as bounds_upper"):
        solve_toll(upper_constraints=bounds)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (optimize.NonlinearConstraint(lambda x: x, 0, 1), "write `lambda x, y: ...`"),
        ({"type": "ineq", "fun": lambda x: x}, "write `lambda x, y: ...`"),
        ({"type": "less", "fun": total}, "'ineq' or 'eq'"),
        (optimize.LinearConstraint([[1, 1, 1]], 0, 1), "3 columns"),
        (lambda x, y: x[0] <= 0.2, r"return what must be <= 0: x\[0\] - 0.2 for x\[0\] <= 0.2"),
        (lambda x, y: bool(x[0] <= 0.2), "return what must be <= 0"),
        (lambda x, y: [x[0] <= 0.2, y[0] > 1], "return what must be <= 0"),
        ([total, lambda x, y: x[0] > 0.2], "return what must be <= 0"),
        # Beside numbers they would pass for numbers themselves.
        (lambda x, y: [x[0] - 2, x[0] <= 0.2], "return what must be <= 0"),
        (lambda x, y: np.array([0.5, True], dtype=object), "return what must be <= 0"),
        (lambda x, y: np.ma.masked_array([True]), "return what must be <= 0"),
        ({"type": "ineq", "fun": lambda x, y: x[0] <= 0.2}, "return what must be <= 0"),
        ({"type": "eq", "fun": lambda x, y: x[0] == 0.2}, "return what must be <= 0"),
        (optimize.NonlinearConstraint(lambda x, y: x[0] <= 0.2, 0, 1), "return what must be <= 0"),
    ],
)
def test_constraints_that_cannot_be_meant(given: Any, words: str) -> None:
    with pytest.raises(bilevo.ProblemError, match=words):
        solve_toll(upper_constraints=given)


class Yes(bilevo.BilevelProblem):
    """Says whether its constraint is met."""

    def __init__(self) -> None:
        super().__init__(**BOX, n_ieq_upper=1)

    def evaluate_upper(self, x: Any, y: Any, out: dict[str, Any]) -> None:
        out["F"], out["G"] = x[0], x[0] <= 0.2

    def evaluate_lower(self, x: Any, y: Any, out: dict[str, Any]) -> None:
        out["F"] = y[0]


def test_booleans_are_refused_in_classes_too() -> None:
    with pytest.raises(bilevo.EvaluationError, match="True or False instead of a number"):
        bilevo.minimize(Yes(), method="bl-cma-es", seed=1)
