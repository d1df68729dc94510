"""`minimize`: functions, classes, names; constraints; callbacks; limits."""

from __future__ import annotations

import _thread
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import TOLL, same, solve_toll, toll_income, toll_trips

import bilevo


def test_functions_are_solved() -> None:
    result = solve_toll(budget=None)
    assert result.success and result.status in ("flat", "collapsed")
    assert abs(result.x[0] - 3.975) < 0.05 and abs(result.y[0] - 3.975) < 0.05
    assert abs(result.fun - 15.8) < 0.1
    assert result.fun == toll_income(result.x, result.y)
    assert result.lower_fun == toll_trips(result.x, result.y)


def test_every_call_is_counted(counted: Any) -> None:
    F, f = counted(toll_income), counted(toll_trips)
    result = solve_toll(F=F, f=f)
    assert (F.calls, f.calls) == (result.nfev_upper, result.nfev_lower)


def test_vectorized_gives_the_same_bits() -> None:
    def batches(function: Any) -> Any:
        return lambda x, y: function(x.T, y.T)

    assert same(solve_toll(), solve_toll(F=batches(toll_income), f=batches(toll_trips), vectorized=True))


class Toll(bilevo.BilevelProblem):
    def __init__(self, vectorized: bool = False) -> None:
        super().__init__(
            n_upper=1, n_lower=1, xl=0, xu=10, yl=0, yu=10, maximize="upper", vectorized=vectorized, name="function"
        )

    def evaluate_upper(self, x: Any, y: Any, out: dict[str, Any]) -> None:
        out["F"] = toll_income(x.T, y.T)

    def evaluate_lower(self, x: Any, y: Any, out: dict[str, Any]) -> None:
        out["F"] = toll_trips(x.T, y.T)


@pytest.mark.parametrize("vectorized", [False, True])
def test_a_class_gives_the_same_bits(vectorized: bool) -> None:
    result = bilevo.minimize(Toll(vectorized), method="bl-cma-es", seed=1, budget=120)
    assert same(solve_toll(), result)


class Constrained(bilevo.BilevelProblem):
    """x <= 1; y0 >= 1 and y1 = 2 x."""

    def __init__(self) -> None:
        super().__init__([(0, 3)], [(0, 4), (0, 4)], n_ieq_upper=1, n_eq_lower=1, n_ieq_lower=1, name="function")

    def evaluate_upper(self, x: Any, y: Any, out: dict[str, Any]) -> None:
        out["F"] = (x[0] - 2) ** 2 + y[1]
        out["G"] = x[0] - 1

    def evaluate_lower(self, x: Any, y: Any, out: dict[str, Any]) -> None:
        out["F"] = y[0] ** 2 + y[1]
        out["G"] = [1 - y[0]]
        out["H"] = [y[1] - 2 * x[0]]


def constraints_of(level: str, key: str) -> Any:
    def values(x: Any, y: Any) -> Any:
        out: dict[str, Any] = {}
        getattr(Constrained(), f"evaluate_{level}")(x, y, out)
        return out[key]

    return values


def test_constraints_in_every_form() -> None:
    options: dict[str, Any] = {"method": "bl-cma-es", "seed": 2, "budget": 300}
    by_class = bilevo.minimize(Constrained(), **options)
    assert by_class.maxcv_upper <= 1e-6 and by_class.maxcv_lower <= 1e-6
    (x,), (y0, y1) = by_class.x, by_class.y
    assert x <= 1 + 1e-6 and y0 >= 1 - 1e-6 and abs(y1 - 2 * x) <= 3e-6
    by_functions = bilevo.minimize(
        constraints_of("upper", "F"),
        constraints_of("lower", "F"),
        [(0, 3)],
        [(0, 4), (0, 4)],
        upper_constraints=[constraints_of("upper", "G")],
        lower_constraints={"G": constraints_of("lower", "G"), "H": constraints_of("lower", "H")},
        **options,
    )
    assert same(by_class, by_functions)


def test_built_in_problems_are_found_by_name_and_reach_their_target() -> None:
    result = bilevo.minimize("smd1", method="bl-cma-es", seed=1)
    assert result.solved is True and result.status == "target" and result.success
    assert result.accuracy is not None and result.accuracy <= 1e-6
    assert same(result, bilevo.minimize(bilevo.problems.smd(1), method="bl-cma-es", seed=1, workers=2))


def test_a_callback_sees_and_stops() -> None:
    seen: list[bilevo.Result] = []

    def stop_at_three(result: bilevo.Result) -> bool:
        seen.append(result)
        return result.nit == 3

    result = solve_toll(callback=stop_at_three)
    assert (result.status, result.success, result.nit) == ("observer", False, 3)
    assert sorted({r.nit for r in seen}) == [0, 1, 2, 3] and seen[0].status == "running"
    assert np.array_equal(seen[-1].x, result.x) and seen[-1].nfev_lower == result.nfev_lower

    def raise_stop(result: bilevo.Result) -> None:
        raise StopIteration

    assert solve_toll(callback=raise_stop).nfev < 100


def test_a_callback_that_raises_ends_the_run_with_its_own_error() -> None:
    def broken(result: bilevo.Result) -> None:
        raise LookupError("from the callback")

    with pytest.raises(LookupError, match="from the callback") as raised:
        solve_toll(callback=broken)
    assert "broken" in [entry.name for entry in raised.traceback]


@pytest.mark.parametrize("said", [True, np.True_, 1, "stop"])
def test_a_callback_that_returns_something_true_stops(said: Any) -> None:
    assert solve_toll(callback=lambda result: said).status == "observer"


@pytest.mark.parametrize("said", [False, np.False_, 0, None])
def test_a_callback_that_returns_nothing_true_does_not(said: Any) -> None:
    assert solve_toll(callback=lambda result: said).status == "upper_budget"


def test_a_callback_is_called_every_fifty_evaluations() -> None:
    seen: list[int] = [0]
    result = solve_toll(callback=lambda result: seen.append(result.nfev))
    gaps = np.diff([*seen, result.nfev])
    # a generation takes some two hundred, and a batch is never cut
    assert result.nfev / result.nit > 100 and max(gaps) < 100


def test_a_callback_is_called_within_slow_batches() -> None:
    def slow(x: Any, y: Any) -> float:
        time.sleep(0.02)
        return float(toll_trips(x, y))

    seen: list[int] = [0]
    settings = {"lower.population": 130}
    budget = {"total": 140}
    result = solve_toll(
        f=slow, method="bl-cma-es", settings=settings, budget=budget, callback=lambda result: seen.append(result.nfev)
    )
    # half a second has room for 25 of them, and a whole batch has 130
    assert result.nfev >= 130 and max(np.diff([*seen, result.nfev])) < 80, seen


def test_time_is_limited() -> None:
    def slow(x: Any, y: Any) -> float:
        time.sleep(0.002)
        return float(toll_trips(x, y))

    result = solve_toll(f=slow, time_limit=0.1, budget=10**6, settings={"stop.upper_window": 10**6})
    assert result.status == "time_limit" and result.seconds >= 0.1


def test_other_threads_run_while_the_engine_works(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"

    def interrupt() -> None:
        while not path.exists():  # the engine writes it, once it is at work
            time.sleep(0.001)
        _thread.interrupt_main()

    thread = threading.Thread(target=interrupt)
    thread.start()
    # An engine that kept the interpreter to itself would come to the end of its budget first.
    with pytest.raises(KeyboardInterrupt):
        settings = {"stop.target": "off", "stop.upper_window": 10**9}
        bilevo.minimize("smd1", method="bl-cma-es", seed=1, budget=10**7, settings=settings, checkpoint=path)
    thread.join()


def test_a_drawn_seed_is_kept_and_repeats_the_run() -> None:
    first = solve_toll(seed=None)
    assert same(first, solve_toll(seed=first.seed))
    assert solve_toll(seed=np.random.default_rng(7)).seed == solve_toll(seed=np.random.default_rng(7)).seed


def test_settings_by_path_and_as_a_tree() -> None:
    flat = solve_toll(settings={"upper.population": 6, "stop.target": "off"})
    tree = solve_toll(settings={"upper": {"population": np.int64(6)}, "stop": {"target": "off"}})
    assert same(flat, tree) and not same(flat, solve_toll())
    assert flat.to_dict()["settings"]


def test_a_budget_may_be_written_with_an_exponent() -> None:
    assert same(solve_toll(budget=1e2), solve_toll(budget=100))


def test_budget_of_both_levels() -> None:
    result = solve_toll(budget={"upper": 1000, "lower": 200})
    assert result.status == "lower_budget" and result.nfev_lower < 400


def test_a_known_optimum_ends_the_run() -> None:
    result = solve_toll(best_known=(15.8006, None), budget=None, settings={"stop.target_tolerance": 1e-2})
    assert result.accuracy is not None and result.accuracy <= 1e-2 and result.status == "target"


def test_progress_is_shown_on_stderr_only(capfd: pytest.CaptureFixture[str]) -> None:
    solve_toll(progress=True)
    out, err = capfd.readouterr()
    assert not out and err


@pytest.mark.filterwarnings("ignore::bilevo.BilevoWarning")  # of runs that end too early
def test_auto_says_where_it_hands_over() -> None:
    def run(size: int) -> bilevo.Result:
        return bilevo.minimize(
            lambda x, y: float(x.sum() + y.sum()),
            lambda x, y: float(((y - x[0]) ** 2).sum()),
            [(0, 1)] * 50,
            [(0, 1)] * size,
            seed=1,
            budget={"upper": 1, "lower": 1},
        )

    assert (run(50).method, run(50).notice) == ("portfolio", None)
    many = run(51)
    assert many.method == "cr-tlea-cma-es"
    assert many.notice is not None and many.notice in repr(many)


def test_the_default_method_is_the_one_called_auto() -> None:
    options: dict[str, Any] = {**TOLL, "seed": 3, "budget": 60}
    default = bilevo.minimize(toll_income, toll_trips, **options)
    assert same(default, bilevo.minimize(toll_income, toll_trips, method="auto", **options))
    assert default.method in bilevo.methods()
