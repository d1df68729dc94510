"""Worker processes of our own: what happens in them stays there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import same, solve_toll, toll_income, toll_trips

import bilevo
from bilevo import _processes


class Elsewhere:
    """Fails if it is ever called in the process that asks."""

    def __init__(self, function: Any) -> None:
        self.function, self.here = function, os.getpid()

    def __call__(self, x: Any, y: Any) -> Any:
        assert os.getpid() != self.here, "user code ran in the caller's process"
        return self.function(x, y)


def never_binding(x: Any, y: Any) -> Any:
    return x[0] - 100


@pytest.mark.parametrize("workers", [1, 2])
def test_functions_never_run_here_once_workers_are_asked_for(workers: int) -> None:
    constraints = {"upper_constraints": never_binding, "lower_constraints": never_binding}
    alone = solve_toll(**constraints)
    wrapped = {name: Elsewhere(function) for name, function in constraints.items()}
    # as cheap as functions get
    result = solve_toll(F=Elsewhere(toll_income), f=Elsewhere(toll_trips), workers=workers, **wrapped)
    assert result.n_failed == 0 and same(alone, result)


def dies_in_the_middle(x: Any, y: Any) -> Any:
    os._exit(3)


def test_a_constraint_that_dies_while_it_is_counted_is_told() -> None:
    with pytest.raises(bilevo.ProblemError, match="exit code 3"):
        solve_toll(upper_constraints=dies_in_the_middle, workers=2)


class HangsForEver:
    """Says that it hangs, and does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, x: Any, y: Any) -> Any:
        (self.folder / str(os.getpid())).touch()
        time.sleep(3600)


@pytest.mark.parametrize("limit", ["time_limit", "eval_timeout"])
def test_a_constraint_that_hangs_while_it_is_counted_is_told(limit: str, tmp_path: Path) -> None:
    with pytest.raises(bilevo.ProblemError, match="cannot be evaluated in the middle of the box: no answer within"):
        solve_toll(upper_constraints=HangsForEver(tmp_path), workers=2, **{limit: 0.3})
    assert not any(_runs(path.name) for path in tmp_path.iterdir())


def test_a_constraint_that_hangs_an_executor_is_told(tmp_path: Path) -> None:
    with ProcessPoolExecutor(1) as executor:
        with pytest.raises(bilevo.ProblemError, match="no answer within"):
            solve_toll(upper_constraints=HangsForEver(tmp_path), workers=executor, time_limit=0.3)
        for process in executor._processes.values():
            process.kill()


def dies_below_two(x: Any, y: Any) -> Any:
    if y[0] < 2:
        os._exit(3)
    return toll_trips(x, y)


class HangsBelowTwo:
    """Says that its process hangs, and does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, x: Any, y: Any) -> Any:
        if np.any(y < 2):
            (self.folder / str(os.getpid())).touch()
            time.sleep(3600)
        return toll_trips(x.T, y.T)


@pytest.fixture
def hung(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for those who hang. Nobody else is timed, so that no answer depends on how fast the machine is."""

    def began(self: _processes.Processes, process: _processes._Process) -> float | None:
        return timed(self, process) if (tmp_path / str(process.process.pid)).exists() else None

    timed = _processes.Processes._began
    monkeypatch.setattr(_processes.Processes, "_began", began)
    return tmp_path


def nan_below_two(x: Any, y: Any) -> Any:
    return float("nan") if y[0] < 2 else toll_trips(x, y)


def like_nan_below_two(function: Any, words: str) -> None:
    """Each point below two, and no other, has failed."""
    budget = {"upper": 30, "lower": 60}
    expected = solve_toll(f=nan_below_two, budget=budget)
    result = solve_toll(f=function, budget=budget, workers=4, eval_timeout=0.05)
    assert result.n_failed == expected.n_failed > 2
    assert np.array_equal(result.x, expected.x) and np.array_equal(result.y, expected.y)
    failure = result.failures[0]
    assert words in failure.message and failure.level == "lower" and failure.y[0] < 2


@pytest.mark.filterwarnings("ignore::bilevo.BilevoWarning")
def test_a_point_that_kills_its_worker_has_failed(hung: Path) -> None:
    like_nan_below_two(dies_below_two, "the worker process died in this evaluation (exit code 3)")


@pytest.mark.filterwarnings("ignore::bilevo.BilevoWarning")
def test_a_point_that_hangs_its_worker_has_failed(hung: Path) -> None:
    like_nan_below_two(HangsBelowTwo(hung), "no answer within 0.05 s")


IMPORTS = """
import sys, bilevo
def follower(x):
    return bilevo.Answer([x[0] / 2], info=len(sys.modules))
def F(x, answer):
    assert answer.info == len(sys.modules), "something was loaded while the answer was read"
    return (x[0] - 0.3) ** 2 + answer.y[0]
if __name__ == "__main__":
    result = bilevo.minimize(F, follower=follower, bounds_upper=[(0, 1)], workers=1, budget={"total": 6}, seed=1)
    assert result.nfev > 0 and not result.n_failed, result.failures
"""


@pytest.mark.filterwarnings("ignore::bilevo.BilevoWarning")
def test_nothing_is_loaded_at_the_cost_of_an_evaluation(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(IMPORTS)
    ended = subprocess.run([sys.executable, "-W", "ignore", script], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


class HangsOnceAsked:
    """Hangs, and says so, once the folder has a file called `now`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, x: Any, y: Any) -> Any:
        if (self.folder / "now").exists():
            (self.folder / str(os.getpid())).touch()
            time.sleep(3600)
        return toll_trips(x, y)


@pytest.mark.filterwarnings("ignore::bilevo.BilevoWarning")
def test_a_limit_of_evaluations_holds_for_a_report_too(hung: Path) -> None:
    result = solve_toll(f=HangsOnceAsked(hung), budget={"upper": 10, "lower": 30}, workers=2, eval_timeout=0.05)
    assert result.n_failed == 0
    (hung / "now").touch()
    result.report(hung / "page.html", evaluations=20)
    assert (hung / "page.html").exists() and len(list(hung.iterdir())) > 2


def batch_income(x: Any, y: Any) -> Any:
    return toll_income(x.T, y.T)


@pytest.mark.filterwarnings("ignore::bilevo.BilevoWarning")
def test_a_batch_that_hangs_is_cut_into_points(hung: Path) -> None:
    options: dict[str, Any] = {"F": batch_income, "vectorized": True, "budget": {"upper": 10, "lower": 10}}
    expected = solve_toll(f=lambda x, y: np.where((y < 2).any(axis=1), np.nan, toll_trips(x.T, y.T)), **options)
    result = solve_toll(f=HangsBelowTwo(hung), **options, workers=2, eval_timeout=0.05)
    assert result.n_failed == expected.n_failed > 0


def hangs(x: Any, y: Any) -> Any:
    time.sleep(3600)


def test_a_time_limit_holds_while_a_worker_hangs() -> None:
    with pytest.warns(bilevo.BilevoWarning, match="there is no answer"):
        result = solve_toll(f=hangs, workers=2, time_limit=0.3)
    assert result.status == "time_limit" and not result.success and result.nfev == 0


PROGRAM = """
name = "slow"
command = ["{python}", "-c", "import time; input(); time.sleep(3600)"]
start_timeout = 0.001
[upper]
variables = {{ t = [0, 10] }}
[lower]
variables = {{ y1 = [0, 10] }}
"""


def test_limits_hold_for_programs_too(tmp_path: Path) -> None:
    path = tmp_path / "slow.toml"
    path.write_text(PROGRAM.format(python=sys.executable))
    with pytest.warns(bilevo.BilevoWarning, match="there is no answer"):
        assert bilevo.minimize(path, time_limit=0.3).status == "time_limit"
    with pytest.raises(bilevo.EvaluationError, match="no answer within 0.201 s"):
        bilevo.minimize(path, eval_timeout=0.2, on_failure="stop")


def test_a_time_limit_is_looked_at_within_a_batch() -> None:
    def slow(x: Any, y: Any) -> Any:
        time.sleep(0.05)
        return y[0]

    with pytest.warns(bilevo.BilevoWarning):
        result = bilevo.minimize(toll_income, slow, [(0, 1)] * 9, [(0, 1)] * 9, method="bl-cma-es", time_limit=0.2, seed=1)
    assert result.status == "time_limit" and result.nfev == 0, "no batch was finished"


class Spawns:
    """Starts a program that outlives everything, and waits for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, x: Any, y: Any) -> Any:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        (self.folder / str(child.pid)).touch()
        child.wait()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
@pytest.mark.filterwarnings("ignore::bilevo.BilevoWarning")
def test_what_a_worker_has_started_ends_with_it(tmp_path: Path) -> None:
    solve_toll(f=Spawns(tmp_path), workers=2, time_limit=3)
    pids = [path.name for path in tmp_path.iterdir()]
    deadline = time.monotonic() + 600
    while any(_runs(pid) for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _runs(pid: str) -> bool:
    """Whether a process does anything still: one that nobody has collected yet does not."""
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class CannotBeUnpacked:
    def __call__(self, x: Any, y: Any) -> Any:
        return 0.0

    def __setstate__(self, state: Any) -> None:
        raise ImportError("no simulator here")

    def __getstate__(self) -> Any:
        return 1


def test_a_problem_that_workers_cannot_use_is_told() -> None:
    with pytest.raises(bilevo.ProblemError, match="cannot use the problem: ImportError: no simulator here"):
        solve_toll(f=CannotBeUnpacked(), workers=2)
