"""What all kinds of workers share: how long they may take, and what sending to them costs."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from ._errors import OutOfTime
from ._problem import Floats, Level
from ._worker import Answers

#: The pieces of a batch with their answers, in any order.
Answered: TypeAlias = list[tuple[slice, Answers]]

#: How often a wait is interrupted to look for Ctrl-C (some systems cannot interrupt a wait).
_WAKE = 0.5


@dataclass(frozen=True)
class Limits:
    """How long a batch may take: until `end`, by the clock of ``time.monotonic``, and `each` seconds a point."""

    end: float | None = None
    each: float | None = None
    began: float = field(default_factory=time.monotonic)

    @classmethod
    def within(cls, left: float | None, each: float | None) -> Limits:
        """Limits for a run, in seconds from now, and for one evaluation."""
        return cls(None if left is None else time.monotonic() + left, each)

    def check(self) -> None:
        """Raises :class:`OutOfTime` if the run has to end."""
        if self.end is not None and time.monotonic() >= self.end:
            raise OutOfTime

    def check_calls(self, calls: int) -> None:
        """Raises a :class:`TimeoutError` if this many calls take too long, counted from when the limits were set."""
        now = time.monotonic()
        ends = [self.end, None if self.each is None else self.began + self.each * calls]
        if any(end is not None and now >= end for end in ends):
            raise TimeoutError(f"no answer within {now - self.began:.3g} s")

    def left(self, began: float | None, points: int = 1) -> float:
        """Seconds left for an evaluation of this many points that began at the given time."""
        if self.each is None or began is None:
            return math.inf
        return began + self.each * points - time.monotonic()

    def wake(self, left: Iterable[float] = ()) -> float:
        """How long to wait before checking again, given the time that evaluations have left."""
        until_end = math.inf if self.end is None else self.end - time.monotonic()
        return max(min(_WAKE, until_end, math.inf if self.each is None else self.each, *left), 0.0)


class Crew:
    """Workers that answer pieces of batches."""

    def __init__(self) -> None:
        #: Measured seconds for sending a piece and fetching its answers.
        self.overhead = 0.001

    def width(self) -> int:
        """How many pieces are evaluated at the same time."""
        raise NotImplementedError

    def answer(self, level: Level, x: Floats, y: Floats, pieces: list[slice], limits: Limits) -> Answered:
        """The answers to all pieces of a batch."""
        raise NotImplementedError

    def close(self, in_a_hurry: bool) -> None:
        """Releases the workers; in a hurry, even if they are busy."""

    def learn(self, seconds: float, answers: Iterable[Answers]) -> None:
        """Learns the cost of sending: what a batch took beyond the work of its busiest worker."""
        busy: dict[str, float] = {}
        for given in answers:
            busy[given.worker] = busy.get(given.worker, 0.0) + given.seconds
        if busy:
            overhead = seconds - max(busy.values())
            self.overhead += 0.3 * (min(max(overhead, 1e-5), 1.0) - self.overhead)
