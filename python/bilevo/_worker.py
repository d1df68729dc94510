"""The code that runs on a worker: it evaluates a piece of a batch.

A task is sent as the problem's bytes, which a worker unpacks only once. Exceptions of user code
come back as data, with their traceback as text, because not every exception can be sent.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import platform
import signal
import threading
import time
import traceback
from collections import OrderedDict
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from ._errors import ProblemError
from ._problem import BilevelProblem, Floats, Level
from ._values import plain

#: Problems unpacked in this process, latest last.
_unpacked: OrderedDict[str, BilevelProblem] = OrderedDict()
_KEPT = 4


@dataclass(frozen=True)
class Failed:
    """A point that failed on a worker."""

    index: int
    kind: str
    message: str
    exception: BaseException | None
    traceback: str


@dataclass(frozen=True)
class Answers:
    """The answers to a piece of a batch, how long they took, and which worker gave them."""

    values: Floats
    constraints: Floats
    failures: list[Failed]
    seconds: float
    worker: str


class RemoteTraceback(Exception):
    """The traceback of a worker, shown as the cause of its exception."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


class Task:
    """Evaluates pieces of batches of one problem, in any process."""

    def __init__(self, problem: BilevelProblem, key: str) -> None:
        self._problem = problem
        self._key = key
        self._bytes: bytes | None = None

    def __call__(self, level: Level, x: Floats, y: Floats) -> Answers:
        return evaluate(self._problem, level, x, y)

    def packed(self) -> bytes:
        """The problem as bytes."""
        if self._bytes is None:
            self._bytes = pack(self._problem)
        return self._bytes

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpack, (self._key, self.packed())


def evaluate(problem: BilevelProblem, level: Level, x: Floats, y: Floats) -> Answers:
    """Evaluates points in this process."""
    start = time.perf_counter()
    # data from a network need not be aligned in memory
    values, constraints, errors = problem._evaluator().evaluate(level, plain(x), y if y.dtype == object else plain(y))
    failures = [_sendable(index, error) for index, error in errors]
    worker = f"{platform.node()} {os.getpid()} {threading.get_ident()}"
    return Answers(values, constraints, failures, time.perf_counter() - start, worker)


def serve(connection: Connection, at: Any, packed: bytes) -> None:
    """The main loop of our own worker processes: evaluates pieces of batches until it is told to end.

    `at` is shared with the main process: the index of the current point, and when it began.
    """
    _settle_in()
    try:
        problem: BilevelProblem = pickle.loads(packed)
        evaluator = problem._evaluator()
    except Exception as error:
        connection.send("".join(traceback.format_exception_only(error)).strip())
        return
    connection.send(None)
    while (asked := connection.recv()) is not None:
        level, x, y = asked
        connection.send(_one_by_one(evaluator, problem.vectorized, level, x, y, at))


def _settle_in() -> None:
    """Prepares a worker process."""
    # Only the main process handles Ctrl-C. Everything started here ends with this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # NumPy loads this part with the first value, which would count as part of that evaluation.
    import numpy.ma  # noqa: F401


def _one_by_one(evaluator: Any, vectorized: bool, level: Level, x: Floats, y: Floats, at: Any) -> Answers:
    """Evaluates a piece point by point, so that the main process can see the current one."""
    start = time.perf_counter()
    step = len(x) if vectorized else 1
    parts = []
    for index in range(0, len(x), step):
        at[1], at[0] = time.monotonic(), float(index)
        parts.append(evaluator.evaluate(level, x[index : index + step], y[index : index + step]))
    at[0] = -1.0
    failures = [
        _sendable(index * step + within, error) for index, (_, _, errors) in enumerate(parts) for within, error in errors
    ]
    values, constraints = (np.concatenate([part[which] for part in parts]) for which in (0, 1))
    return Answers(values, constraints, failures, time.perf_counter() - start, str(os.getpid()))


def _end_with_parent() -> None:
    """Ends this process, and everything it has started, when its parent is gone for whatever reason."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        if hasattr(os, "killpg"):
            os.killpg(0, signal.SIGKILL)
        os._exit(1)


def pack(problem: Any) -> bytes:
    """The problem, or functions of it, as bytes; with cloudpickle, if installed, which can also pickle lambdas."""
    try:
        import cloudpickle

        packed: bytes = cloudpickle.dumps(problem)
        return packed
    except ModuleNotFoundError:
        pass
    except Exception as error:
        raise _cannot_send(error, "keep what cannot be pickled (files, locks, connections) out of it") from error
    try:
        return pickle.dumps(problem)
    except Exception as error:
        hint = "define functions with `def` at the top level of a module, or install cloudpickle"
        raise _cannot_send(error, hint) from error


def call_packed(packed: bytes) -> Any:
    """Calls a packed function with its arguments."""
    function, *arguments = pickle.loads(packed)
    return function(*arguments)


def call_once(connection: Connection, packed: bytes) -> None:
    """Calls a packed function in its own process, and sends back the outcome."""
    _settle_in()
    try:
        connection.send((call_packed(packed), None))
    except Exception as error:
        connection.send((None, _sendable(0, error)))


def _cannot_send(error: Exception, hint: str) -> ProblemError:
    return ProblemError(f"the problem cannot be sent to other processes: {error}\nhint: {hint}")


def _unpack(key: str, packed: bytes) -> Task:
    problem = _unpacked.get(key)
    if problem is None:
        problem = pickle.loads(packed)
        _unpacked[key] = problem
        while len(_unpacked) > _KEPT:
            _unpacked.popitem(last=False)
    return Task(problem, key)


def _sendable(index: int, error: BaseException) -> Failed:
    text = "".join(traceback.format_exception(error))
    message = "".join(traceback.format_exception_only(error)).strip()
    sent: BaseException | None = error.with_traceback(None)
    try:
        pickle.loads(pickle.dumps(sent))
    except Exception:
        sent = None
    return Failed(index, "error", message, sent, text)
