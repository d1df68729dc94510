"""What your own solver for the follower returns, and how it reaches the leader's function.

Between processes and in checkpoints, an answer is packed: y, f or None, and ``info`` as bytes. Without bytes,
the solver returned y alone, and the leader's function receives just that.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _values

Floats: TypeAlias = npt.NDArray[np.float64]
Packed: TypeAlias = tuple[Floats, "float | None", "bytes | None"]


@dataclass(frozen=True)
class Answer:
    """What your own solver for the follower returns.

    ``y`` is the follower's response, of any length; ``f`` is its objective there, if known; ``info`` is anything
    else that the leader's function needs (prices, a fitted model). It must be picklable.

    >>> Answer([1, 2], info={"price": 3.5}).info["price"]
    3.5
    """

    y: Any
    f: float | None = None
    info: Any = None


def pack(given: Any) -> Packed:
    """Packs what a solver returned."""
    if isinstance(given, Mapping):
        raise TypeError(
            "the follower returned a mapping, and y must be numbers"
            "\nhint: return bilevo.Answer(y=..., info=...); info may be anything, and F gets the whole answer"
        )
    response = given.y if isinstance(given, Answer) else given
    if response is None:
        returned = "an Answer whose y is None" if isinstance(given, Answer) else "None"
        raise TypeError(
            f"the follower returned {returned}"
            "\nhint: does it end without `return`, or has it found no solution (SciPy's `linprog` then has x = None)?"
        )
    if not isinstance(given, Answer):
        return _values.vector(given), None, None
    value = None if given.f is None else _values.number(given.f)
    return _values.vector(given.y), value, pickle.dumps(given.info)


def pack_all(given: Any, count: int) -> list[Packed]:
    """Packs what a vectorised solver returned."""
    try:
        answers = list(given)
    except TypeError:
        raise TypeError(
            f"the follower returned {type(given).__name__} for {count} decisions"
            "\nhint: with vectorized=True it receives x with one row per decision and returns a list of answers"
        ) from None
    if len(answers) != count:
        raise ValueError(f"the follower returned {len(answers)} answers to {count} decisions")
    return [pack(answer) for answer in answers]


def unpack(y: Floats, value: float | None, info: bytes | None) -> Any:
    """What the leader's function receives: the complete answer if the solver returned one, else y."""
    return y if info is None else Answer(y, value, pickle.loads(info))


def unpack_all(packed: Sequence[Packed]) -> Any:
    """What a vectorised leader's function receives: a list of answers, or rows if there is only y."""
    answers = [unpack(*one) for one in packed]
    alike = all(isinstance(answer, np.ndarray) and answer.shape == answers[0].shape for answer in answers)
    return np.stack(answers) if answers and alike else answers


def rows(packed: Sequence[Packed]) -> npt.NDArray[Any]:
    """Packed answers as a column that can be sliced and joined like other values of a batch."""
    column = np.empty((len(packed), 1), dtype=object)
    for index, answer in enumerate(packed):
        column[index, 0] = answer
    return column
