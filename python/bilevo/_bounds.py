"""Boxes of variables in the forms people write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, Union, runtime_checkable

import numpy as np
import numpy.typing as npt

from ._errors import ProblemError


@runtime_checkable
class HasBounds(Protocol):
    """An object like ``scipy.optimize.Bounds``."""

    @property
    def lb(self) -> Any: ...
    @property
    def ub(self) -> Any: ...


Bounds: TypeAlias = Union[Sequence[Sequence[float]], Sequence[float], npt.NDArray[Any], HasBounds]


def read_bounds(bounds: Bounds, level: str) -> list[tuple[float, float]]:
    """A pair for each variable.

    >>> read_bounds([(0, 1), (-5, 5)], "upper")
    [(0.0, 1.0), (-5.0, 5.0)]
    >>> read_bounds((0, 10), "lower")
    [(0.0, 10.0)]
    """
    try:
        if isinstance(bounds, HasBounds):
            low, high = np.broadcast_arrays(np.atleast_1d(bounds.lb), np.atleast_1d(bounds.ub))
            array = np.stack([low, high], axis=-1).astype(np.float64)
        else:
            array = np.asarray(bounds, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"the {level} bounds are not numbers: {error}\n{HINT}") from None
    if array.shape == (2,):
        array = array.reshape(1, 2)
    if array.ndim != 2 or array.shape[1] != 2 or array.shape[0] == 0:
        raise ProblemError(f"the {level} bounds have the shape {array.shape}\n{HINT}")
    for index, (low, high) in enumerate(array.tolist()):
        check_pair(low, high, level, index)
    return [(low, high) for low, high in array.tolist()]


def spread_bounds(low: Any, high: Any, count: int, level: str) -> list[tuple[float, float]]:
    """A pair for each of `count` variables from scalars or sequences.

    >>> spread_bounds(-5, [5, 10], 2, "upper")
    [(-5.0, 5.0), (-5.0, 10.0)]
    """
    try:
        lows, highs = (np.broadcast_to(np.asarray(v, dtype=np.float64), (count,)) for v in (low, high))
    except (TypeError, ValueError) as error:
        raise ProblemError(f"the {level} bounds do not fit {count} variables: {error}") from None
    return read_bounds(np.stack([lows, highs], axis=-1), level)


def check_pair(low: float, high: float, level: str, index: int) -> None:
    if low > high:
        raise ProblemError(
            f"{level} variable {index} has the bounds ({low:g}, {high:g}), the wrong way round"
            f"\nhint: write ({high:g}, {low:g})"
        )
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ProblemError(
            f"{level} variable {index} has the bounds ({low:g}, {high:g})"
            "\nhint: both must be finite, the first below the second"
        )


HINT = "hint: give a pair (low, high) for each variable, as in [(0, 10), (-5, 5)]"
