"""One call that solves a problem."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, Literal

import numpy as np

from . import _native
from ._bounds import Bounds, Integer
from ._constraints import Constraints, Objective, count_values
from ._errors import BilevoWarning, ProblemError
from ._keywords import checked_keywords
from ._known import Evaluations, Known, Layout, read_known
from ._problem import BestKnown, BilevelProblem, Counter, FollowerSolver, FunctionProblem, Maximize, Names
from ._progress import progress as make_progress
from ._result import Failure, Generation, Result
from ._settings import Budget, Seed, known_method, read_count, read_number, read_seconds, read_seed, read_settings
from ._starts import Start, Starts, read_start, read_starts
from ._workers import Pool, Workers, counter, is_number, processes
from .problems import AnyProblem, NamedProblem, find

Callback = Callable[[Result], Any]


@checked_keywords
def minimize(
    F: Objective | AnyProblem,
    f: Objective | None = None,
    bounds_upper: Bounds | None = None,
    bounds_lower: Bounds | None = None,
    *,
    integer_upper: Integer | None = None,
    integer_lower: Integer | None = None,
    follower: FollowerSolver | None = None,
    upper_constraints: Constraints | None = None,
    lower_constraints: Constraints | None = None,
    maximize: Maximize | None = None,
    method: str = "auto",
    budget: Budget = None,
    seed: Seed = None,
    x0: Starts | None = None,
    y0: Starts | None = None,
    start: Result | None = None,
    known: Known | None = None,
    workers: Workers = None,
    vectorized: bool = False,
    callback: Callback | None = None,
    progress: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
    eval_timeout: float | None = None,
    effort: Literal["local", "quick", "normal", "thorough", "budget"] | None = None,
    audit: bool = False,
    audit_evals: int | None = None,
    audit_tolerance: float | None = None,
    position: Literal["optimistic", "pessimistic"] | None = None,
    on_failure: str = "worst",
    retries: int = 0,
    settings: Mapping[str, Any] | None = None,
    best_known: BestKnown | None = None,
    names_upper: Names | None = None,
    names_lower: Names | None = None,
    name: str | None = None,
    equality_tolerance: float = 1e-9,
) -> Result:
    """Find the leader's best decision x, given that the follower responds with its own best y.

    Parameters
    ----------
    F, f:
        The leader's and the follower's objective, ``F(x, y)`` and ``f(x, y)``, both minimised
        unless ``maximize`` says otherwise. Instead of F you can pass a complete problem: a
        :class:`BilevelProblem`, the name of a built-in problem, or the path of a problem file.
    bounds_upper, bounds_lower:
        A pair (low, high) for each variable of x and of y. Equal bounds fix a variable; ``None`` or an
        infinity leaves a side open.
    integer_upper, integer_lower:
        Which variables of x and of y are whole numbers: indices, a mask, or True for all of them.
    follower:
        Your own solver for the follower: ``follower(x)`` returns y, of any length, or a :class:`bilevo.Answer`
        with f and anything else that F needs; F then receives that answer in place of y. Neither ``f`` nor
        ``bounds_lower`` is needed. If you give both, the solver's answer is a starting point that a search may
        improve and an audit checks. Each call counts as one lower evaluation.
    upper_constraints, lower_constraints:
        A function of (x, y) whose values must be <= 0, a list of such functions, or a mapping with
        the keys ``"G"`` (<= 0) and ``"H"`` (= 0). SciPy's ``NonlinearConstraint`` (of a function of
        (x, y)), ``LinearConstraint`` (of the level's own variables, or of x and y together) and
        ``{"type": "ineq", "fun": ...}`` work too.
    maximize:
        ``"upper"``, ``"lower"`` or ``"both"``.
    method:
        A name from :func:`bilevo.methods`. ``"auto"``, the default, chooses one that suits the problem; if
        that is not the usual one (because of whole numbers, or more than 100 variables), the result's
        ``notice`` says so.
    budget:
        Limit on the upper evaluations, or ``{"upper": ..., "lower": ...}``, or ``{"total": ...}`` for both
        levels together, exact to within one batch.
    seed:
        A whole number or a NumPy ``Generator``. By default, a random one, which the result records.
    x0, y0:
        Where to start: a decision of the leader, and the follower's answer to it if you know it. With
        ``follower=`` you may give several decisions as rows; all of them are tried first. They have no effect on
        a run that continues from a checkpoint.
    start:
        The result of a similar problem (the same variables, other functions): the run begins at its
        answer, or at the nearest point of the box.
    known:
        Evaluations that you already have: another run's ``result.evaluations``, a CSV file, a pandas frame, a
        mapping or an array with columns x, y, F, G, f, g, or a list of these. They are not repeated and do not
        count. ``auto`` learns from all of them; other methods start at the best. ``result.notice`` says which rows
        were ignored.
    workers:
        A number of processes (-1: one per processor), any ``concurrent.futures`` executor, a
        Dask client, or a map-like callable. The result does not depend on it. Your functions then
        never run in this process: if a point crashes its worker, only that evaluation fails.
    vectorized:
        Whether the functions take whole batches: x and y with one row per point.
    callback:
        Called with the result so far after every generation, and at least every 50 evaluations or
        every second (the current batch is finished first). If it returns a true value or raises
        ``StopIteration``, the run ends; any other exception ends the run and propagates.
    progress:
        Show a progress bar or line.
    checkpoint:
        A file to which the run is saved every few seconds. If the file already holds this run, it
        continues from there; the budget may be larger than before.
    time_limit:
        Seconds after which the run ends, including earlier sessions and the audit (for which a fifth is
        reserved). Workers and programs that are still busy are stopped; a function that runs in this
        process cannot be stopped.
    eval_timeout:
        Seconds that one evaluation may take; one that takes longer fails, and its process is
        stopped. Works with a number of ``workers``, and for problem files that name a program.
    effort:
        When the run has searched enough: ``"quick"`` stops earlier than ``"normal"``, the default, and
        ``"thorough"`` later; ``"budget"`` spends the whole budget. ``"local"`` stops at the first verified
        answer, which is enough if ``x0`` or ``start`` is close to the optimum. For ``auto`` only.
    audit:
        Solve the follower's problem again at the end, with different methods and from many starts;
        ``result.audit`` says whether the answer stands. Its evaluations are counted separately.
    audit_evals, audit_tolerance:
        Limit on the lower evaluations of the audit, and the largest gap that counts as none, relative to
        ``max(1, |f|)``. Each implies ``audit``.
    position:
        Which answer counts if several are equally good for the follower, in the search and in the
        audit: the best (``"optimistic"``) or the worst (``"pessimistic"``) for the leader. The search
        then also evaluates F at the points of the follower's searches. Implies ``audit``.
    on_failure:
        What to do if an evaluation raises an exception or returns no finite number: ``"worst"`` (it ranks behind
        all others) or ``"stop"`` (the run ends with a :class:`bilevo.EvaluationError`).
    retries:
        How often to retry a failed evaluation first.
    settings:
        Settings of the method by path, as in ``{"upper.population": 20}``.
    best_known:
        F at the optimum, (F, f), or a list of such; a run stops when it is reached.
    names_upper, names_lower, name, equality_tolerance:
        As for :class:`BilevelProblem`.

    Examples
    --------
    A road operator sets a toll; drivers make fewer trips as it rises.

    >>> import bilevo
    >>> result = bilevo.minimize(
    ...     lambda x, y: x[0] * y[0],                 # income of the operator
    ...     lambda x, y: (y[0] - 8 + x[0]) ** 2,      # what the drivers minimise
    ...     [(0, 10)], [(0, 10)], maximize="upper", seed=1)
    >>> result.x.round(1), result.y.round(1)
    (array([4.]), array([4.]))
    """
    own = {
        "follower": follower,
        "f": f,
        "bounds_upper": bounds_upper,
        "bounds_lower": bounds_lower,
        "integer_upper": integer_upper,
        "integer_lower": integer_lower,
        "upper_constraints": upper_constraints,
        "lower_constraints": lower_constraints,
        "maximize": maximize,
        "best_known": best_known,
        "names_upper": names_upper,
        "names_lower": names_lower,
        "name": name,
    }
    time_limit, eval_timeout = read_seconds("time_limit", time_limit), read_seconds("eval_timeout", eval_timeout)
    count = count_values if workers is None else counter(workers, time_limit, eval_timeout)
    problem = _problem(F, own, vectorized, equality_tolerance, count)
    if (audit or position is not None) and problem.n_lower == 0:
        raise ProblemError(
            "an audit needs the follower's objective to look for better answers, and here only its own solver is given"
            "\nhint: give f and bounds_lower as well, and the audit checks the follower's answers"
        )
    wanted = read_settings(settings, budget, effort)
    if position in ("optimistic", "pessimistic"):
        wanted.append(("position.kind", position))
    starts = read_starts(x0, y0, problem.n_upper, problem.n_lower)
    if start is not None:
        starts = read_start(start, starts, problem.n_upper, problem.n_lower)
    run = _open(problem, method, seed, wanted, checkpoint, starts, known, nearest=start is not None)
    with ExitStack() as stack:
        watch = _Watch(run, callback, progress)
        stack.callback(watch.close)
        evaluator = _evaluator(problem, workers, eval_timeout, stack)
        raw, failures = run.go(
            evaluator,
            on_generation=watch if watch.wanted else None,
            checkpoint=None if checkpoint is None else os.fspath(checkpoint),
            time_limit=time_limit,
            eval_timeout=eval_timeout,
            on_failure=on_failure,
            retries=read_count("retries", retries, most=1000),
            audit=bool(audit) or any(given is not None for given in (audit_evals, audit_tolerance, position)),
            audit_evals=None if audit_evals is None else read_count("audit_evals", audit_evals),
            audit_tolerance=read_number("audit_tolerance", audit_tolerance, "a number from 0 on"),
            position=position,
        )
    failed = [_failure(*failure) for failure in failures]
    place = problem._source()[0] if isinstance(problem, NamedProblem) else None
    result = Result._read(json.loads(raw), _history(run), failed, run.names(), place)

    def write_page(path: str, evaluations: int | None, units: dict[str, str]) -> None:
        with ExitStack() as stack:
            evaluator = _evaluator(problem, workers, eval_timeout, stack)
            run.report(evaluator, path, raw, evaluations, units, eval_timeout)

    object.__setattr__(result, "_write_page", write_page)
    object.__setattr__(result, "evaluations", Evaluations(*run.evaluations(), *run.names()))
    _warn(result)
    return result


def _problem(
    F: Objective | AnyProblem, own: dict[str, Any], vectorized: bool, equality_tolerance: float, count: Counter
) -> BilevelProblem:
    if isinstance(F, (BilevelProblem, str, os.PathLike, type)):
        given = [key for key, value in own.items() if value is not None]
        if vectorized:
            given.append("vectorized")
        if given:
            raise ProblemError(f"`{given[0]}` belongs to the problem, which is given as a whole\nhint: leave it out")
        return find(F)  # type: ignore[arg-type]
    for key in ("bounds_upper",) if own["follower"] is not None else ("f", "bounds_upper", "bounds_lower"):
        if own[key] is None:
            raise ProblemError(
                f"`{key}` is missing\nhint: minimize(F, f, bounds_upper, bounds_lower), minimize(problem), or, with your"
                " own solver for the follower, minimize(F, follower=solve, bounds_upper=...)"
            )
    own |= {"vectorized": vectorized, "equality_tolerance": equality_tolerance}
    return FunctionProblem(F, **own, _count=count)


def _open(
    problem: BilevelProblem,
    method: str,
    seed: Seed,
    settings: list[tuple[str, str]],
    checkpoint: str | os.PathLike[str] | None,
    starts: list[Start],
    known: Known | None,
    nearest: bool,
) -> _native.Run:
    """A new run, or the one in the checkpoint."""
    arguments = (problem._spec_json(), *problem._source(), known_method(method))
    if checkpoint is not None and os.path.exists(checkpoint):
        wanted = None if seed is None else read_seed(seed)
        return _native.Run.resume(os.fspath(checkpoint), *arguments, wanted, settings)
    run = _native.Run(*arguments, read_seed(seed), settings)
    layout = Layout(*run.table())
    for table in read_known(known, layout):
        if isinstance(table, str):
            run.recall_file(table)
        else:
            x, y, F, G, f, g, answers = table
            run.recall(x, y, (F, G), (f, g), answers)
    run.recalled()
    run.start_at(starts, nearest)
    return run


def _evaluator(
    problem: BilevelProblem, workers: Workers, eval_timeout: float | None, stack: ExitStack
) -> _native.Functions | _native.Source | Pool:
    """The evaluator of the batches: this process, threads of the engine, or a pool of workers."""
    if isinstance(problem, NamedProblem) and (workers is None or is_number(workers)):
        return problem._with_jobs(1 if workers is None else processes(workers, "threads"))
    if eval_timeout == 0:
        raise ProblemError("eval_timeout is 0, so no evaluation could end in time\nhint: leave it out for no limit")
    if eval_timeout is not None and not is_number(workers):
        raise ProblemError(
            "eval_timeout stops the process of an evaluation, so it needs worker processes"
            "\nhint: give a number of processes, as in workers=1"
        )
    if workers is None:
        return problem._evaluator()
    return stack.enter_context(Pool(problem, workers))


def _failure(
    level: str, id: int, x: list[float], y: list[float], message: str, exception: BaseException | None
) -> Failure:
    return Failure(level, id, np.array(x), np.array(y), message, exception)


def _history(run: _native.Run) -> list[Generation]:
    return [Generation._read(record, seconds) for record, seconds in json.loads(run.history())]


class _Watch:
    """Reports progress to the callback and the progress bar; returns true to end the run."""

    def __init__(self, run: _native.Run, callback: Callback | None, progress: bool) -> None:
        if callback is not None and not callable(callback):
            raise ProblemError(f"callback is {callback!r}, which is not a function\nhint: give callback(result)")
        self._names = run.names()
        self._callback = callback
        self._progress = make_progress(run.max_upper_evals) if progress else None
        self._history: list[Generation] = []

    @property
    def wanted(self) -> bool:
        return self._callback is not None or self._progress is not None

    def __call__(self, record: str | None, seconds: float, raw: str) -> bool:
        if record is not None:
            self._history.append(Generation._read(json.loads(record), seconds))
        result = Result._read(json.loads(raw), self._history, names=self._names)
        if self._progress is not None:
            self._progress.show(result)
        if self._callback is None:
            return False
        try:
            return bool(self._callback(result))
        except StopIteration:
            return True

    def close(self) -> None:
        if self._progress is not None:
            self._progress.close()


def _warn(result: Result) -> None:
    if result.n_failed:
        first = f"; the first: {result.failures[0].message}" if result.failures else ""
        words = f"{result.n_failed} of {result.nfev} evaluations failed{first}"
        warnings.warn(BilevoWarning(words, "W301"), stacklevel=4)
    for told in result.warnings:
        warnings.warn(told, stacklevel=4)
