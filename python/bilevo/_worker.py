"""What runs on a worker: evaluates a piece of a batch.

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
from typing import Any

from ._errors import ProblemError
from ._problem import BilevelProblem, Floats, Level
from ._values import plain

#: Problems unpacked here, the latest last.
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
    """The answers to a piece of a batch, how long they took, and who gave them."""

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
    """Evaluates pieces of batches of one problem, here or wherever it is sent."""

    def __init__(self, problem: BilevelProblem, key: str, sent_before: bool = False) -> None:
        self._problem = problem
        self._key = key
        self._sent_before = sent_before
        self._bytes: bytes | None = None

    def __call__(self, level: Level, x: Floats, y: Floats) -> Answers:
        return evaluate(self._problem, level, x, y)

    def packed(self) -> bytes:
        """The problem as bytes."""
        if self._bytes is None:
            self._bytes = pack(self._problem)
        return self._bytes

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpack, (self._key, None if self._sent_before else self.packed())


def evaluate(problem: BilevelProblem, level: Level, x: Floats, y: Floats) -> Answers:
    """Evaluates points on this very process."""
    start = time.perf_counter()
    # what came over a network need not be aligned in memory
    values, constraints, errors = problem._evaluator().evaluate(level, plain(x), plain(y))
    failures = [_sendable(index, error) for index, error in errors]
    worker = f"{platform.node()} {os.getpid()} {threading.get_ident()}"
    return Answers(values, constraints, failures, time.perf_counter() - start, worker)


def start_worker(key: str, packed: bytes) -> None:
    """Prepares a worker process of ours. Ctrl-C is for the main process alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _unpack(key, packed)


def _end_with_parent() -> None:
    """Ends this process when the one that started it is gone, be it killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def pack(problem: BilevelProblem) -> bytes:
    """The problem as bytes, by cloudpickle where that is installed: it also takes lambdas."""
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


def _cannot_send(error: Exception, hint: str) -> ProblemError:
    return ProblemError(f"the problem cannot be sent to other processes: {error}\nhint: {hint}")


def _unpack(key: str, packed: bytes | None) -> Task:
    problem = _unpacked.get(key)
    if problem is None:
        if packed is None:
            raise RuntimeError("this worker was not started for the problem it was sent")
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
