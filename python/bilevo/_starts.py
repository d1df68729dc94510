"""Where a run begins, if the user knows a good point."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ._errors import ProblemError, counted
from ._result import Result

#: One point, or several as rows.
Starts: TypeAlias = npt.ArrayLike
#: A decision, with an answer if one is known.
Start: TypeAlias = tuple[list[float], "list[float] | None"]


def read_starts(x0: Starts | None, y0: Starts | None, n_upper: int, n_lower: int) -> list[Start]:
    """Pairs (x, y) from points or rows of points.

    >>> read_starts([1, 2], None, 2, 3)
    [([1.0, 2.0], None)]
    >>> read_starts([[1], [2]], [[3, 4], [5, 6]], 1, 2)
    [([1.0], [3.0, 4.0]), ([2.0], [5.0, 6.0])]
    """
    if x0 is None:
        if y0 is not None:
            raise ProblemError("y0 needs x0\nhint: the answer y0 belongs to a decision x0")
        return []
    decisions = _rows("x0", x0, n_upper)
    if y0 is None:
        return [(x, None) for x in decisions]
    if n_lower == 0:
        raise ProblemError("the follower has its own solver, which computes the answer\nhint: leave out y0")
    answers = _rows("y0", y0, n_lower)
    if len(answers) != len(decisions):
        raise ProblemError(f"x0 has {len(decisions)} rows, y0 has {len(answers)}\nhint: one answer for each decision")
    return [(x, y) for x, y in zip(decisions, answers)]


def read_start(start: Result, starts: list[Start], n_upper: int, n_lower: int) -> list[Start]:
    """The answer of another run, as a starting point."""
    if starts:
        raise ProblemError("start and x0 both say where to begin\nhint: leave one of them out")
    if not isinstance(start, Result):
        raise ProblemError(f"start is {start!r}\nhint: give the result of another run; a point is given by x0 and y0")
    if not np.isfinite(start.x).all():
        raise ProblemError("start is a result without an answer\nhint: leave it out")
    upper, lower = len(start.x), len(start.y)
    if upper != n_upper or n_lower not in (0, lower):
        raise ProblemError(
            f"start is the result of a problem with {upper}+{lower} variables, but this one has {n_upper}+{n_lower}"
            "\nhint: give the result of a problem with the same variables, or a point as x0 and y0"
        )
    [(x, y)] = read_starts(start.x, start.y if n_lower > 0 else None, n_upper, n_lower)
    return [(x, y)]


def _rows(name: str, given: Starts, size: int) -> list[list[float]]:
    try:
        rows = np.asarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"{name} is {given!r}\nhint: give {counted(size, 'number')}, or rows of {counted(size, 'number')}") from error
    rows = np.atleast_2d(rows)
    if rows.ndim != 2 or rows.shape[1] != size or not len(rows):
        raise ProblemError(f"{name} has the shape {np.shape(given)}\nhint: give {counted(size, 'number')}, or rows of {counted(size, 'number')}")
    return [[float(value) for value in row] for row in rows]
