"""Experiments: rows, frames, figures, and runs done elsewhere."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import bilevo

METHODS = ["bl-cma-es", "cr-bl-cma-es"]
GRID: dict[str, Any] = {"methods": METHODS, "problems": ["smd1", "tp1"], "runs": 2}


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> bilevo.lab.Experiment:
    return bilevo.lab.run(**GRID, store=tmp_path_factory.mktemp("lab") / "runs.db")


def timeless(results: list[dict[str, Any]]) -> list[Any]:
    kept = [{key: value for key, value in result.items() if "seconds" not in key} for result in results]
    return sorted(kept, key=lambda result: (result["problem"], result["method"], result["seed"]))


def test_rows_are_the_runs(experiment: bilevo.lab.Experiment) -> None:
    assert len(experiment) == 8 and not experiment.failures
    stored = next(r for r in experiment.results if (r["problem"], r["method"], r["seed"]) == ("smd1", METHODS[1], 2))
    alone = bilevo.minimize("smd1", method=METHODS[1], seed=2)
    assert timeless([stored]) == timeless([alone.to_dict()])


def test_only_what_is_missing_is_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "runs.db"
    bilevo.lab.run("bl-cma-es", "tp1", runs=1, store=store)
    capfd.readouterr()
    grown = bilevo.lab.run("bl-cma-es", "tp1", runs=3, store=store, progress=True)
    assert sorted(r["seed"] for r in grown.results) == [1, 2, 3]
    assert len(capfd.readouterr().out.splitlines()) == 2


def test_runs_on_other_processes_give_the_same_rows(tmp_path: Path, experiment: bilevo.lab.Experiment) -> None:
    with ProcessPoolExecutor(2) as executor:
        other = bilevo.lab.run(**GRID, store=tmp_path / "runs.db", workers=executor)
    threads = bilevo.lab.run(**GRID, store=tmp_path / "threads.db", workers=2)
    assert timeless(other.results) == timeless(experiment.results) == timeless(threads.results)


def test_runs_on_dask_give_the_same_rows(tmp_path: Path, experiment: bilevo.lab.Experiment) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=None, processes=False) as cluster:
        with distributed.Client(cluster) as client:
            other = bilevo.lab.run(**GRID, store=tmp_path / "runs.db", workers=client)
    assert timeless(other.results) == timeless(experiment.results)


def test_settings_are_run_side_by_side(tmp_path: Path) -> None:
    settings = [{}, {"upper": {"population": 6}}]
    experiment = bilevo.lab.run("bl-cma-es", "tp1", runs=1, store=tmp_path / "runs.db", settings=settings)
    assert sorted(r["settings"] for r in experiment.results) == ["", "upper.population=6"]


def test_frames(experiment: bilevo.lab.Experiment) -> None:
    pytest.importorskip("pandas")
    frame = experiment.frame()
    assert len(frame) == 8 and {"problem", "evaluations_lower", "accuracy_upper", "x"} <= set(frame.columns)
    traces = experiment.traces()
    ends = traces.groupby(["problem", "method", "seed"])["nfev_lower"].max()
    assert ends["smd1", "bl-cma-es", 1] == frame.query("problem == 'smd1' and method == 'bl-cma-es' and seed == 1")[
        "evaluations_lower"
    ].item()


def test_figures(experiment: bilevo.lab.Experiment) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    figure = experiment.plot_convergence()
    assert len(figure.axes) == 2 and len(figure.axes[0].lines) == 2
    assert len(experiment.plot_convergence("tp1").axes) == 1
    assert len(experiment.plot_savings("bl-cma-es").axes[0].patches) == 4
    assert experiment.plot_model_accuracy().axes
    with pytest.raises(bilevo.ProblemError, match="it has smd1, tp1"):
        experiment.plot_convergence("smd2")
    with pytest.raises(bilevo.ProblemError, match="it has bl-cma-es, cr-bl-cma-es"):
        experiment.plot_savings("boc")
    matplotlib.pyplot.close("all")


def test_mistakes(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    names: list[dict[str, Any]] = [{"methods": "bl-cma"}, {"problems": "smd13"}, {"methods": 5}, {"problems": None}]
    sizes: list[dict[str, Any]] = [{"runs": 0}, {"runs": float("nan")}, {"dims": [(0, 0)]}, {"dims": [(1,)]}, {"dims": 5}]
    for wrong in [*names, *sizes, {"workers": 0}, {"workers": 100_000}, {"settings": 5}, {"settings": "stop"}]:
        with pytest.raises(bilevo.ProblemError):
            bilevo.lab.run(**{**GRID, **wrong}, store=store)
    assert not store.exists()
    with pytest.raises(bilevo.BilevoError) as missing:
        bilevo.lab.read(store)
    assert missing.value.code == "E401"
    store.write_text("something else")
    with pytest.raises(bilevo.BilevoError) as foreign:
        bilevo.lab.run(**GRID, store=store)
    assert foreign.value.code == "E403"
    assert store.read_text() == "something else"


def test_a_copy_without_its_log_is_told(tmp_path: Path) -> None:
    grid: dict[str, Any] = {"methods": "bl-cma-es", "problems": "tp1", "runs": 1}
    store, part = tmp_path / "runs.db", tmp_path / "part.db"
    bilevo.lab.run(**grid, store=store)
    # as a killed process leaves it behind
    connection = sqlite3.connect(store)
    connection.execute("PRAGMA journal_mode = WAL")
    shutil.copy(store, part)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    with pytest.warns(bilevo.BilevoWarning, match="part.db` was copied without its log") as told:
        assert len(bilevo.lab.read(part)) == 1
    assert told[0].filename == __file__
    with pytest.warns(bilevo.BilevoWarning, match="part.db` was copied without its log") as told:
        assert len(bilevo.lab.run(**grid, store=part)) == 1
    assert told[0].filename == __file__
    assert len(bilevo.lab.read(store)) == 1


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as on Unix")
def test_ctrl_c_keeps_the_rows(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    code = f"import bilevo; bilevo.lab.run('bl-cma-es', 'smd6', runs=10**6, store={str(store)!r}, progress=True)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline().startswith("1/")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=600)
    assert "KeyboardInterrupt" in errors
    assert len(bilevo.lab.read(store)) >= 1
