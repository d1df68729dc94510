"""Our own worker processes.

Each evaluates one piece of a batch at a time and reports which point it is working on. So if a process dies or
hangs, only that point is lost: the process is ended, with everything it has started, and replaced.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import Any

import numpy as np

from . import _worker
from ._crew import Answered, Crew, Limits
from ._errors import BilevoWarning, EvaluationError, ProblemError
from ._problem import BilevelProblem, Floats, Level
from ._worker import Answers, Failed

#: More processes than this are probably a typo.
MOST = 1024
#: How many processes in a row may die before they evaluate anything.
_PATIENCE = 3
#: Seconds that an idle process may take to exit.
_FAREWELL = 5.0


class Processes(Crew):
    """Evaluates batches on `count` processes, which are started when they are needed."""

    def __init__(self, problem: BilevelProblem, count: int) -> None:
        super().__init__()
        self._packed = _worker.pack(problem)
        self._vectorized = problem.vectorized
        self._count = count
        self._processes: list[_Process] = []
        self._deaths_in_a_row = 0

    def width(self) -> int:
        return self._count

    def answer(self, level: Level, x: Floats, y: Floats, pieces: list[slice], limits: Limits) -> Answered:
        batch = _Batch(level, x, y, deque(pieces))
        started = time.perf_counter()
        try:
            while batch.waiting or any(process.piece is not None for process in self._processes):
                self._hand_out(batch)
                for process in self._events(limits):
                    self._look_at(process, batch, limits)
        except BaseException:
            # A process that is still busy would answer the wrong question next time.
            self._dismiss(lambda process: process.piece is not None)
            raise
        self.learn(time.perf_counter() - started, [answers for _, answers in batch.answered])
        return batch.answered

    def _hand_out(self, batch: _Batch) -> None:
        for process in self._processes:
            if batch.waiting and process.ready and process.piece is None:
                process.give(batch.waiting.popleft(), batch)
        coming = sum(not process.ready for process in self._processes)
        while coming < len(batch.waiting) and len(self._processes) < self._count:
            self._processes.append(_Process(self._packed))
            coming += 1

    def _events(self, limits: Limits) -> list[_Process]:
        """Waits until something happens; returns the processes to look at."""
        waited_for = [p for p in self._processes if p.piece is not None or not p.ready]
        signs: dict[Any, _Process] = {sign: p for p in waited_for for sign in (p.connection, p.process.sentinel)}
        limits.check()
        left = [limits.left(self._began(p), self._points(p)) for p in waited_for]
        happened = {id(signs[sign]) for sign in wait(list(signs), limits.wake(left))}
        late = {id(p) for p in waited_for if limits.left(self._began(p), self._points(p)) <= 0}
        return [p for p in waited_for if id(p) in happened | late]

    def _began(self, process: _Process) -> float | None:
        """When the current evaluation began, if there is one."""
        return process.at[1] if process.piece is not None and process.at[0] >= 0 else None

    def _points(self, process: _Process) -> int:
        """The points of the current evaluation."""
        piece = process.piece
        return 1 if piece is None or not self._vectorized else piece.stop - piece.start

    def _look_at(self, process: _Process, batch: _Batch, limits: Limits) -> None:
        try:
            if process.connection.poll():
                self._take(process, process.connection.recv(), batch)
            elif not process.process.is_alive():
                self._lost(process, batch)
            elif limits.left(self._began(process), self._points(process)) <= 0:
                self._hangs(process, batch, limits)
        except (EOFError, ConnectionError):
            self._lost(process, batch)

    def _take(self, process: _Process, said: Any, batch: _Batch) -> None:
        if isinstance(said, Answers) and process.piece is not None:
            batch.answered.append((process.piece, said))
            process.piece = None
            self._deaths_in_a_row = 0
        elif isinstance(said, str):
            raise ProblemError(f"a worker process cannot use the problem: {said}")
        else:
            process.ready = True

    def _lost(self, process: _Process, batch: _Batch) -> None:
        """Handles a dead process: its point is tried once more, and fails if it kills another process."""
        process.process.join(_FAREWELL)  # for its exit code
        point, piece, end = self._point(process), process.piece, self._remove(process)
        if point is None:
            self._deaths_in_a_row += 1
            if self._deaths_in_a_row > _PATIENCE:
                raise EvaluationError(
                    f"worker processes die before they evaluate anything ({end})\nhint: a script that starts"
                    " processes needs `if __name__ == '__main__':` around what it does"
                )
            batch.waiting.extend([] if piece is None else [piece])
            return
        if point.start not in batch.suspects:
            words = f"a worker process died ({end}); it is replaced and its work sent again"
            warnings.warn(BilevoWarning(words, "W302"), stacklevel=2)
            batch.suspects.update(range(point.start, point.stop))
            batch.again(piece, point, keep=True)
        elif point.stop - point.start > 1:
            batch.again(piece, point, keep=True)
        else:
            batch.fail(point, "crash", f"the worker process died in this evaluation ({end})")
            batch.again(piece, point, keep=False)

    def _hangs(self, process: _Process, batch: _Batch, limits: Limits) -> None:
        """Handles an evaluation that takes too long: its process is ended, and the point fails."""
        point, piece = self._point(process), process.piece
        self._remove(process)
        if point is None:
            return
        one = point.stop - point.start == 1
        if one:
            batch.fail(point, "timeout", f"no answer within {limits.each:g} s; the worker process was ended")
        batch.again(piece, point, keep=not one)

    def _point(self, process: _Process) -> slice | None:
        """What a process was evaluating: one point, or a whole batch in one call."""
        at, piece = int(process.at[0]), process.piece
        if at < 0 or piece is None:
            return None
        return piece if self._vectorized else slice(piece.start + at, piece.start + at + 1)

    def _remove(self, process: _Process) -> str:
        """Ends a process; returns how it ended."""
        process.end()
        self._processes.remove(process)
        return process.how_it_ended()

    def _dismiss(self, which: Callable[[_Process], bool]) -> None:
        for process in [process for process in self._processes if which(process)]:
            self._remove(process)

    def close(self, in_a_hurry: bool) -> None:
        if not in_a_hurry:
            for process in self._processes:
                process.hang_up()
            end = time.monotonic() + _FAREWELL
            for process in self._processes:
                process.process.join(max(end - time.monotonic(), 0))
        self._dismiss(lambda process: True)


@dataclass
class _Batch:
    """A batch in progress: the pieces that wait for a process, and the answers so far."""

    level: Level
    x: Floats
    y: Floats
    waiting: deque[slice]
    answered: Answered = field(default_factory=list)
    #: Points at which a process has died.
    suspects: set[int] = field(default_factory=set)

    def again(self, piece: slice | None, point: slice, keep: bool) -> None:
        """Puts a lost piece back: the points around `point`, and `point` itself unless it has been decided."""
        if piece is None:
            return
        if keep:
            self.waiting.extend(slice(index, index + 1) for index in range(point.start, point.stop))
        around = (slice(piece.start, point.start), slice(point.stop, piece.stop))
        self.waiting.extend(part for part in around if part.stop > part.start)

    def fail(self, point: slice, kind: str, words: str) -> None:
        failure = Failed(0, kind, words, None, "")
        self.answered.append((point, Answers(np.full(1, np.nan), np.empty((1, 0)), [failure], 0.0, "")))


class _Process:
    """One worker process."""

    def __init__(self, packed: bytes) -> None:
        context = multiprocessing.get_context()
        self.connection, theirs = context.Pipe()
        #: The index of the current point within the piece (negative if there is none), and when it began.
        self.at = context.RawArray("d", (-1.0, 0.0))
        self.process = context.Process(target=_worker.serve, args=(theirs, self.at, packed), name="bilevo worker")
        self.process.start()
        theirs.close()
        self.ready = False
        self.piece: slice | None = None

    def give(self, piece: slice, batch: _Batch) -> None:
        self.piece = piece
        self.at[0] = -1.0
        self._send((batch.level, batch.x[piece], batch.y[piece]))

    def hang_up(self) -> None:
        """Tells the process that there is no more work."""
        self._send(None)

    def _send(self, what: Any) -> None:
        try:
            self.connection.send(what)
        except OSError:
            pass  # it has died, which we will notice soon

    def end(self) -> None:
        """Ends it and everything it has started."""
        _end(self.process)
        self.connection.close()

    def how_it_ended(self) -> str:
        code = self.process.exitcode or 0
        try:
            return signal.Signals(-code).name if code < 0 else f"exit code {code}"
        except ValueError:
            return f"signal {-code}"


def _end(process: Any) -> None:
    """Ends a worker process and everything it has started."""
    if process.pid is not None and process.is_alive() and hasattr(os, "killpg"):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except OSError:
            pass  # it has just started, and does not lead its group yet
    process.kill()
    process.join()


def call_elsewhere(packed: bytes, limits: Limits, calls: int) -> Any:
    """Calls a packed function in its own process; returns its result or raises its exception."""
    context = multiprocessing.get_context()
    connection, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_worker.call_once, args=(theirs, packed), name="bilevo worker")
    process.start()
    theirs.close()
    try:
        while not wait([connection], limits.wake()):
            limits.check_calls(calls)
        result, failed = connection.recv()
    except EOFError:
        process.join()
        raise ProblemError(f"they ended the process that evaluated them (exit code {process.exitcode})") from None
    finally:
        _end(process)
    if failed is not None:
        raise failed.exception or EvaluationError(failed.message)
    return result
