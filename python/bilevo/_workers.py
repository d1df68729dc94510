"""Batches answered by several workers: processes, any executor, or a map-like callable.

A batch is cut into pieces sized by what an evaluation was measured to cost, so that sending them
costs little and no worker stays idle. What is evaluated does not depend on how it is cut, so the
answers do not depend on the number of workers.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from . import _worker
from ._errors import BilevoWarning, EvaluationError, ProblemError
from ._problem import BilevelProblem, Floats, Level
from ._worker import Answers, Failed, RemoteTraceback, Task

Workers: TypeAlias = Union[int, Executor, Callable[..., Iterable[Any]], Any, None]
Failures: TypeAlias = list[tuple[int, str, str, Union[BaseException, None]]]
#: What the engine gets back: values, constraint values, and (index, kind, message, exception).
Reply: TypeAlias = tuple[Floats, Floats, Failures]

#: A piece should take this many times longer than sending it.
_WORTH = 5.0
#: A pool that breaks as often as this is broken by one of the points in it.
_PATIENCE = 2
#: How often a wait is interrupted to look for Ctrl-C (some systems cannot interrupt a wait).
_WAKE = 0.5


class Pool:
    """Answers batches of one problem on workers; the engine calls it."""

    def __init__(self, problem: BilevelProblem, workers: Workers) -> None:
        self._problem = problem
        self._crew = _crew(problem, workers)
        self._cost: dict[str, float] = {}

    def __call__(self, level: Level, ids: npt.NDArray[np.uint64], x: Floats, y: Floats) -> Reply:
        points = len(ids)
        if self._crew.cheaper_here(self._cost.get(level), points):
            whole = slice(0, points)
            return _join([(whole, _worker.evaluate(self._problem, level, x, y))], points)
        pieces = list(cut(points, self._crew.width(), self._cost.get(level), self._crew.overhead))
        answered = self._crew.answer(level, x, y, pieces)
        busy = sum(answers.seconds for _, answers in answered)
        _blend(self._cost, level, busy / points)
        return _join(answered, points)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *error: object) -> None:
        self._crew.close(in_a_hurry=error[0] is not None)


def cut(points: int, width: int, cost: float | None, overhead: float) -> Iterator[slice]:
    """Even pieces of a batch for `width` workers.

    >>> [piece.stop - piece.start for piece in cut(56, 2, 0.01, 0.01)]
    [5, 5, 5, 5, 5, 5, 5, 5, 4, 4, 4, 4]
    >>> [piece.stop - piece.start for piece in cut(7, 2, 1e-5, 0.01)]
    [4, 3]
    >>> [piece.stop - piece.start for piece in cut(12, 2, 0.01, 0.01)]
    [3, 3, 3, 3]
    """
    if cost is None:
        size = math.ceil(points / (4 * width))
    else:
        size = math.ceil(_WORTH * overhead / max(cost, 1e-9))
    # as many pieces for every worker, so that none waits for the others
    count = min(math.ceil(math.ceil(points / max(size, 1)) / width) * width, points)
    start = 0
    for index in range(count):
        stop = start + (points - start + count - index - 1) // (count - index)
        yield slice(start, stop)
        start = stop


Answered: TypeAlias = list[tuple[slice, Answers]]


class _MapCrew:
    """A callable like `map`, which does as it pleases with its pieces."""

    overhead = 0.001

    def __init__(self, task: Task, mapper: Callable[..., Iterable[Any]]) -> None:
        self._task = task
        self._map = mapper

    def width(self) -> int:
        return _processors()

    def cheaper_here(self, cost: float | None, points: int) -> bool:
        return False

    def answer(self, level: Level, x: Floats, y: Floats, pieces: list[slice]) -> Answered:
        arguments = [(self._task, level, x[piece], y[piece]) for piece in pieces]
        try:
            answers = list(self._map(_call, arguments))
        except TypeError as error:
            raise ProblemError(
                f"workers could not be used like `map`: {error}"
                "\nhint: give a number of processes, an executor, or a callable such as multiprocessing.Pool(2).map"
            ) from error
        if len(answers) != len(pieces) or not all(isinstance(answer, Answers) for answer in answers):
            raise ProblemError("workers, called like `map`, did not return the results of the calls in their order")
        return list(zip(pieces, answers))

    def close(self, in_a_hurry: bool) -> None:
        pass


def _call(arguments: tuple[Task, Level, Floats, Floats]) -> Answers:
    task, level, x, y = arguments
    return task(level, x, y)


class _ExecutorCrew:
    """Any executor. One of ours, or a plain process pool, is rebuilt when it breaks."""

    def __init__(self, task: Task, executor: Executor, rebuild: Callable[[], Executor] | None, ours: bool) -> None:
        self._task = task
        self._executor = executor
        self._rebuild = rebuild
        self._ours = ours
        self._width = 0
        self._width_known_at = -math.inf
        #: Seconds that sending a piece and fetching its answers take, measured on the way.
        self.overhead = 0.001

    def width(self) -> int:
        now = time.monotonic()
        if now - self._width_known_at > 5.0:
            self._width, self._width_known_at = max(_width(self._executor), 1), now
        return self._width

    def cheaper_here(self, cost: float | None, points: int) -> bool:
        return self._ours and cost is not None and cost * points < 2 * self.overhead

    def answer(self, level: Level, x: Floats, y: Floats, pieces: list[slice]) -> Answered:
        answered: Answered = []
        waiting = list(pieces)
        for attempt in range(_PATIENCE + 1):
            lost = self._round(level, x, y, waiting, answered)
            if not lost:
                return answered
            self._repair(attempt)
            waiting = lost
        # A pool that broke again and again has a point in it that breaks it: one by one shows which.
        for piece in waiting:
            for index in range(piece.start, piece.stop):
                one = slice(index, index + 1)
                if self._round(level, x, y, [one], answered):
                    self._repair(_PATIENCE)
                    answered.append((one, _crashed()))
        return answered

    def _round(self, level: Level, x: Floats, y: Floats, pieces: list[slice], answered: Answered) -> list[slice]:
        """Sends pieces and collects what comes back; returns the pieces that were lost."""
        started = time.perf_counter()
        answers = self._ask(level, x, y, pieces)
        got = [(piece, given) for piece, given in zip(pieces, answers) if given is not None]
        self._learn(time.perf_counter() - started, [given for _, given in got])
        answered.extend(got)
        return [piece for piece, given in zip(pieces, answers) if given is None]

    def _ask(self, level: Level, x: Floats, y: Floats, pieces: list[slice]) -> list[Answers | None]:
        """The answers to each piece, or nothing where its worker was lost."""
        sent: list[Future[Answers] | None] = []
        for piece in pieces:
            try:
                sent.append(self._executor.submit(self._task, level, x[piece], y[piece]))
            except BrokenExecutor:
                sent.append(None)
        return [None if future is None else _unless_lost(future) for future in sent]

    def _learn(self, seconds: float, answers: list[Answers]) -> None:
        """What a batch took beyond the work of its busiest worker went into sending."""
        busy: dict[str, float] = {}
        for given in answers:
            busy[given.worker] = busy.get(given.worker, 0.0) + given.seconds
        if busy:
            overhead = seconds - max(busy.values())
            self.overhead += 0.3 * (min(max(overhead, 1e-5), 1.0) - self.overhead)

    def _repair(self, attempt: int) -> None:
        """Gets new workers in place of those that were lost."""
        if self._rebuild is not None:
            if attempt == 0:
                words = "a worker process died; the pool is built anew and its work sent again"
                warnings.warn(words, BilevoWarning, stacklevel=2)
            _stop(self._executor, in_a_hurry=True)
            self._executor = self._rebuild()
            self._ours = True
        elif isinstance(self._executor, BROKEN_FOR_GOOD):
            raise EvaluationError(
                "the executor given as workers broke\nhint: give a number of processes instead, which are then replaced"
            )

    def close(self, in_a_hurry: bool) -> None:
        if self._ours:
            _stop(self._executor, in_a_hurry)


class _DaskCrew(_ExecutorCrew):
    """The workers of a Dask cluster: a batch goes out in one message and its answers come back in one.

    Dask's own executor sends every piece by itself, and fetches every answer by itself.
    """

    def __init__(self, task: Task, executor: Any) -> None:
        super().__init__(task, executor, None, ours=False)
        self._client = executor._client
        # An evaluation is not looked up among earlier ones: finding its name takes longer than sending it.
        self._options = {**getattr(executor, "_kwargs", {}), "pure": False}
        #: The last batch's, let go only after the next has been sent: a client sends once in 10 ms, and
        #: word that they are no longer needed would go first and make the batch wait.
        self._held: list[Any] = []

    def _ask(self, level: Level, x: Floats, y: Floats, pieces: list[slice]) -> list[Answers | None]:
        import distributed

        wait: Any = distributed.wait
        points = ([level] * len(pieces), [x[piece] for piece in pieces], [y[piece] for piece in pieces])
        futures = self._client.map(self._task, *points, key=f"bilevo-{level}", **self._options)
        self._held = futures
        while any(future.status == "pending" for future in futures):
            try:
                wait(futures, timeout=_WAKE)
            except (FutureTimeout, TimeoutError):
                pass
        done = iter(self._client.gather([future for future in futures if future.status == "finished"]))
        return [next(done) if future.status == "finished" else _unless_lost(future) for future in futures]


BROKEN_FOR_GOOD = (ProcessPoolExecutor, ThreadPoolExecutor)


def _crew(problem: BilevelProblem, workers: Workers) -> _ExecutorCrew | _MapCrew:
    key = uuid.uuid4().hex
    if isinstance(workers, (int, np.integer)) and not isinstance(workers, bool):
        count = _processors() if workers == -1 else int(workers)
        if count < 1:
            raise ProblemError(f"workers is {workers}\nhint: a number of processes, or -1 for one on each processor")
        task = Task(problem, key, sent_before=True)
        packed = task.packed()

        def build() -> Executor:
            return ProcessPoolExecutor(count, initializer=_worker.start_worker, initargs=(key, packed))

        return _ExecutorCrew(task, build(), build, ours=True)
    task = Task(problem, key)
    # a Dask client is no executor but has one
    get_executor = None if isinstance(workers, Executor) else getattr(workers, "get_executor", None)
    executor: Any = workers if get_executor is None else get_executor()
    if hasattr(executor, "submit"):
        if not isinstance(executor, ThreadPoolExecutor):
            # Better to learn now than in the middle of a batch that it cannot be sent.
            task.packed()
        if hasattr(getattr(executor, "_client", None), "gather"):
            return _DaskCrew(task, executor)
        return _ExecutorCrew(task, executor, _rebuilder(executor), ours=False)
    if callable(workers):
        return _MapCrew(task, workers)
    raise ProblemError(
        f"workers is {workers!r}\nhint: give a number of processes, a concurrent.futures executor, a Dask client, or a map-like callable"
    )


def _rebuilder(executor: Any) -> Callable[[], Executor] | None:
    """How to make a plain process pool once more, with the settings it was made with."""
    if type(executor) is not ProcessPoolExecutor:
        return None
    inside = vars(executor)
    context = inside.get("_mp_context") or multiprocessing.get_context()
    settings = (inside.get("_max_workers"), context, inside.get("_initializer"), inside.get("_initargs", ()))
    return lambda: ProcessPoolExecutor(*settings)


def _unless_lost(future: Future[Answers]) -> Answers | None:
    """The answers, once they are there; nothing if the worker was lost."""
    try:
        while True:
            try:
                return future.result(timeout=_WAKE)
            except (FutureTimeout, TimeoutError):
                if future.done():
                    return future.result()
    except Exception as error:
        if _worker_was_lost(error):
            return None
        raise


def _worker_was_lost(error: Exception) -> bool:
    """Whether it was the worker that failed and not what it was asked to do."""
    # Dask has errors of its own for this, which need not be importable here.
    return isinstance(error, BrokenExecutor) or type(error).__name__ in ("KilledWorker", "CommClosedError")


def _crashed() -> Answers:
    """The answer of a point that kills every worker."""
    failure = Failed(0, "crash", "the worker process died in this evaluation", None, "")
    return Answers(np.full(1, np.nan), np.empty((1, 0)), [failure], 0.0, "")


def _stop(executor: Executor, in_a_hurry: bool) -> None:
    """Ends a pool; in a hurry, also what its processes are busy with."""
    processes = list((getattr(executor, "_processes", None) or {}).values()) if in_a_hurry else []
    executor.shutdown(wait=not in_a_hurry, cancel_futures=True)
    for process in processes:
        process.terminate()


def _width(executor: Any) -> int:
    """How many pieces an executor works on at a time."""
    client = getattr(executor, "_client", None)
    if client is not None and hasattr(client, "ncores"):
        return sum(client.ncores().values())
    for name in ("num_workers", "_max_workers"):
        width = getattr(executor, name, None)
        if isinstance(width, int) and width > 0:
            return width
    return _processors()


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _blend(known: dict[str, float], level: str, new: float) -> None:
    known[level] = new if level not in known else known[level] + 0.3 * (new - known[level])


def _join(answered: Answered, points: int) -> Reply:
    """The answers of all pieces, in the order of the batch."""
    columns = max((answers.constraints.shape[1] for _, answers in answered), default=0)
    values = np.full(points, np.nan)
    constraints = np.full((points, columns), np.nan)
    failures: Failures = []
    for piece, answers in sorted(answered, key=lambda pair: pair[0].start):
        values[piece] = answers.values
        if answers.constraints.shape[1] == columns:
            constraints[piece] = answers.constraints
        for failed in answers.failures:
            error = failed.exception
            if error is None and failed.traceback:
                # the exception itself could not be sent
                error = EvaluationError(failed.message)
            if error is not None and error.__traceback__ is None:
                error.__cause__ = RemoteTraceback(failed.traceback)
            failures.append((piece.start + failed.index, failed.kind, failed.message, error))
    return values, constraints, failures
