"""What is known already: three strangers with data of their own, and what can be wrong with it."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import bilevo

BOUNDS = {"bounds_upper": [(0, 10)], "bounds_lower": [(0, 10)]}
METHOD = "portfolio"


def income(x, y):
    return x[0] * y[0]


def trips(x, y):
    return (y[0] - 8 + x[0]) ** 2


def solve(**options):
    options = {"seed": 1, "method": METHOD, "maximize": "upper", **BOUNDS, **options}
    return bilevo.minimize(income, trips, **options)


def test_a_stranger_with_a_log_of_the_plant(tmp_path: Path) -> None:
    """She has a CSV with columns of her own and rows from outside of today's limits."""
    log = tmp_path / "log.csv"
    rows = ["date,toll,trips,F,f"]
    for day, toll in enumerate(np.linspace(0, 11, 23)):
        answer = max(8 - toll, 0)
        rows.append(f"day {day},{toll},{answer},{toll * answer},{(answer - 8 + toll) ** 2}")
    log.write_text("\n".join(rows))
    names = {"names_upper": ["toll"], "names_lower": ["trips"]}
    result = solve(known=log, **names)
    assert result.fun == pytest.approx(16, abs=1e-5)
    assert result.notice == "[W201] 2 of 23 known evaluations lie outside the box and are ignored"
    # A sparse log helps little; it must not cost much either.
    assert result.nfev <= 1.5 * solve(**names).nfev


def test_a_stranger_who_runs_it_again_with_another_seed(tmp_path: Path) -> None:
    """What the first run evaluated makes the second one cheap, however it is handed over."""
    first = solve(seed=1)
    evaluations = first.evaluations
    assert evaluations is not None and len(evaluations.x) == len(evaluations)
    evaluated = np.isfinite(evaluations.F).sum() + np.isfinite(evaluations.f).sum()
    assert 0.8 * first.nfev <= evaluated <= first.nfev  # a point may be asked about twice
    assert evaluations.columns == ["x1", "y1", "F", "f", "answer"]
    [answer] = np.flatnonzero(evaluations.answer)
    assert (evaluations.x[answer] == first.x).all() and evaluations.F[answer] == first.fun
    again = solve(seed=2, known=first)
    assert again.success and again.fun == pytest.approx(16, rel=1e-6)
    shares = [solve(seed=seed, known=first).nfev / solve(seed=seed).nfev for seed in (2, 3, 4)]
    assert np.median(shares) <= 0.5
    path = tmp_path / "known.csv"
    evaluations.to_csv(path)
    letters = {name: getattr(evaluations, name) for name in ("x", "y", "F", "f", "answer")}
    for known in (
        evaluations,
        path,
        str(path),
        evaluations.to_numpy(),
        letters,
        [evaluations],
    ):
        other = solve(seed=2, known=known)
        assert (other.nfev, other.fun) == (again.nfev, again.fun), type(known)


def test_a_frame_is_a_table_too(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    first = solve(seed=1)
    again = solve(seed=2, known=first)
    first.evaluations.to_csv(tmp_path / "known.csv")
    for known in (first.evaluations.to_pandas(), pandas.read_csv(tmp_path / "known.csv")):
        other = solve(seed=2, known=known)
        assert (other.nfev, other.fun) == (again.nfev, again.fun)


def test_a_stranger_whose_demand_changes_from_day_to_day() -> None:
    """The neighbouring problem's answer is where the next run begins, also if it lies outside by now."""
    before = None
    for demand, limit in ((8.0, 10.0), (8.2, 10.0), (8.4, 4.1)):
        before = bilevo.minimize(
            income,
            lambda x, y: (y[0] - demand + x[0]) ** 2,
            [(0, limit)],
            [(0, 10)],
            maximize="upper",
            seed=1,
            method=METHOD,
            start=before,
        )
        best = min(demand / 2, limit)
        assert before.fun == pytest.approx(best * (demand - best), abs=1e-4)
    assert before is not None


def test_a_follower_with_its_own_solver_is_not_asked_again() -> None:
    calls = []

    def follower(x):
        calls.append(float(x[0]))
        return [max(8 - x[0], 0.0)]

    def solve(**options):
        return bilevo.minimize(income, follower=follower, bounds_upper=[(0, 10)], maximize="upper", **options)

    first = solve(seed=1)
    assert first.evaluations is not None and np.isnan(first.evaluations.f).all()
    before = len(calls)
    again = solve(seed=2, known=first)
    assert again.fun == pytest.approx(16, abs=1e-6) and len(calls) - before < before
    assert again.nfev_lower == len(calls) - before


def test_published_methods_begin_at_the_best_and_say_so() -> None:
    first = solve(seed=1)
    result = solve(seed=2, method="bl-cma-es", known=first, budget=60)
    assert result.notice is not None and "[W203] bl-cma-es begins at the best of" in result.notice
    assert result.fun == pytest.approx(16, abs=0.1)


def test_what_is_wrong_with_a_table_is_said(tmp_path: Path) -> None:
    def refused(known) -> str:
        with pytest.raises(bilevo.ProblemError) as error:
            solve(known=known)
        return str(error.value)

    assert "no column `y1`" in refused({"x1": [1], "F": [2]})
    assert "neither F nor f" in refused({"x1": [1], "y1": [2]})
    assert "known has the shape (2, 3)" in refused(np.zeros((2, 3)))
    assert "the known evaluations have 2 values of x, but 1 of F\nhint: give one for each point" in refused({"x": [[1], [2]], "y": [[1], [2]], "F": [3]})
    assert "row 1 of the known evaluations has 2 values of x" in refused({"x": [[1, 2]], "y": [[1]], "F": [3]})
    assert "known is 7" in refused(7)
    assert "not made of numbers" in refused({"x": [["one"]], "y": [[1]], "F": [3]})
    with pytest.raises(bilevo.ProblemError) as error:
        solve(known=tmp_path / "absent.csv")
    assert error.value.code == "E401"
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(bilevo.ProblemError) as error:
        solve(known=tmp_path / "other.csv")
    assert error.value.code == "E208"


def test_contradictory_values_are_counted() -> None:
    table = {"x": [[1], [1], [2]], "y": [[7], [7], [6]], "F": [7, 8, 12], "f": [0, 0, 0]}
    result = solve(known=table)
    assert result.notice == "[W202] 1 of 2 known points have several values that differ; the last one counts"


def test_start_is_a_result() -> None:
    with pytest.raises(bilevo.ProblemError, match="start is"):
        solve(start=[1, 2])
    with pytest.raises(bilevo.ProblemError, match="leave one of them out"):
        solve(start=solve(budget=20), x0=[1])


def test_every_constraint_value_belongs_to_its_point() -> None:
    """Most points are evaluated at one level only."""

    def at_least(x, y):
        return 3 - x[0] - 0.5 * y[0]

    def at_most(x, y):
        return y[0] - 7 + 0.1 * x[0]

    limits = {"upper_constraints": at_least, "lower_constraints": at_most}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bilevo.BilevoWarning)  # the budget is small
        table = solve(method="bl-cma-es", budget=60, **limits).evaluations
    assert table is not None and np.isfinite(table.F).sum() < len(table)
    for values, objective, limit in ((table.G, table.F, at_least), (table.g, table.f, at_most)):
        evaluated = np.isfinite(objective)
        for row in np.flatnonzero(evaluated):
            assert values[row, 0] == limit(table.x[row], table.y[row])
        assert np.isnan(values[~evaluated]).all()
