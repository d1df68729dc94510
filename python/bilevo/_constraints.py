"""Constraints, in the forms in which people write them, as functions of (x, y) that return g <= 0 or h = 0."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from . import _values
from ._errors import ProblemError

Floats: TypeAlias = npt.NDArray[np.float64]
Objective: TypeAlias = Callable[[Any, Any], Any]
#: One constraint or several: a function, or an object or mapping as in SciPy.
_Given: TypeAlias = Union[Objective, Any, Iterable[Any]]
Constraints: TypeAlias = Union[_Given, Mapping[str, _Given]]
#: Functions of g <= 0, and functions of h = 0.
Functions: TypeAlias = tuple[list[Objective], list[Objective]]


def read_constraints(given: Constraints | None, level: str, sizes: tuple[int, int], vectorized: bool) -> Functions:
    """The constraints of a level, given the numbers of variables of both levels."""
    less: list[Objective] = []
    equal: list[Objective] = []
    if isinstance(given, Mapping) and "type" not in given:
        unknown = set(given) - {"G", "H"}
        if unknown:
            raise ProblemError(f'{level} constraints have the key {unknown.pop()!r}\nhint: "G" for g <= 0, "H" for h = 0')
        parts = [(given.get("G", ()), less), (given.get("H", ()), equal)]
    else:
        parts = [(given, less)]
    for part, into in parts:
        for one in _listed(part):
            if _is_bounds(one):
                raise ProblemError(f"a constraint of the {level} level is a Bounds\nhint: give it as bounds_{level}")
            if hasattr(one, "lb") and hasattr(one, "ub"):
                _add_scipy(one, level, sizes, vectorized, less, equal)
            elif isinstance(one, Mapping) and callable(one.get("fun")):
                _add_mapping(one, level, less, equal)
            elif callable(one):
                into.append(one)
            else:
                raise ProblemError(
                    f"a constraint of the {level} level is {one!r}, which is not a function"
                    f"\nhint: {level}_constraints=lambda x, y: x[0] - 3 means x[0] <= 3"
                )
    return less, equal


def _listed(given: Any) -> list[Any]:
    if given is None:
        return []
    single = callable(given) or isinstance(given, (Mapping, str)) or hasattr(given, "lb")
    try:
        return [given] if single else list(given)
    except TypeError:
        return [given]


def _is_bounds(one: Any) -> bool:
    return hasattr(one, "lb") and not hasattr(one, "fun") and not hasattr(one, "A")


def _add_mapping(
    one: Mapping[str, Any], level: str, less: list[Objective], equal: list[Objective]
) -> None:
    """As in ``{"type": "ineq", "fun": g}``, where SciPy wants g >= 0."""
    _takes_both(one["fun"], level)
    if one.get("type") == "ineq":
        less.append(_Scaled(one["fun"], -1.0))
    elif one.get("type") == "eq":
        equal.append(one["fun"])
    else:
        raise ProblemError(f"a constraint of the {level} level has the type {one.get('type')!r}\nhint: 'ineq' or 'eq', as in SciPy")


def _add_scipy(
    one: Any, level: str, sizes: tuple[int, int], vectorized: bool, less: list[Objective], equal: list[Objective]
) -> None:
    """A NonlinearConstraint of a function of (x, y), or a LinearConstraint."""
    if hasattr(one, "A"):
        matrix = one.A.toarray() if hasattr(one.A, "toarray") else one.A
        function: Objective = _Linear(np.atleast_2d(_values.plain(matrix)), level, sizes)
    else:
        function = one.fun
        _takes_both(function, level)
    low, high = (np.atleast_1d(_values.plain(bound)) for bound in (one.lb, one.ub))
    low, high = np.broadcast_arrays(low, high)
    if np.isnan(low).any() or np.isnan(high).any() or (low > high).any():
        raise ProblemError(f"a constraint of the {level} level has the bounds {one.lb!r} and {one.ub!r}, which no value can meet")
    for kind, into in (("less", less), ("equal", equal)):
        side = _Between(function, low, high, kind, vectorized)  # type: ignore[arg-type]
        if side.wanted():
            into.append(side)


def _takes_both(function: Any, level: str) -> None:
    """Raises an error if a function takes x alone, as SciPy's do."""
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        raise ProblemError(
            f"a constraint of the {level} level takes other arguments than (x, y)"
            "\nhint: constraints depend on both levels here; write `lambda x, y: ...`"
        ) from None
    except ValueError:
        pass  # some callables have no signature


class _Scaled:
    """The values of a function times a number."""

    def __init__(self, function: Objective, factor: float) -> None:
        self.function, self.factor = function, factor

    def __call__(self, x: Any, y: Any) -> Any:
        return self.factor * _values.numbers(self.function(x, y), constraint=True)


class _Linear:
    """A (x, y), or A times the variables of the level alone, by the number of columns."""

    def __init__(self, matrix: Floats, level: str, sizes: tuple[int, int]) -> None:
        self.matrix = matrix
        own = sizes[0] if level == "upper" else sizes[1]
        columns = matrix.shape[1]
        if columns not in (own, sum(sizes)):
            raise ProblemError(
                f"an {level} LinearConstraint has {columns} columns\nhint: give one for each of the {own} {level} variables,"
                f" or for each of all {sum(sizes)}, x before y"
            )
        self.which = "both" if columns == sum(sizes) else level

    def __call__(self, x: Any, y: Any) -> Any:
        own = {"upper": x, "lower": y}
        variables = own[self.which] if self.which in own else np.concatenate([x, y], axis=-1)
        return variables @ self.matrix.T


class _Between:
    """low <= function <= high as values <= 0 (of both sides), or as values = 0 if low = high."""

    def __init__(
        self, function: Objective, low: Floats, high: Floats, kind: Literal["less", "equal"], vectorized: bool
    ) -> None:
        self.function, self.low, self.high, self.kind, self.vectorized = function, low, high, kind, vectorized

    def wanted(self) -> bool:
        fixed = self.low == self.high
        return bool(fixed.any() if self.kind == "equal" else (~fixed & np.isfinite([self.low, self.high])).any())

    def __call__(self, x: Any, y: Any) -> Any:
        values = _values.numbers(self.function(x, y), constraint=True)
        values = values.reshape((len(x), -1) if self.vectorized else -1)
        low, high = (np.broadcast_to(bound, values.shape[-1:]) for bound in (self.low, self.high))
        fixed = low == high
        if self.kind == "equal":
            return values[..., fixed] - low[fixed]
        over, under = ~fixed & np.isfinite(high), ~fixed & np.isfinite(low)
        return np.concatenate([values[..., over] - high[over], low[under] - values[..., under]], axis=-1)


def count_values(functions: Sequence[Objective], x: Floats, y: Floats, vectorized: bool) -> list[int]:
    """How many values each function returns, found by calling it at (x, y)."""
    counts = []
    for function in functions:
        values = _values.numbers(function(x[None], y[None]) if vectorized else function(x, y), constraint=True)
        counts.append(int(np.prod(values.shape[1:] if vectorized else values.shape, dtype=int)))
    return counts
