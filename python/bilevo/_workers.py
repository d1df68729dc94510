"""Batches answered by several workers: processes, any executor, or a map-like callable.

A batch is divided into pieces according to the measured cost of an evaluation, so that sending them
costs little and no worker stays idle. The division does not affect what is evaluated, so the answers do
not depend on the number of workers.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, TypeAlias, TypeGuard, Union

import numpy as np
import numpy.typing as npt

from ._constraints import Objective, count_values
from ._crew import Answered, Crew, Limits
from ._errors import BilevoWarning, EvaluationError, OutOfTime, ProblemError
from ._problem import BilevelProblem, Counter, Floats, Level
from ._processes import MOST, Processes, call_elsewhere
from ._worker import Answers, Failed, RemoteTraceback, Task, call_packed, pack

Workers: TypeAlias = Union[int, Executor, Callable[..., Iterable[Any]], Any, None]
Failures: TypeAlias = list[tuple[int, str, str, Union[BaseException, None]]]
#: What the engine gets back: values, constraint values, and (index, kind, message, exception).
Reply: TypeAlias = tuple[Floats, Floats, Failures]

#: A piece should take this many times longer than sending it.
_WORTH = 5.0
#: If a pool breaks this often, one of the points is to blame.
_PATIENCE = 2


class Pool:
    """Evaluates batches of one problem on workers, never in this process; the engine calls it."""

    def __init__(self, problem: BilevelProblem, workers: Workers) -> None:
        self._crew = _crew(problem, workers)
        self._cost: dict[str, float] = {}
        self._limits = Limits()

    def limit(self, left: float | None, each: float | None) -> None:
        """Sets the seconds left for the run, and the limit for one evaluation."""
        self._limits = Limits.within(left, each)

    def __call__(self, level: Level, ids: npt.NDArray[np.uint64], x: Floats, y: Floats) -> Reply:
        points = len(ids)
        pieces = list(cut(points, self._crew.width(), self._cost.get(level), self._crew.overhead))
        answered = self._crew.answer(level, x, y, pieces, self._limits)
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
    # equally many pieces for every worker, so that none has to wait for the others
    count = min(math.ceil(math.ceil(points / max(size, 1)) / width) * width, points)
    start = 0
    for index in range(count):
        stop = start + (points - start + count - index - 1) // (count - index)
        yield slice(start, stop)
        start = stop


class _MapCrew(Crew):
    """A callable like `map`, which decides itself how to process the pieces."""

    def __init__(self, task: Task, mapper: Callable[..., Iterable[Any]]) -> None:
        super().__init__()
        self._task = task
        self._map = mapper

    def width(self) -> int:
        return _processors()

    def answer(self, level: Level, x: Floats, y: Floats, pieces: list[slice], limits: Limits) -> Answered:
        limits.check()
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


def _call(arguments: tuple[Task, Level, Floats, Floats]) -> Answers:
    task, level, x, y = arguments
    return task(level, x, y)


class _ExecutorCrew(Crew):
    """An executor that the user gave. If a plain process pool breaks, we replace it by our own."""

    def __init__(self, task: Task, executor: Executor) -> None:
        super().__init__()
        self._task = task
        self._executor = executor
        self._rebuild = _rebuilder(executor)
        self._ours = False
        self._width = 0
        self._width_known_at = -math.inf

    def width(self) -> int:
        now = time.monotonic()
        if now - self._width_known_at > 5.0:
            self._width, self._width_known_at = max(_width(self._executor), 1), now
        return self._width

    def answer(self, level: Level, x: Floats, y: Floats, pieces: list[slice], limits: Limits) -> Answered:
        answered: Answered = []
        waiting = list(pieces)
        for attempt in range(_PATIENCE + 1):
            lost = self._round(level, x, y, waiting, answered, limits)
            if not lost:
                return answered
            self._repair(attempt)
            waiting = lost
        # One of the points keeps breaking the pool: evaluate them one by one to find it.
        for piece in waiting:
            for index in range(piece.start, piece.stop):
                one = slice(index, index + 1)
                if self._round(level, x, y, [one], answered, limits):
                    self._repair(_PATIENCE)
                    answered.append((one, _crashed()))
        return answered

    def _round(
        self, level: Level, x: Floats, y: Floats, pieces: list[slice], answered: Answered, limits: Limits
    ) -> list[slice]:
        """Sends pieces and collects the answers; returns the pieces that were lost."""
        started = time.perf_counter()
        answers = self._ask(level, x, y, pieces, limits)
        got = [(piece, given) for piece, given in zip(pieces, answers) if given is not None]
        self.learn(time.perf_counter() - started, [given for _, given in got])
        answered.extend(got)
        return [piece for piece, given in zip(pieces, answers) if given is None]

    def _ask(self, level: Level, x: Floats, y: Floats, pieces: list[slice], limits: Limits) -> list[Answers | None]:
        """The answers to each piece, or None if its worker was lost."""
        sent: list[Future[Answers] | None] = []
        try:
            for piece in pieces:
                try:
                    sent.append(self._executor.submit(self._task, level, x[piece], y[piece]))
                except BrokenExecutor:
                    sent.append(None)
            return [None if future is None else _unless_lost(future, limits) for future in sent]
        except RuntimeError as error:
            raise _closed(error) from error
        finally:
            for future in sent:
                if future is not None:
                    future.cancel()  # if the batch was interrupted

    def _repair(self, attempt: int) -> None:
        """Replaces lost workers."""
        if self._rebuild is not None:
            if attempt == 0:
                words = "a worker process died; a new pool takes its place, and the work is sent again"
                warnings.warn(BilevoWarning(words, "W302"), stacklevel=2)
            _stop(self._executor, in_a_hurry=True)
            self._executor = self._rebuild()
            self._ours = True
        elif isinstance(self._executor, BROKEN_FOR_GOOD):
            raise EvaluationError(
                "the executor given as workers broke\nhint: give a number of processes instead; bilevo replaces those that die"
            )

    def close(self, in_a_hurry: bool) -> None:
        if self._ours:
            _stop(self._executor, in_a_hurry)


def _closed(error: BaseException) -> EvaluationError:
    return EvaluationError(
        f"the workers cannot be used any more: {error}\nhint: keep the executor or the client open until the run has ended"
    )


class _DaskCrew(_ExecutorCrew):
    """The workers of a Dask cluster: a batch goes out in one message and its answers come back in one.

    Dask's own executor would send every piece and fetch every answer separately.
    """

    def __init__(self, task: Task, executor: Any) -> None:
        super().__init__(task, executor)
        self._client = executor._client
        # Not looked up among earlier evaluations: computing its key takes longer than sending it.
        self._options = {**getattr(executor, "_kwargs", {}), "pure": False}
        #: Futures of the last batch, released only after the next has been sent: a client sends every 10 ms,
        #: and the message that releases them would otherwise delay the next batch.
        self._held: list[Any] = []

    def _ask(self, level: Level, x: Floats, y: Floats, pieces: list[slice], limits: Limits) -> list[Answers | None]:
        import distributed

        wait: Any = distributed.wait
        points = ([level] * len(pieces), [x[piece] for piece in pieces], [y[piece] for piece in pieces])
        if self._client.status != "running":
            raise _closed(RuntimeError(f"the Dask client is {self._client.status}"))
        futures = self._client.map(self._task, *points, key=f"bilevo-{level}", **self._options)
        self._held = futures
        while any(future.status == "pending" for future in futures):
            try:
                limits.check()
                wait(futures, timeout=limits.wake())
            except (FutureTimeout, TimeoutError):
                pass
            except OutOfTime:
                self._client.cancel(futures)
                raise
        if any(future.status == "cancelled" for future in futures):
            raise _closed(RuntimeError("the Dask client was closed"))
        done = iter(self._client.gather([future for future in futures if future.status == "finished"]))
        return [next(done) if future.status == "finished" else _unless_lost(future, limits) for future in futures]


BROKEN_FOR_GOOD = (ProcessPoolExecutor, ThreadPoolExecutor)


def _crew(problem: BilevelProblem, workers: Workers) -> Crew:
    if is_number(workers):
        return Processes(problem, processes(workers, "processes"))
    key = uuid.uuid4().hex
    task = Task(problem, key)
    executor = open_executor(workers)
    if executor is not None:
        if not isinstance(executor, ThreadPoolExecutor):
            # Better to learn now than in the middle of a batch that the problem cannot be sent.
            task.packed()
        if hasattr(getattr(executor, "_client", None), "gather"):
            return _DaskCrew(task, executor)
        return _ExecutorCrew(task, executor)
    if callable(workers):
        return _MapCrew(task, workers)
    raise _no_workers(workers)


def open_executor(workers: Any) -> Any:
    """The executor of these workers, if they have one."""
    executor = None if _is_closed(workers) else _executor(workers)
    if _is_closed(workers) or _is_closed(getattr(executor, "_client", None)):
        raise ProblemError("workers is a Dask client that is closed\nhint: keep it open until the run has ended")
    return executor


def _is_closed(client: Any) -> bool:
    """Whether this is a Dask client that was closed."""
    return getattr(client, "status", None) in ("closed", "closing")


def _no_workers(workers: Workers) -> ProblemError:
    return ProblemError(
        f"workers is {workers!r}\nhint: give a number of processes, a concurrent.futures executor, a Dask client,"
        " or a map-like callable"
    )


def is_number(workers: Workers) -> TypeGuard[int]:
    return isinstance(workers, (int, np.integer)) and not isinstance(workers, bool)


def processes(workers: int, what: str) -> int:
    """A number of processes or threads; -1 means one per processor."""
    count = _processors() if workers == -1 else int(workers)
    if count < 1:
        raise ProblemError(f"workers is {workers}\nhint: a number of {what}, or -1 for one per processor")
    if count > MOST:
        raise ProblemError(
            f"workers is {workers}\nhint: at most {MOST} {what} on one machine, and -1 for one per processor;"
            " several machines take an executor or a Dask client"
        )
    return count


def counter(workers: Workers, left: float | None, each: float | None) -> Counter:
    """Counts the values of constraints on the workers, within a time limit: like other functions, they may crash."""

    def count(functions: Sequence[Objective], x: Floats, y: Floats, vectorized: bool) -> list[int]:
        packed = pack((count_values, functions, x, y, vectorized))
        limits = Limits.within(left, each)
        counts: list[int]
        if is_number(workers):
            counts = call_elsewhere(packed, limits, len(functions))
        elif (executor := _executor(workers)) is not None:
            counts = _in_time(executor.submit(call_packed, packed), limits, len(functions))
        elif callable(workers):
            [counts] = workers(call_packed, [packed])
        else:
            raise _no_workers(workers)
        return counts

    return count


def _in_time(future: Future[Any], limits: Limits, calls: int) -> Any:
    """The result of this many calls, unless they take too long."""
    try:
        while (result := _if_done(future, limits)) is None:
            limits.check_calls(calls)
        return result
    finally:
        future.cancel()


def _if_done(future: Future[Any], limits: Limits) -> Any:
    """The result, if it arrives before the clock has to be checked again."""
    try:
        return future.result(timeout=limits.wake())
    except (FutureTimeout, TimeoutError):
        return future.result() if future.done() else None


def _executor(workers: Workers) -> Any:
    """The executor that was given, or that of a Dask client; None for anything else."""
    get_executor = None if isinstance(workers, Executor) else getattr(workers, "get_executor", None)
    executor = workers if get_executor is None else get_executor()
    return executor if hasattr(executor, "submit") else None


def _rebuilder(executor: Any) -> Callable[[], Executor] | None:
    """How to create a plain process pool again, with the same settings."""
    if type(executor) is not ProcessPoolExecutor:
        return None
    inside = vars(executor)
    context = inside.get("_mp_context") or multiprocessing.get_context()
    settings = (inside.get("_max_workers"), context, inside.get("_initializer"), inside.get("_initargs", ()))
    return lambda: ProcessPoolExecutor(*settings)


def _unless_lost(future: Future[Answers], limits: Limits) -> Answers | None:
    """Waits for the answers; None if the worker was lost."""
    try:
        while True:
            limits.check()
            answers: Answers | None = _if_done(future, limits)
            if answers is not None:
                return answers
    except CancelledError as error:
        raise _closed(RuntimeError("the calls sent to them were cancelled")) from error
    except Exception as error:
        if _worker_was_lost(error):
            return None
        raise


def _worker_was_lost(error: Exception) -> bool:
    """Whether the worker failed, rather than the evaluation."""
    # Dask has errors of its own for this, which need not be importable here.
    return isinstance(error, BrokenExecutor) or type(error).__name__ in ("KilledWorker", "CommClosedError")


def _crashed() -> Answers:
    """The answer of a point that kills every worker."""
    failure = Failed(0, "crash", "the worker process died in this evaluation", None, "")
    return Answers(np.full(1, np.nan), np.empty((1, 0)), [failure], 0.0, "")


def _stop(executor: Executor, in_a_hurry: bool) -> None:
    """Ends a pool; in a hurry, even if its processes are busy."""
    processes = list((getattr(executor, "_processes", None) or {}).values()) if in_a_hurry else []
    executor.shutdown(wait=not in_a_hurry, cancel_futures=True)
    for process in processes:
        process.terminate()


def _width(executor: Any) -> int:
    """How many pieces an executor processes at the same time."""
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
    # answers of a follower's own solver are objects
    kind = next((answers.constraints.dtype for _, answers in answered if answers.constraints.dtype == object), float)
    constraints = np.full((points, columns), np.nan, dtype=kind)
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
