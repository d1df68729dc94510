"""Workers of every kind give the same answers, also when some of them die."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import same, solve_toll, toll_income, toll_trips

import bilevo
from bilevo import _crew, _worker, _workers


def slow_trips(x: Any, y: Any) -> Any:
    time.sleep(0.0005)
    return toll_trips(x, y)


@pytest.fixture(scope="module")
def alone() -> bilevo.Result:
    return solve_toll(budget=30)


@pytest.mark.parametrize("workers", [1, 2, 3, np.int64(2), -1])
def test_processes(workers: Any, alone: bilevo.Result) -> None:
    assert same(alone, solve_toll(budget=30, f=slow_trips, workers=workers))


def test_executors(alone: bilevo.Result) -> None:
    for kind in (ProcessPoolExecutor, ThreadPoolExecutor):
        with kind(2) as executor:
            assert same(alone, solve_toll(budget=30, f=slow_trips, workers=executor))
            assert executor.submit(abs, -1).result() == 1, "the executor is still ours to use"


def test_anything_like_map(alone: bilevo.Result) -> None:
    assert same(alone, solve_toll(budget=30, workers=map))
    with multiprocessing.Pool(2) as pool:
        assert same(alone, solve_toll(budget=30, f=slow_trips, workers=pool.map))


def test_batches_on_workers(alone: bilevo.Result) -> None:
    result = solve_toll(budget=30, F=batch_income, f=batch_trips, vectorized=True, workers=2)
    assert same(alone, result)


def batch_income(x: Any, y: Any) -> Any:
    return toll_income(x.T, y.T)


def batch_trips(x: Any, y: Any) -> Any:
    time.sleep(0.003)
    return toll_trips(x.T, y.T)


def test_built_in_problems_on_processes_and_threads() -> None:
    options: dict[str, Any] = {"method": "bl-cma-es", "seed": 4, "budget": 60}
    alone = bilevo.minimize("smd9", **options)
    assert same(alone, bilevo.minimize("smd9", workers=2, **options))
    with ProcessPoolExecutor(2) as executor:
        assert same(alone, bilevo.minimize("smd9", workers=executor, **options))


def test_the_work_is_done_elsewhere(tmp_path: Path) -> None:
    def leaves_a_trace(x: Any, y: Any) -> Any:
        (tmp_path / str(os.getpid())).touch()
        while len(list(tmp_path.iterdir())) < 2:
            time.sleep(0.001)  # until the other one has its share too
        return toll_trips(x, y)

    pytest.importorskip("cloudpickle")
    solve_toll(budget=30, f=leaves_a_trace, workers=2)
    assert len([p for p in tmp_path.iterdir() if p.name != str(os.getpid())]) == 2


def test_functions_that_cannot_be_sent_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(bilevo.ProblemError, match="`def` at the top level of a module, or install cloudpickle"):
        solve_toll(f=lambda x, y: 0.0, workers=2)
    monkeypatch.undo()
    lock = multiprocessing.Lock()
    pytest.importorskip("cloudpickle")
    with pytest.raises(bilevo.ProblemError, match="keep what cannot be pickled"):
        solve_toll(f=lambda x, y: float(lock is None), workers=2)


def test_lambdas_work_where_cloudpickle_is(alone: bilevo.Result) -> None:
    pytest.importorskip("cloudpickle")
    assert same(alone, solve_toll(budget=30, f=lambda x, y: (time.sleep(0.001), toll_trips(x, y))[1], workers=2))


def raises_below_two(x: Any, y: Any) -> Any:
    time.sleep(0.001)
    if y[0] < 2:
        raise ValueError(f"y is {y[0]}")
    return toll_trips(x, y)


class Unsendable(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def raises_unsendable(x: Any, y: Any) -> Any:
    raise Unsendable(1, 2)


def test_exceptions_come_back_with_their_traceback() -> None:
    with pytest.warns(bilevo.BilevoWarning, match="ValueError: y is"):
        here = solve_toll(budget=30, f=raises_below_two)
    with pytest.warns(bilevo.BilevoWarning, match="ValueError: y is"):
        there = solve_toll(budget=30, f=raises_below_two, workers=2)
    assert same(here, there)
    exception = there.failures[0].exception
    assert isinstance(exception, ValueError) and "raises_below_two" in str(exception.__cause__)
    with pytest.raises(bilevo.EvaluationError, match="y is") as raised:
        solve_toll(f=raises_below_two, workers=2, on_failure="stop")
    assert isinstance(raised.value.__cause__, ValueError)


def test_a_function_that_never_works_ends_the_run_also_on_workers() -> None:
    with pytest.raises(bilevo.EvaluationError, match="every lower evaluation .*1 and 2"):
        solve_toll(f=raises_unsendable, workers=2)


class DiesOnce:
    """Ends its process the first time it is called above a line."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __call__(self, x: Any, y: Any) -> Any:
        time.sleep(0.001)
        if y[0] > 5 and not self.marker.exists():
            self.marker.touch()
            os._exit(1)
        return toll_trips(x, y)


def test_a_worker_that_dies_is_replaced_and_its_work_done_again(tmp_path: Path, alone: bilevo.Result) -> None:
    with pytest.warns(bilevo.BilevoWarning, match="a worker process died"):
        result = solve_toll(budget=30, f=DiesOnce(tmp_path / "ours"), workers=2)
    assert same(alone, result) and (tmp_path / "ours").exists()
    with ProcessPoolExecutor(2) as executor, pytest.warns(bilevo.BilevoWarning, match="a worker process died"):
        result = solve_toll(budget=30, f=DiesOnce(tmp_path / "given"), workers=executor)
    assert same(alone, result)


def dies_on_a_point(x: Any, y: Any) -> Any:
    time.sleep(0.001)
    if 2.40 < y[0] < 2.41:
        os._exit(1)
    return toll_trips(x, y)


def nan_on_a_point(x: Any, y: Any) -> Any:
    return float("nan") if 2.40 < y[0] < 2.41 else toll_trips(x, y)


def test_a_point_that_kills_every_worker_is_a_failure_of_that_point() -> None:
    with pytest.warns(bilevo.BilevoWarning):
        expected = solve_toll(budget=30, f=nan_on_a_point)
    with pytest.warns(bilevo.BilevoWarning):
        result = solve_toll(budget=30, f=dies_on_a_point, workers=2)
    assert result.n_failed == expected.n_failed > 0
    assert np.array_equal(result.x, expected.x) and np.array_equal(result.y, expected.y)
    assert "the worker process died" in result.failures[0].message


def test_an_executor_that_is_not_ours_to_rebuild_is_named() -> None:
    class Broken(ThreadPoolExecutor):
        def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
            from concurrent.futures.thread import BrokenThreadPool

            raise BrokenThreadPool

    with Broken(1) as executor, pytest.raises(bilevo.EvaluationError, match="the executor given as workers broke"):
        solve_toll(workers=executor)


def test_a_map_that_is_none_is_explained() -> None:
    with pytest.raises(bilevo.ProblemError, match="did not return the results"):
        solve_toll(workers=lambda function, pieces: [])
    with pytest.raises(bilevo.ProblemError, match="could not be used like `map`"):
        solve_toll(workers=lambda function: [])


def test_pieces_cover_the_batch_once_and_fit_the_cost() -> None:
    for points in (1, 2, 7, 56, 1000):
        for width in (1, 2, 3, 64):
            for cost in (None, 1e-7, 1e-3, 1.0):
                pieces = list(_workers.cut(points, width, cost, 1e-3))
                assert [i for p in pieces for i in range(p.start, p.stop)] == list(range(points))
                assert len(pieces) >= min(width, points) and all(p.stop > p.start for p in pieces)
    assert len(list(_workers.cut(1000, 2, 1e-6, 1e-3))) == 2
    assert len(list(_workers.cut(1000, 2, 1.0, 1e-3))) == 1000


def test_sending_costs_what_the_busiest_worker_does_not_explain() -> None:
    def answers(seconds: float, worker: str) -> _worker.Answers:
        return _worker.Answers(np.zeros(1), np.empty((1, 0)), [], seconds, worker)

    crew = _crew.Crew()
    for _ in range(50):
        crew.learn(1.0, [answers(0.4, "one"), answers(0.3, "one"), answers(0.5, "two")])
    assert crew.overhead == pytest.approx(0.3)


def test_a_worker_unpacks_a_problem_once() -> None:
    problem = bilevo.FunctionProblem(toll_income, toll_trips, (0, 10), (0, 10))
    packed = _worker.pack(problem)
    first, second = _worker._unpack("key", packed), _worker._unpack("key", packed)
    assert first._problem is second._problem
    for number in range(10):
        _worker._unpack(f"other {number}", packed)
    assert len(_worker._unpacked) <= 4


@pytest.mark.parametrize("closed", [ProcessPoolExecutor, ThreadPoolExecutor])
def test_an_executor_that_is_closed_is_named(closed: Any) -> None:
    executor = closed(1)
    executor.shutdown()
    with pytest.raises(bilevo.EvaluationError, match="keep the executor or the client open"):
        solve_toll(workers=executor)


FORK = """
import os, sys, traceback, bilevo

def solve():
    return bilevo.minimize("smd1", method="bl-cma-es", seed=1, budget=60, workers=2)

expected = solve()
child = os.fork()
if child == 0:
    try:
        result = solve()
        same = (list(result.x), list(result.y), result.nfev_lower) == (list(expected.x), list(expected.y), expected.nfev_lower)
        os._exit(0 if same else 1)
    except BaseException:
        traceback.print_exc()
        os._exit(2)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_fork_after_use() -> None:
    # A process of its own: a child that went wrong would go on with the tests.
    subprocess.run([sys.executable, "-c", FORK], check=True, timeout=600)


ORPHANS = """
import os, pathlib, sys, time, bilevo
def f(x, y):
    pathlib.Path(sys.argv[1], str(os.getpid())).touch()
    time.sleep(0.01)
    return y[0]
bilevo.minimize(lambda x, y: x[0], f, (0, 1), (0, 1), workers=2)
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    parent = subprocess.Popen([sys.executable, "-c", ORPHANS, str(tmp_path)])

    def until(condition: Any) -> None:
        deadline = time.monotonic() + 600
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.01)

    until(lambda: len(list(tmp_path.iterdir())) >= 2)
    parent.kill()
    parent.wait()
    pids = [path.name for path in tmp_path.iterdir() if path.name != str(parent.pid)]
    until(lambda: not any(Path("/proc", pid).exists() for pid in pids))
