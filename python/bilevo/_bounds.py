"""Bounds of variables, in the forms in which people write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, Union, runtime_checkable

import numpy as np
import numpy.typing as npt

from ._errors import ProblemError, counted


@runtime_checkable
class HasBounds(Protocol):
    """An object like ``scipy.optimize.Bounds``."""

    @property
    def lb(self) -> Any: ...
    @property
    def ub(self) -> Any: ...


Integer: TypeAlias = Union[bool, Sequence[bool], Sequence[int], npt.NDArray[Any]]
Bounds: TypeAlias = Union[Sequence[Sequence[float | None]], Sequence[float | None], npt.NDArray[Any], HasBounds]


def read_bounds(bounds: Bounds, level: str) -> list[tuple[float, float]]:
    """A pair for each variable.

    >>> read_bounds([(0, 1), (-5, 5)], "upper")
    [(0.0, 1.0), (-5.0, 5.0)]
    >>> read_bounds((0, 10), "lower")
    [(0.0, 10.0)]
    >>> read_bounds([(0, None), (None, float("inf"))], "upper")
    [(0.0, inf), (-inf, inf)]
    """
    try:
        if isinstance(bounds, HasBounds):
            low, high = np.broadcast_arrays(np.atleast_1d(bounds.lb), np.atleast_1d(bounds.ub))
            array = np.stack([low, high], axis=-1).astype(np.float64)
        else:
            array = np.asarray(bounds, dtype=np.float64)
            if array.shape[-1:] == (2,):
                given = np.asarray(bounds, dtype=object)
                absent = np.array([value is None for value in given.flat]).reshape(given.shape)
                array = np.where(absent, [-np.inf, np.inf], array)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"the {level} bounds are not numbers: {error}\n{HINT}") from None
    if array.shape == (2,):
        array = array.reshape(1, 2)
    if array.ndim != 2 or array.shape[1] != 2 or array.shape[0] == 0:
        raise ProblemError(f"the {level} bounds have the shape {array.shape}\n{HINT}")
    for index, (low, high) in enumerate(array.tolist()):
        check_pair(low, high, level, index)
    if np.all(array[:, 0] == array[:, 1]):
        raise ProblemError(f"every {level} variable is fixed\nhint: at least one needs bounds that differ")
    return [(low, high) for low, high in array.tolist()]


def read_space(bounds: list[tuple[float, float]], integer: Integer | None, level: str) -> dict[str, Any]:
    """The variables of a level: their bounds, and which of them are whole numbers.

    >>> read_space([(0, 1), (0.5, 3.5)], [1], "upper")
    {'bounds': [(0, 1), (1.0, 3.0)], 'kinds': ['real', 'whole']}
    >>> read_space([(0, 1)], None, "upper")
    {'bounds': [(0, 1)]}
    """
    if integer is None or integer is False:
        return {"bounds": bounds}
    mask = _mask(integer, len(bounds), level)
    kept = []
    for index, ((low, high), whole) in enumerate(zip(bounds, mask, strict=True)):
        if whole and np.ceil(low) > np.floor(high):
            raise ProblemError(
                f"no whole number lies within the bounds ({low:g}, {high:g}) of {level} variable {index}"
                "\nhint: widen them, or leave the variable real"
            )
        kept.append((float(np.ceil(low)), float(np.floor(high))) if whole else (low, high))
    return {"bounds": kept, "kinds": ["whole" if whole else "real" for whole in mask]}


def as_data(space: dict[str, Any]) -> dict[str, Any]:
    """The variables of a level for JSON, which has no infinity: an open side is None.

    >>> as_data({"bounds": [(0.0, float("inf"))]})
    {'bounds': [(0.0, None)]}
    """
    bounds = [(None if low == -np.inf else low, None if high == np.inf else high) for low, high in space["bounds"]]
    return {**space, "bounds": bounds}


def from_data(bounds: list[Any]) -> list[tuple[float, float]]:
    """The pairs of such data.

    >>> from_data([(0.0, None), [None, 1.0]])
    [(0.0, inf), (-inf, 1.0)]
    """
    return [(-np.inf if low is None else low, np.inf if high is None else high) for low, high in bounds]


def middle(low: float, high: float) -> float:
    """A value inside: the middle, or near zero if a side is open.

    >>> middle(0, 10), middle(3, float("inf"))
    (5.0, 3.0)
    """
    return (low + high) / 2 if np.isfinite(high - low) else float(min(max(0.0, low), high))


def _mask(integer: Integer, count: int, level: str) -> list[bool]:
    """Which variables are whole numbers, from True, a mask or indices."""
    if integer is True:
        return [True] * count
    given = np.asarray(integer)
    if given.dtype == np.bool_ and given.shape == (count,):
        return [bool(whole) for whole in given.tolist()]
    if given.dtype == np.bool_:
        raise ProblemError(
            f"integer_{level} is a mask of shape {given.shape} for {count} variables\nhint: give one value for each"
        )
    if given.size == 0:
        return [False] * count
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise ProblemError(f"integer_{level} is {integer!r}\nhint: give indices of variables, or a mask, or True")
    wrong = [index for index in given.tolist() if not -count <= index < count]
    if wrong:
        raise ProblemError(
            f"integer_{level} names variable {wrong[0]}, but the {level} level has {counted(count, 'variable')}"
            "\nhint: variables are counted from 0"
        )
    chosen = {index % count for index in given.tolist()}
    if len(chosen) < given.size:
        raise ProblemError(
            f"integer_{level} names a variable twice: {integer!r}"
            "\nhint: these are indices, counted from 0; a mask has True or False for each variable"
        )
    return [index in chosen for index in range(count)]


def spread_bounds(low: Any, high: Any, count: int, level: str) -> list[tuple[float, float]]:
    """A pair for each of `count` variables from scalars or sequences.

    >>> spread_bounds(-5, [5, 10], 2, "upper")
    [(-5.0, 5.0), (-5.0, 10.0)]
    """
    try:
        lows, highs = (np.broadcast_to(np.asarray(v, dtype=np.float64), (count,)) for v in (low, high))
    except (TypeError, ValueError) as error:
        raise ProblemError(
            f"the {level} bounds do not fit {count} variables: {low!r} and {high!r}"
            f"\nhint: give one number for all variables, or {count}"
        ) from error
    return read_bounds(np.stack([lows, highs], axis=-1), level)


def check_pair(low: float, high: float, level: str, index: int) -> None:
    if low > high:
        raise ProblemError(
            f"{level} variable {index} has the bounds ({low:g}, {high:g}), in the wrong order"
            f"\nhint: write ({high:g}, {low:g})"
        )
    if np.isnan(low) or np.isnan(high) or low == np.inf or high == -np.inf:
        raise ProblemError(
            f"{level} variable {index} has the bounds ({low:g}, {high:g})"
            "\nhint: give numbers, or None (or an infinity) for a side without a bound"
        )


HINT = "hint: give a pair (low, high) for each variable, as in [(0, 10), (-5, 5)]; None leaves a side open"
