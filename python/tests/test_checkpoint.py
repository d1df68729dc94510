"""Runs that are saved, interrupted and gone on with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import same, solve_toll, toll_trips

import bilevo


def test_a_saved_run_goes_on_where_it_was(tmp_path: Path, counted: Any) -> None:
    path = tmp_path / "run.ckpt"
    whole = solve_toll()
    first = solve_toll(checkpoint=path, callback=lambda result: result.nit == 4)
    assert first.nit == 4 and path.exists()
    f = counted(toll_trips)
    second = solve_toll(checkpoint=path, f=f)
    assert same(whole, second) and f.calls == whole.nfev_lower - first.nfev_lower
    f = counted(toll_trips)
    assert same(whole, solve_toll(checkpoint=path, f=f)) and f.calls == 0
    assert same(whole, solve_toll(checkpoint=str(path), seed=None)), "a drawn seed is that of the file"


@pytest.mark.parametrize(
    "other", [{"seed": 2}, {"settings": {"upper.population": 9}}, {"method": "tlea-de"}, {"bounds_upper": [(0, 9)]}, {"name": "another"}]
)
def test_another_run_is_refused_and_kept(tmp_path: Path, other: dict[str, Any]) -> None:
    path = tmp_path / "run.ckpt"
    solve_toll(checkpoint=path, callback=lambda result: True)
    before = path.read_bytes()
    with pytest.raises(bilevo.CheckpointError, match="holds another run"):
        solve_toll(checkpoint=path, **other)
    assert path.read_bytes() == before


def test_a_foreign_file_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "thesis.txt"
    path.write_text("years of work")
    with pytest.raises(bilevo.CheckpointError, match="is not a bilevo checkpoint"):
        solve_toll(checkpoint=path)
    assert path.read_text() == "years of work"


def test_no_place_to_save_to_is_said_at_the_start(tmp_path: Path, counted: Any) -> None:
    f = counted(toll_trips)
    with pytest.raises(bilevo.CheckpointError):
        solve_toll(checkpoint=tmp_path / "missing" / "run.ckpt", f=f)
    assert f.calls == 0


def test_an_error_leaves_a_checkpoint_to_go_on_from(tmp_path: Path, counted: Any) -> None:
    path = tmp_path / "run.ckpt"

    def breaks(x: Any, y: Any) -> Any:
        if breaking.calls > 300:
            raise OSError("the licence server is down")
        return toll_trips(x, y)

    breaking = counted(breaks)
    with pytest.raises(bilevo.EvaluationError, match="licence server"):
        solve_toll(f=breaking, on_failure="stop", checkpoint=path)
    f = counted(toll_trips)
    whole = solve_toll()
    assert same(whole, solve_toll(f=f, checkpoint=path, on_failure="stop"))
    assert f.calls < whole.nfev_lower - 200


SCRIPT = """
import pathlib, sys, time, bilevo
def f(x, y):
    {body}
    return (y[0] - 8 + x[0]) ** 2
print("ready", flush=True)
bilevo.minimize({problem}, method="bl-cma-es", seed=1, {options})
"""

FUNCTIONS = "lambda x, y: x[0] * y[0], f, [(0, 10)], [(0, 10)]"


PROGRAM = """
name = "slow"
command = ["{python}", "-c", "import time; input(); open('evaluating', 'w').close(); time.sleep(3600)"]
[upper]
variables = {{ t = [0, 10] }}
[lower]
variables = {{ y1 = [0, 10] }}
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as on Unix")
@pytest.mark.parametrize(
    ("problem", "body", "options"),
    [
        (FUNCTIONS, "pass", "budget=10**9, settings={'stop.upper_window': 10**9, 'lower.max_generations': 10**6}"),
        (FUNCTIONS, "pathlib.Path('evaluating').touch(); time.sleep(3600)", "budget=10**6"),
        (FUNCTIONS, "pathlib.Path('evaluating').touch(); time.sleep(3600)", "budget=10**6, workers=2"),
        ("'smd1'", "pass", "budget=10**12, settings={'stop.target': 'off', 'stop.upper_window': 10**12}"),
        ("bilevo.problems.smd(1, 10, 10)", "pass", "budget=10**12, workers=2, "
         "settings={'stop.target': 'off', 'stop.upper_window': 10**12}"),
        ("'slow.toml'", "pass", "workers=1"),
    ],
)
def test_ctrl_c_works_at_any_moment(tmp_path: Path, problem: str, body: str, options: str) -> None:
    script = tmp_path / "script.py"
    path = tmp_path / "run.ckpt"
    (tmp_path / "slow.toml").write_text(PROGRAM.format(python=sys.executable))
    script.write_text(SCRIPT.format(problem=problem, body=body, options=f"{options}, checkpoint={str(path)!r}"))
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, script], cwd=tmp_path, **pipes)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    hangs = "sleep" in body or "slow" in problem
    while not (path.exists() and (not hangs or (tmp_path / "evaluating").exists())):
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=600)
    assert errors.rstrip().endswith("KeyboardInterrupt") and process.returncode == -signal.SIGINT
    assert path.exists()


def test_a_larger_budget_goes_on_where_the_smaller_one_ended(tmp_path: Path, counted: Any) -> None:
    path = tmp_path / "run.ckpt"
    whole = solve_toll(budget=120)
    first = solve_toll(budget=40, checkpoint=path)
    f = counted(toll_trips)
    rest = solve_toll(f=f, budget=120, checkpoint=path)
    assert rest.to_dict() | {"seconds": 0.0} == whole.to_dict() | {"seconds": 0.0}
    assert f.calls == whole.nfev_lower - first.nfev_lower > 0
    with pytest.raises(bilevo.CheckpointError, match="a budget can only be raised"):
        solve_toll(budget=60, checkpoint=path)


def test_a_larger_total_goes_on_where_the_smaller_one_ended(tmp_path: Path, counted: Any) -> None:
    path = tmp_path / "run"
    first = solve_toll(method="auto", budget={"total": 60}, checkpoint=path)
    assert first.status == "budget"
    function = counted(toll_trips)
    more = solve_toll(method="auto", f=function, budget={"total": 200}, checkpoint=path)
    assert more.nfev > 150 and function.calls == more.nfev_lower - first.nfev_lower
    with pytest.raises(bilevo.CheckpointError, match="the run was started with 200, and a budget can only be raised"):
        solve_toll(method="auto", budget={"total": 100}, checkpoint=path)


def test_a_time_limit_counts_all_sessions(tmp_path: Path, counted: Any) -> None:
    path = tmp_path / "run.ckpt"
    first = solve_toll(budget=40, checkpoint=path)
    f = counted(toll_trips)
    with pytest.warns(bilevo.BilevoWarning, match="before"):
        again = solve_toll(f=f, budget=120, checkpoint=path, time_limit=first.seconds)
    assert again.status == "time_limit" and f.calls == 0
