"""Experiments: methods x problems x seeds, in one file, with frames and figures.

>>> import bilevo, tempfile, os
>>> store = os.path.join(tempfile.mkdtemp(), "small.db")
>>> experiment = bilevo.lab.run(["bl-cma-es", "cr-bl-cma-es"], ["smd1", "tp1"], runs=2, store=store)
>>> experiment
<Experiment small.db: 8 runs of 2 methods on 2 problems>

Every finished run is a row of the store, written when it ends. Call :func:`run` again, and it does only the
missing runs. The store has the format that ``bilevo experiment`` reads and writes.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._errors import BilevoWarning, ProblemError
from ._optional import pandas as load_pandas
from ._optional import pyplot
from ._settings import method_name, read_count, read_settings

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

__all__ = ["Experiment", "read", "run"]


def run(
    methods: str | Iterable[str],
    problems: str | Iterable[str],
    *,
    store: str | os.PathLike[str],
    runs: int = 21,
    dims: Iterable[tuple[int, int]] = (),
    first_seed: int = 1,
    settings: Mapping[str, Any] | Iterable[Mapping[str, Any]] = (),
    workers: Any = 1,
    progress: bool = False,
) -> Experiment:
    """Do the runs of a grid that are missing in a store, and return the store's contents.

    Parameters
    ----------
    methods, problems:
        Names; every method is run on every problem.
    store:
        The file. Rows of other grids in it are kept.
    runs, first_seed:
        Seeds ``first_seed``, ``first_seed + 1``, ... of every combination.
    dims:
        Sizes (upper, lower) for the problems that come in several.
    settings:
        Changes to the methods' settings; with a list, every combination is run with each of them.
    workers:
        A number of threads (-1: one per processor), an executor, or a Dask client; each worker gets
        one run at a time. The results do not depend on it.
    progress:
        Prints a line for every run.
    """
    if isinstance(settings, str) or not isinstance(settings, Iterable):
        raise ProblemError(f"settings is {settings!r}\nhint: a dictionary of settings, or a list of such")
    several = [settings] if isinstance(settings, Mapping) else list(settings)
    jobs, send = _sender(workers)
    try:
        _, missing = _native.lab_run(
            os.fspath(store),
            [method_name(name) for name in _names("methods", methods)],
            _names("problems", problems),
            _sizes(dims),
            read_count("runs", runs),
            read_count("first_seed", first_seed),
            [read_settings(one, None) for one in several],
            jobs,
            send,
            _print_progress if progress else None,
        )
    finally:
        if send is not None:
            send.stop()
    _warn_of(missing)
    return Experiment(Path(store))


def read(store: str | os.PathLike[str]) -> Experiment:
    """Read the runs of a store."""
    experiment = Experiment(Path(store))
    _warn_of(experiment._missing)
    return experiment


@dataclass(frozen=True)
class Experiment:
    """The runs of a store."""

    path: Path
    _rows: list[dict[str, Any]] = field(init=False, repr=False, compare=False)
    #: A message about a missing part of the store.
    _missing: str | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rows, missing = _native.lab_rows(os.fspath(self.path), False)
        object.__setattr__(self, "_rows", json.loads(rows))
        object.__setattr__(self, "_missing", missing)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        methods, problems = ({row["result"][key] for row in self._rows} for key in ("method", "problem"))
        parts = (_counted(len(self), "run"), _counted(len(methods), "method"), _counted(len(problems), "problem"))
        return f"<Experiment {self.path.name}: {parts[0]} of {parts[1]} on {parts[2]}>"

    @property
    def results(self) -> list[dict[str, Any]]:
        """One result for each run, as the command line prints it with ``--format json``."""
        return [row["result"] for row in self._rows]

    @property
    def failures(self) -> list[tuple[dict[str, Any], str]]:
        """The runs that failed, with the reason."""
        return [(run, message) for run, message in json.loads(_native.lab_failures(os.fspath(self.path)))]

    def frame(self) -> pandas.DataFrame:
        """One row for each run (needs the extra ``pandas``)."""
        frame: pandas.DataFrame = load_pandas().DataFrame([_flat(result) for result in self.results])
        return frame

    def traces(self) -> pandas.DataFrame:
        """The best solution over every run: one row for each change (needs the extra ``pandas``)."""
        rows = []
        for row in self._with_traces():
            result = row["result"]
            key = {name: result[name] for name in ("problem", "upper_dim", "lower_dim", "method", "settings", "seed")}
            for upper, lower, value, accuracy in row["trace"]:
                rows.append({**key, "nfev_upper": upper, "nfev_lower": lower, "fun": value, "accuracy": accuracy})
        frame: pandas.DataFrame = load_pandas().DataFrame(rows)
        return frame

    def plot_convergence(self, problem: str | None = None) -> Figure:
        """Median accuracy (or F) over the evaluations, one line for each method (needs ``plot``)."""
        plt = pyplot()
        rows = self._with_traces()
        names = sorted({row["result"]["problem"] for row in rows}) if problem is None else [problem]
        _known(problem, rows)
        figure: Figure
        figure, axes = plt.subplots(
            1, len(names), figsize=(1 + 3.6 * len(names), 3.4), squeeze=False, layout="constrained"
        )
        for name, axis in zip(names, axes[0]):
            _draw_convergence(axis, name, [row for row in rows if row["result"]["problem"] == name])
        axes[0][-1].legend()
        return figure

    def plot_savings(self, reference: str) -> Figure:
        """Median evaluations of every method, as a share of the reference's (needs ``plot``)."""
        plt = pyplot()
        medians = self._medians(lambda result: result["evaluations"]["total"])
        problems = sorted({problem for _, problem in medians})
        methods = sorted({method for method, _ in medians})
        if reference not in methods:
            raise ProblemError(f"the store has no runs of {reference!r}\nhint: it has {', '.join(methods)}")
        figure: Figure
        figure, axis = plt.subplots(figsize=(2 + 0.5 * len(problems) * len(methods), 3.4), layout="constrained")
        places = np.arange(len(problems))
        width = 0.8 / len(methods)
        for index, method in enumerate(methods):
            shares = [
                medians.get((method, problem), float("nan")) / medians.get((reference, problem), float("nan"))
                for problem in problems
            ]
            axis.bar(places + index * width, shares, width, label=method)
        axis.axhline(1.0, color="black", linewidth=0.8)
        axis.set_xticks(places + 0.4 - width / 2, problems)
        axis.set_ylabel(f"evaluations / {reference}")
        axis.legend()
        return figure

    def plot_model_accuracy(self) -> Figure:
        """The share of pairs that each method's ranking model orders correctly (needs ``plot``)."""
        plt = pyplot()
        groups: dict[str, list[float]] = {}
        for result in self.results:
            if result["model_accuracy"] is not None:
                groups.setdefault(result["method"], []).append(result["model_accuracy"])
        if not groups:
            raise ProblemError("no run of this store has a ranking model\nhint: methods called cr-... have one")
        figure: Figure
        figure, axis = plt.subplots(figsize=(2 + 1.2 * len(groups), 3.4), layout="constrained")
        axis.boxplot(list(groups.values()))
        axis.set_xticks(range(1, len(groups) + 1), list(groups))
        axis.axhline(0.5, color="black", linewidth=0.8, linestyle=":")
        axis.set_ylabel("share of pairs ordered correctly")
        return figure

    def _with_traces(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads(_native.lab_rows(os.fspath(self.path), True)[0])
        return rows

    def _medians(self, value: Any) -> dict[tuple[str, str], float]:
        groups: dict[tuple[str, str], list[float]] = {}
        for result in self.results:
            groups.setdefault((_label(result), result["problem"]), []).append(value(result))
        return {key: float(np.median(values)) for key, values in groups.items()}


def _warn_of(missing: str | None) -> None:
    """Warns the caller of :func:`run` or :func:`read` that a part of the store is missing."""
    if missing is not None:
        warnings.warn(BilevoWarning(missing, "W402"), stacklevel=3)


def _label(result: Mapping[str, Any]) -> str:
    """A method's name with its changed settings."""
    return " ".join(filter(None, (result["method"], result["settings"])))


def _known(problem: str | None, rows: Sequence[Mapping[str, Any]]) -> None:
    names = sorted({row["result"]["problem"] for row in rows})
    if not names:
        raise ProblemError("the store is empty")
    if problem is not None and problem not in names:
        raise ProblemError(f"the store has no runs of {problem!r}\nhint: it has {', '.join(names)}")


def _draw_convergence(axis: Any, name: str, rows: list[dict[str, Any]]) -> None:
    known = all(row["result"]["accuracy"] is not None for row in rows)
    for method in sorted({_label(row["result"]) for row in rows}):
        curves = [row["trace"] for row in rows if _label(row["result"]) == method]
        grid, median = _median_curve(curves, known)
        axis.step(grid, median, where="post", label=method)
    if known:
        axis.set_yscale("log")
    axis.set_title(name)
    axis.set_xlabel("evaluations at both levels")
    axis.set_ylabel("distance from the best known F" if known else "F")


def _median_curve(curves: list[list[Any]], known: bool) -> tuple[Any, Any]:
    """The median of step functions, at every step of any of them."""
    steps = [(np.array([p[0] + p[1] for p in c]), np.array([p[3] if known else p[2] for p in c], float)) for c in curves]
    grid = np.unique(np.concatenate([places for places, _ in steps]))
    values = np.full((len(steps), len(grid)), np.nan)
    for row, (places, heights) in zip(values, steps):
        index = np.searchsorted(places, grid, side="right") - 1
        row[index >= 0] = heights[index[index >= 0]]
    # only where every run has begun
    begun = ~np.isnan(values).any(axis=0)
    return grid[begun], np.median(values[:, begun], axis=0)


def _flat(result: Mapping[str, Any]) -> dict[str, Any]:
    """A result without nested parts: `evaluations.upper` becomes `evaluations_upper`."""
    flat: dict[str, Any] = {}
    for key, value in result.items():
        if isinstance(value, Mapping):
            flat.update({f"{key}_{name}": inner for name, inner in value.items()})
        else:
            flat[key] = value
    if "accuracy" in flat:
        # absent where no optimum is known
        del flat["accuracy"]
        flat.update(accuracy_upper=None, accuracy_lower=None)
    return flat


def _names(what: str, given: str | Iterable[str]) -> list[str]:
    if not isinstance(given, (str, Iterable)):
        raise ProblemError(f"{what} is {given!r}\nhint: give a name, or a list of names")
    return [given] if isinstance(given, str) else [str(name) for name in given]


def _sizes(dims: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    try:
        return [(read_count("dims", upper), read_count("dims", lower)) for upper, lower in dims]
    except (TypeError, ValueError):
        raise ProblemError(f"dims is {dims!r}\nhint: a list of sizes (upper, lower), as in [(2, 3), (5, 5)]") from None


def _print_progress(done: int, failed: int, total: int, name: str | None) -> None:
    if name is not None:
        print(f"{done + failed}/{total} {name}", flush=True)


class _Sender:
    """Does runs on an executor; called by threads of the engine."""

    def __init__(self, executor: Any) -> None:
        self._executor = executor
        self._stopped = False

    def __call__(self, task: str) -> str:
        future = self._executor.submit(_native.lab_task, task)
        while not self._stopped:
            try:
                return str(future.result(timeout=0.5))
            except (FutureTimeout, TimeoutError):
                if future.done():
                    return str(future.result())
        future.cancel()
        raise CancelledError

    def stop(self) -> None:
        self._stopped = True


def _sender(workers: Any) -> tuple[int, _Sender | None]:
    """The number of simultaneous runs, and the executor, if it is not threads of this process."""
    from ._workers import _width, is_number, open_executor, processes

    if is_number(workers):
        return processes(workers, "threads"), None
    executor = open_executor(workers)
    if executor is None:
        raise ProblemError(f"workers is {workers!r}\nhint: give a number of threads, an executor, or a Dask client")
    # each worker has a second run waiting
    return 2 * _width(executor), _Sender(executor)


def _counted(count: int, what: str) -> str:
    """
    >>> _counted(1, "run"), _counted(2, "run")
    ('1 run', '2 runs')
    """
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
