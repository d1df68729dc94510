"""Reads what user functions return as numbers.

The native part reads plain floats and plain arrays itself and calls these functions for everything
else: integers, NumPy scalars, lists, strided or masked arrays. Each of them returns a float or a
contiguous array of floats of the required shape, or raises an error that says what to change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class BooleanConstraint(Exception):
    """A constraint returned True or False instead of a number."""

    def __str__(self) -> str:
        return (
            "a constraint returned True or False instead of a number"
            "\nhint: return what must be <= 0: x[0] - 0.2 for x[0] <= 0.2"
        )


class WrongShape(ValueError):
    """A vectorised function did not return one value for each point."""


def number(value: Any) -> float:
    """One number.

    >>> number(3), number(np.float32(0.5)), number(np.array([2]))
    (3.0, 0.5, 2.0)
    """
    array = numbers(value)
    if array.size != 1:
        raise ValueError(
            f"the function returned {array.size} numbers (shape {array.shape}) instead of one"
            "\nhint: return the objective alone; constraints have functions of their own,"
            " and functions of whole batches need vectorized=True"
        )
    return float(array.reshape(()))


def row(value: Any, count: int) -> Floats:
    """`count` numbers of one point."""
    array = numbers(value, constraint=True)
    if array.size != count:
        raise ValueError(f"{count} constraint values were expected, but {array.size} came back (shape {array.shape})")
    return plain(array.reshape(count))


def vector(value: Any) -> Floats:
    """The follower's answer: numbers of any count, in a row.

    >>> vector(3), vector([[1, 2]])
    (array([3.]), array([1., 2.]))
    """
    wanted = "y alone, as a list of numbers, or bilevo.Answer(y=..., f=..., info=...)"
    return plain(numbers(value, who="the follower", wanted=wanted).reshape(-1))


def column(value: Any, points: int) -> Floats:
    """One number for each point of a batch."""
    array = numbers(value)
    if array.shape not in ((points,), (points, 1)):
        raise WrongShape(
            f"a batch of {points} points needs {points} objective values, but an array of shape {array.shape} came back"
            "\nhint: with vectorized=True, x and y have one row for each point and the result one number for each row"
        )
    return plain(array.reshape(points))


def matrix(value: Any, points: int, count: int) -> Floats:
    """`count` numbers for each point of a batch."""
    array = numbers(value, constraint=True)
    if array.shape == (points,) and count == 1:
        array = array.reshape(points, 1)
    if array.shape != (points, count):
        raise WrongShape(
            f"constraint values of a batch need the shape ({points}, {count}), but {array.shape} came back"
            "\nhint: one row for each point, one column for each constraint"
        )
    return plain(array)


def plain(values: npt.ArrayLike) -> Floats:
    """An array as the native part reads it: floats, contiguous, and aligned in memory."""
    return np.require(np.asarray(values), np.float64, ("C_CONTIGUOUS", "ALIGNED", "ENSUREARRAY"))


def missing_entry(key: str, out: Mapping[str, object]) -> NoReturn:
    """The error for an `out` that lacks an entry."""
    what = {"F": "the objective", "G": "the values of g <= 0", "H": "the values of h = 0"}[key]
    there = ", ".join(f'out["{name}"]' for name in out) or "nothing"
    raise KeyError(f'out["{key}"] ({what}) was not set, {there} was; the method has to fill `out`')


def undeclared_entry(key: str, value: Any, points: int) -> None:
    """Refuses constraint values that the problem does not declare; nothing would respect them.

    >>> undeclared_entry("G", [], 1)
    """
    count = 0 if value is None else np.size(value) // points
    if count:
        kind = {"G": "ieq", "H": "eq"}[key]
        raise ValueError(
            f'out["{key}"] has {count} value{"s" if count > 1 else ""}, but the problem declares none'
            f"\nhint: pass n_{kind}_upper={count} or n_{kind}_lower={count} to super().__init__()"
        )


def numbers(value: Any, constraint: bool = False, who: str = "the function", wanted: str = "a float") -> Floats:
    """The value as an array of floats; masked entries become NaN, which counts as a failure."""
    if value is None:
        raise TypeError(f"{who} returned None\nhint: does it end without `return`?")
    if constraint and _is_boolean(value):
        raise BooleanConstraint
    try:
        if isinstance(value, np.ma.MaskedArray):
            return np.ma.asarray(value, dtype=np.float64).filled(np.nan)
        array = np.asarray(value)
        if constraint and array.dtype.kind == "b":
            raise BooleanConstraint
        if array.dtype.kind in "biuf":
            return array.astype(np.float64, copy=False)
        if array.dtype.kind == "O":
            return array.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{who} returned {_kind(value)}, which is not a number\nhint: return {wanted}") from None
    shown = "a complex value" if array.dtype.kind == "c" else _kind(value)
    raise TypeError(f"{who} returned {shown}, which is not a number\nhint: return {wanted}")


def _is_boolean(value: Any) -> bool:
    """Whether a value, or one of several values, is True or False.

    >>> _is_boolean([0.5, True]), _is_boolean(np.array([0.5, 1]))
    (True, False)
    """
    if isinstance(value, (list, tuple)):
        return any(_is_boolean(one) for one in value)
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind == "O" and isinstance(value, np.ndarray):
        return any(_is_boolean(one) for one in value.flat)
    return isinstance(value, bool) or kind == "b"


def _kind(value: object) -> str:
    """What a value is, but not which: the mistake must have the same message at every point to be seen as one.

    >>> _kind("3.5"), _kind((np.zeros(2), 3.0)), _kind({})
    ("a text ('str')", "a tuple of 2 things ('ndarray', 'float')", "a 'dict'")
    """
    if isinstance(value, str):
        return "a text ('str')"
    name = type(value).__name__
    if isinstance(value, (list, tuple)) and 0 < len(value) <= 4:
        parts = ", ".join(f"'{type(part).__name__}'" for part in value)
        return f"a {name} of {len(value)} thing{'s' if len(value) > 1 else ''} ({parts})"
    return f"a '{name}'"
