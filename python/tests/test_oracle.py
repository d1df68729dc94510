"""A follower with its own solver: functions, classes, workers, checkpoints, ask and tell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bilevo

# that a budget or a callback ended a run is told, and meant here
pytestmark = pytest.mark.filterwarnings("ignore::bilevo.BilevoWarning")

BOUNDS = [(0.0, 8.0), (0.0, 12.0)]


def trips(x: Any) -> bilevo.Answer:
    return bilevo.Answer(y=[8 - x[0], 6 - 0.5 * x[1], 1.0], f=float(x[0] - 8), info={"cost": 2.5})


def income(x: Any, answer: bilevo.Answer) -> float:
    return float(x[0] * answer.y[0] + x[1] * answer.y[1] - answer.info["cost"])


def solve(**options: Any) -> bilevo.Result:
    options = {"seed": 3, "maximize": "upper"} | options
    return bilevo.minimize(income, follower=trips, bounds_upper=BOUNDS, **options)


def cheapest(x: Any) -> bilevo.Answer:
    """Travellers take the bridge, the tunnel or the long way, whichever costs them least."""
    way = int(np.argmin([x[0] + 2, x[1] + 1, 9.0]))
    return bilevo.Answer(y=[float(way)], info=[float(x[0]), float(x[1]), 0.0][way])


def paid(x: Any, answer: bilevo.Answer) -> float:
    return float(answer.info)


def solve_jumps(**options: Any) -> bilevo.Result:
    """The income jumps where travellers change their way, so that restarts are populations."""
    options = {"seed": 3, "maximize": "upper", "follower": cheapest} | options
    return bilevo.minimize(paid, bounds_upper=BOUNDS, **options)


def timeless(result: bilevo.Result) -> str:
    raw = result.to_dict()
    return json.dumps({key: value for key, value in raw.items() if "seconds" not in key})


@pytest.mark.parametrize("method", ["auto", "bl-cma-es", "cr-tlea-cma-es"])
def test_the_leader_gets_the_whole_answer(method: str) -> None:
    result = solve(method=method)
    assert result.fun == pytest.approx(31.5, abs=1e-4)
    assert result.y == pytest.approx([8 - result.x[0], 6 - 0.5 * result.x[1], 1.0])
    assert result.lower_fun == pytest.approx(result.x[0] - 8)
    # one decision is asked about twice
    assert result.nfev_lower == result.nfev_upper + 1


def test_how_often_such_answers_were_right_is_not_said_of_an_own_solver() -> None:
    # the test runs behind that sentence searched for the follower's answers
    result = solve()
    assert result.success and result.likeness is None and "likely" not in repr(result)


def test_a_solver_that_returns_y_alone() -> None:
    def plain(x: Any, y: Any) -> float:
        assert isinstance(y, np.ndarray)
        return float((x[0] - 1) ** 2 + y.sum())

    result = bilevo.minimize(plain, follower=lambda x: [x[0], 2.0], bounds_upper=[(-5, 5)], seed=1)
    assert result.x == pytest.approx([0.5], abs=1e-4)
    assert np.isnan(result.lower_fun) and result.success


def test_constraints_of_the_leader_see_the_answer() -> None:
    result = solve(upper_constraints=lambda x, answer: answer.y[0] - 3)
    assert result.y[0] <= 3 + 1e-9
    assert result.fun == pytest.approx(5 * 3 + 18 - 2.5, abs=1e-3)


def test_whole_batches() -> None:
    def all_trips(x: Any) -> list[bilevo.Answer]:
        return [trips(one) for one in x]

    def all_income(x: Any, answers: Any) -> Any:
        return [income(one, answer) for one, answer in zip(x, answers)]

    at_once = bilevo.minimize(
        all_income, follower=all_trips, bounds_upper=BOUNDS, seed=3, maximize="upper", vectorized=True
    )
    assert timeless(at_once) == timeless(solve())


def test_a_class() -> None:
    class Tolls(bilevo.BilevelProblem):
        def __init__(self) -> None:
            super().__init__(BOUNDS, maximize="upper", name="function")

        def follower(self, x: Any) -> bilevo.Answer:
            return trips(x)

        def evaluate_upper(self, x: Any, y: Any, out: dict[str, Any]) -> None:
            out["F"] = income(x, y)

    assert "its own solver" in repr(Tolls())
    assert timeless(bilevo.minimize(Tolls(), seed=3)) == timeless(solve())


def test_a_function_that_jumps_is_searched_by_populations() -> None:
    result = solve_jumps()
    assert result.fun == pytest.approx(8, abs=1e-4) and result.success
    assert result.nfev_lower > 200, "descents alone would take fewer calls"


@pytest.mark.parametrize(
    ("run", "options"), [(solve, {"method": "cr-bl-cma-es", "budget": 60}), (solve, {}), (solve_jumps, {})]
)
def test_workers_change_nothing(run: Any, options: dict[str, Any]) -> None:
    alone = timeless(run(**options))
    for workers in (1, 2, 3):
        assert timeless(run(**options, workers=workers)) == alone, workers
    with ThreadPoolExecutor(2) as threads:
        assert timeless(run(**options, workers=threads)) == alone


class DiesOnce:
    """A solver that ends its process the first time that the second toll is high."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __call__(self, x: Any) -> bilevo.Answer:
        if x[1] > 10 and not self.marker.exists():
            self.marker.touch()
            os._exit(1)
        return cheapest(x)


def test_a_worker_that_dies_changes_nothing(tmp_path: Path) -> None:
    died = tmp_path / "died"
    result = solve_jumps(follower=DiesOnce(died), workers=2)
    assert died.exists() and timeless(result) == timeless(solve_jumps())


def test_part_of_the_box_fails() -> None:
    def fails(x: Any) -> Any:
        if x[0] > 5:
            raise RuntimeError("no flow")
        return trips(x)

    with pytest.warns(bilevo.BilevoWarning, match="no flow"):
        result = bilevo.minimize(income, follower=fails, bounds_upper=BOUNDS, seed=3, maximize="upper")
    assert result.fun == pytest.approx(31.5, abs=1e-4)
    assert result.n_failed > 0
    with pytest.raises(bilevo.EvaluationError, match="every follower evaluation"):
        bilevo.minimize(income, follower=lambda x: 1 / 0, bounds_upper=BOUNDS, seed=3)


@pytest.mark.parametrize(("leader", "follower", "run"), [(income, trips, solve), (paid, cheapest, solve_jumps)])
def test_ask_and_tell_does_the_same(leader: Any, follower: Any, run: Any) -> None:
    problem = bilevo.FunctionProblem(leader, follower=follower, bounds_upper=BOUNDS, maximize="upper")
    optimizer = bilevo.Optimizer(problem, seed=3)
    levels = set()
    while (batch := optimizer.ask()) is not None:
        levels.add(batch.level)
        if batch.level == "follower":
            optimizer.tell(batch, [follower(x) for x in batch.x])
        else:
            optimizer.tell(batch, [leader(point.x, point.y) for point in batch])
        optimizer = bilevo.Optimizer.from_bytes(optimizer.to_bytes())
    assert levels == {"follower", "upper"}
    assert timeless(optimizer.result()) == timeless(run())


@pytest.mark.parametrize(
    ("run", "options", "calls"),
    [(solve, {"method": "bl-cma-es"}, 100), (solve, {}, 10), (solve_jumps, {}, 100), (solve_jumps, {}, 400)],
)
def test_a_saved_run_goes_on(run: Any, options: dict[str, Any], calls: int, tmp_path: Path) -> None:
    saved = tmp_path / "run.ckpt"
    stopped = run(**options, checkpoint=saved, callback=lambda result: result.nfev_lower >= calls)
    assert stopped.status == "observer"
    assert timeless(run(**options, checkpoint=saved)) == timeless(run(**options))


def test_answers_that_change_are_noticed() -> None:
    calls = iter(range(10_000))
    with pytest.warns(bilevo.BilevoWarning, match="asked twice"):
        bilevo.minimize(
            lambda x, y: float(x[0] + y[0]), follower=lambda x: [x[0] + next(calls)], bounds_upper=[(0, 1)], seed=1,
            budget=30,
        )


def test_mistakes_are_explained() -> None:
    with pytest.raises(bilevo.ProblemError, match="bounds_lower"):
        bilevo.minimize(income, lambda x, y: 0.0, bounds_upper=BOUNDS, follower=trips)
    with pytest.raises(bilevo.ProblemError, match="lower_constraints"):
        bilevo.minimize(income, follower=trips, bounds_upper=BOUNDS, lower_constraints=lambda x, y: 0.0)
    with pytest.raises(bilevo.ProblemError, match="audit"):
        solve(audit=True)
    with pytest.raises(bilevo.ProblemError, match="not a function"):
        bilevo.minimize(income, follower=3, bounds_upper=BOUNDS)  # type: ignore[arg-type]
    with pytest.raises(bilevo.ProblemError, match="leave out bounds_lower"):
        bilevo.minimize(income, bounds_upper=BOUNDS, bounds_lower=BOUNDS, follower=trips)
    for answer in ("no", [1j]):
        with pytest.raises(bilevo.EvaluationError, match="(?s)the follower returned .* not a number.* list of numbers"):
            bilevo.minimize(income, follower=lambda x: answer, bounds_upper=BOUNDS, seed=1)


def test_with_an_objective_the_answer_is_a_start() -> None:
    result = bilevo.minimize(
        lambda x, y: float((x[0] - 1) ** 2 + y[0]), lambda x, y: float((y[0] - x[0]) ** 2), [(0, 2)], [(-5, 5)],
        follower=lambda x: [x[0] + 0.3], seed=1, audit=True,
    )
    assert result.y[0] == pytest.approx(result.x[0], abs=1e-2)
    assert result.audit is not None


@pytest.mark.parametrize("name", ["sioux_falls", "bidding", "tune_logistic", "plant"])
def test_the_applications_agree_with_their_references(name: str) -> None:
    """At a small size: the reference at the answer of a short run, and never below what is possible."""
    pytest.importorskip("scipy")
    if name == "tune_logistic":
        pytest.importorskip("sklearn")
    folder = Path(__file__).parents[2] / "examples" / "python"
    code = {
        "sioux_falls": "v = m.equilibrium(); assert abs(m.beckmann(v, 0, m.CAPACITY) / m.UNIT - 42.3133528710744) < 1e-9;"
        "assert abs(m.best_known('tolls') - 74.37008) < 1e-5;"
        "r = m.solve('tolls', effort='quick', budget=40); assert r.fun < 74.6, r.fun",
        "bidding": "r = m.solve(budget=60); assert 577 < r.fun < 723.75, r.fun",
        "tune_logistic": "r = m.solve(effort='quick'); assert abs(r.fun - 0.0678365) < 1e-4, r.fun",
        "plant": "r = m.solve(effort='quick', budget=60); assert 7.0 < r.fun < 9.0 and r.n_failed > 0, r.fun",
    }[name]
    script = f"import warnings; warnings.simplefilter('ignore'); import {name} as m; {code}"
    environment = os.environ | {"PYTHONPATH": str(folder)}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)


def test_decisions_to_begin_with_are_asked_about_first() -> None:
    asked: list[Any] = []

    def watched(x: Any) -> bilevo.Answer:
        asked.append(list(x))
        return trips(x)

    result = bilevo.minimize(
        income, follower=watched, bounds_upper=BOUNDS, maximize="upper", seed=3, x0=[[4, 6], [1, 1]], budget={"total": 20}
    )
    assert asked[:2] == [[4.0, 6.0], [1.0, 1.0]]
    assert result.fun == 31.5 and result.x.tolist() == [4.0, 6.0]
    # other methods begin at one of them, and say so
    result = solve(method="bl-cma-es", x0=[[4, 6], [1, 1]], budget=20)
    assert "starts at one point only" in (result.notice or "")


def test_where_to_begin_must_make_sense() -> None:
    def refused(**given: Any) -> str:
        with pytest.raises(bilevo.ProblemError) as error:
            solve(**given)
        return str(error.value)

    assert "x0 has the shape (3,)" in refused(x0=[1, 2, 3])
    assert "x0 is 'here'" in refused(x0="here")
    assert "start 2 has x2 = 13" in refused(x0=[[1, 1], [1, 13]])
    assert "leave out y0" in refused(x0=[1, 1], y0=[1])
    assert "y0 needs x0" in refused(y0=[1])


@pytest.mark.parametrize("method", ["auto", "bl-cma-es"])
def test_a_searched_follower_begins_where_it_is_told(method: str) -> None:
    def run(**given: Any) -> bilevo.Result:
        return bilevo.minimize(
            lambda x, y: float((x[0] - 3) ** 2 + y[0]), lambda x, y: float((y[0] - x[0]) ** 2), [(0, 10)], [(0, 10)],
            method=method, seed=1, budget={"total": 40}, **given,
        )

    near = run(x0=[2.5], y0=[2.5])
    assert method != "auto" or near.fun == pytest.approx(2.75, abs=0.05)
    assert timeless(near) != timeless(run())
    with pytest.raises(bilevo.ProblemError, match="start 1 has y1 = 11"):
        run(x0=[2.5], y0=[11])


@pytest.mark.filterwarnings("default::bilevo.BilevoWarning")
def test_a_solver_that_contradicts_itself_is_told_for_whole_numbers_too() -> None:
    calls = []

    def drifting(x: Any) -> Any:
        calls.append(x)
        return [x[0] + 0.01 * len(calls)]

    with pytest.warns(bilevo.BilevoWarning, match="asked twice"):
        bilevo.minimize(
            lambda x, y: float((x[0] - 40) ** 2 + y[0]), follower=drifting, bounds_upper=[(0, 100)], integer_upper=True,
            seed=1, budget=30,
        )


@pytest.mark.skipif(sys.platform == "win32", reason="programs need Unix")
@pytest.mark.parametrize("method", ["auto", "cr-bl-cma-es"])
def test_a_program_and_a_function_are_the_same_follower(method: str) -> None:
    def drivers(x: Any) -> bilevo.Answer:
        y = [8 - x[0], 6 - 0.5 * x[1]]
        return bilevo.Answer(y=y, f=-sum(y), info={"cost": 2.5})

    options: dict[str, Any] = {"method": method, "seed": 3, "budget": 30}
    file = Path(__file__).parents[2] / "examples" / "programs" / "own-follower.toml"
    program = bilevo.minimize(str(file), **options)
    function = bilevo.minimize(income, follower=drivers, bounds_upper=BOUNDS, maximize="upper", **options)
    assert program.x.tolist() == function.x.tolist() and program.y.tolist() == function.y.tolist()
    assert (program.fun, program.lower_fun, program.nfev) == (function.fun, function.lower_fun, function.nfev)
    assert "y" in str(program)


def test_a_tuple_of_y_and_f_is_no_answer() -> None:
    """The message is the same for every decision, so the run ends at once instead of counting failures."""
    calls = 0

    def pair(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return np.array([x[0]]), float(x[0]) / 2

    words = r"a tuple of 2 things \('ndarray', 'float'\).*\nhint: return y alone.*bilevo.Answer"
    with pytest.raises(bilevo.EvaluationError, match=f"(?s){words}") as raised:
        bilevo.minimize(income, follower=pair, bounds_upper=BOUNDS, seed=1)
    assert raised.value.code == "E302" and calls < 50


def test_a_mapping_is_no_answer() -> None:
    with pytest.raises(bilevo.EvaluationError, match="return bilevo.Answer"):
        bilevo.minimize(income, follower=lambda x: {"trips": 1.0}, bounds_upper=BOUNDS, seed=1, budget=20)
    with pytest.raises(bilevo.ProblemError, match="follower=solve"):
        bilevo.minimize(income, trips, bounds_upper=BOUNDS)  # type: ignore[arg-type]
