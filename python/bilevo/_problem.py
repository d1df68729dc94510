"""Problems written in Python: a class to derive from, or plain functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, Union, cast

import numpy as np
import numpy.typing as npt

from . import _native, _values
from ._bounds import Bounds, read_bounds, spread_bounds
from ._errors import ProblemError

Floats: TypeAlias = npt.NDArray[np.float64]
Level: TypeAlias = Literal["upper", "lower"]
Maximize: TypeAlias = Literal["upper", "lower", "both"]
Objective: TypeAlias = Callable[[Any, Any], Any]
Constraints: TypeAlias = Union[Objective, Iterable[Objective], Mapping[str, Union[Objective, Iterable[Objective]]]]
BestKnown: TypeAlias = Union[float, tuple[float, float], Sequence[Union[float, tuple[float, float]]]]


class BilevelProblem:
    """A bilevel problem as a class, in the manner of pymoo.

    Derive from it, give sizes and boxes, and write the two methods. Each fills ``out["F"]`` (the
    objective of its level) and, where there are constraints, ``out["G"]`` (feasible when <= 0) and
    ``out["H"]`` (feasible when = 0).

    Parameters
    ----------
    bounds_upper, bounds_lower:
        A pair (low, high) for each variable of the leader and of the follower. Instead, the sizes
        ``n_upper``, ``n_lower`` with ``xl``, ``xu`` (leader) and ``yl``, ``yu`` (follower) may be
        given, each a number or one number for each variable.
    n_ieq_upper, n_eq_upper, n_ieq_lower, n_eq_lower:
        Number of values in ``out["G"]`` and ``out["H"]`` of each level.
    maximize:
        ``"upper"``, ``"lower"`` or ``"both"``; what is not named is minimised.
    vectorized:
        The methods get whole batches: x and y with one row for each point.
    best_known:
        F at the optimum, or (F, f), or a list of such; a run stops when it is reached.
    name:
        For messages and records.
    equality_tolerance:
        h = 0 counts as met when \\|h\\| is at most this.

    Examples
    --------
    >>> class Toll(BilevelProblem):
    ...     def __init__(self):
    ...         super().__init__(n_upper=1, n_lower=1, xl=0, xu=10, yl=0, yu=10, maximize="upper")
    ...
    ...     def evaluate_upper(self, x, y, out):
    ...         out["F"] = x[0] * y[0]
    ...
    ...     def evaluate_lower(self, x, y, out):
    ...         out["F"] = (y[0] - 8 + x[0]) ** 2
    >>> Toll()
    <Toll: 1+1 variables, maximises the upper level>
    """

    def __init__(
        self,
        bounds_upper: Bounds | None = None,
        bounds_lower: Bounds | None = None,
        *,
        n_upper: int | None = None,
        n_lower: int | None = None,
        xl: Any = None,
        xu: Any = None,
        yl: Any = None,
        yu: Any = None,
        n_ieq_upper: int = 0,
        n_eq_upper: int = 0,
        n_ieq_lower: int = 0,
        n_eq_lower: int = 0,
        maximize: Maximize | None = None,
        vectorized: bool = False,
        best_known: BestKnown | None = None,
        name: str | None = None,
        equality_tolerance: float = 1e-9,
    ) -> None:
        upper = _box(bounds_upper, n_upper, xl, xu, "upper", ("bounds_upper", "n_upper", "xl", "xu"))
        lower = _box(bounds_lower, n_lower, yl, yu, "lower", ("bounds_lower", "n_lower", "yl", "yu"))
        if maximize not in (None, "upper", "lower", "both"):
            raise ProblemError(f'maximize is {maximize!r}\nhint: it takes "upper", "lower", "both" or None')
        self.name = str(name) if name is not None else type(self).__name__
        self.vectorized = bool(vectorized)
        self._spec: dict[str, Any] = {
            "name": self.name,
            "upper": _level(upper, n_ieq_upper, n_eq_upper, maximize in ("upper", "both")),
            "lower": _level(lower, n_ieq_lower, n_eq_lower, maximize in ("lower", "both")),
            "lower_constraints": "added",
            "equality_tolerance": float(equality_tolerance),
            "best_known": _best_known(best_known),
            "budget": None,
        }

    @property
    def n_upper(self) -> int:
        """Variables of the leader."""
        return len(self._spec["upper"]["space"]["bounds"])

    @property
    def n_lower(self) -> int:
        """Variables of the follower."""
        return len(self._spec["lower"]["space"]["bounds"])

    @property
    def bounds_upper(self) -> list[tuple[float, float]]:
        """The leader's box."""
        return [(low, high) for low, high in self._spec["upper"]["space"]["bounds"]]

    @property
    def bounds_lower(self) -> list[tuple[float, float]]:
        """The follower's box."""
        return [(low, high) for low, high in self._spec["lower"]["space"]["bounds"]]

    def evaluate_upper(self, x: Floats, y: Floats, out: dict[str, Any]) -> None:
        """The leader's objective (``out["F"]``) and constraints at (x, y)."""
        raise NotImplementedError(f"{type(self).__name__} has no method evaluate_upper(self, x, y, out)")

    def evaluate_lower(self, x: Floats, y: Floats, out: dict[str, Any]) -> None:
        """The follower's objective (``out["F"]``) and constraints at (x, y)."""
        raise NotImplementedError(f"{type(self).__name__} has no method evaluate_lower(self, x, y, out)")

    def __repr__(self) -> str:
        maximised = [level for level in ("upper", "lower") if self._spec[level]["direction"] == "maximize"]
        words = f", maximises the {' and the '.join(maximised)} level" if maximised else ""
        return f"<{self.name}: {self.n_upper}+{self.n_lower} variables{words}>"

    def _spec_json(self) -> str:
        return json.dumps(self._spec)

    def _source(self) -> tuple[str, str]:
        """The name under which the problem can be found again, and the hash of its definition."""
        return self.name, ""

    def _evaluator(self) -> _native.Functions | _native.Source:
        """What answers batches in this process."""
        levels = {
            level: {"out": method, "inequalities": self._spec[level]["inequalities"],
                    "equalities": self._spec[level]["equalities"]}
            for level, method in (("upper", self.evaluate_upper), ("lower", self.evaluate_lower))
        }
        return _native.Functions(self._spec_json(), levels["upper"], levels["lower"], self.vectorized)


class FunctionProblem(BilevelProblem):
    """A bilevel problem from plain functions; what :func:`bilevo.minimize` makes of its arguments.

    ``F(x, y)`` and ``f(x, y)`` return the objectives. Constraints of a level are a function that
    returns one or several values g <= 0, a list of such functions, or a mapping with the keys
    ``"G"`` (g <= 0) and ``"H"`` (h = 0). A constraint function is called once in the middle of the
    boxes to count its values.

    >>> problem = FunctionProblem(
    ...     lambda x, y: x[0] * y[0], lambda x, y: (y[0] - 8 + x[0]) ** 2, (0, 10), (0, 10),
    ...     upper_constraints={"G": lambda x, y: x[0] + y[0] - 12}, maximize="upper")
    >>> problem
    <function: 1+1 variables, maximises the upper level>
    """

    def __init__(
        self,
        F: Objective,
        f: Objective,
        bounds_upper: Bounds,
        bounds_lower: Bounds,
        *,
        upper_constraints: Constraints | None = None,
        lower_constraints: Constraints | None = None,
        maximize: Maximize | None = None,
        vectorized: bool = False,
        best_known: BestKnown | None = None,
        name: str | None = None,
        equality_tolerance: float = 1e-9,
    ) -> None:
        for label, function in (("F", F), ("f", f)):
            if not callable(function):
                raise ProblemError(f"{label} is {function!r}, which is not a function\nhint: give {label}(x, y)")
        self._objectives: dict[str, Objective] = {"upper": F, "lower": f}
        self._constraints: dict[str, list[tuple[Objective, int]]] = {}
        boxes = [read_bounds(bounds_upper, "upper"), read_bounds(bounds_lower, "lower")]
        counts = {}
        for level, given in (("upper", upper_constraints), ("lower", lower_constraints)):
            parts = _constraint_functions(given, level)
            counted = [[(g, _count(g, boxes, vectorized, level)) for g in part] for part in parts]
            self._constraints[level] = counted[0] + counted[1]
            counts[level] = [sum(count for _, count in part) for part in counted]
        super().__init__(
            boxes[0],
            boxes[1],
            n_ieq_upper=counts["upper"][0],
            n_eq_upper=counts["upper"][1],
            n_ieq_lower=counts["lower"][0],
            n_eq_lower=counts["lower"][1],
            maximize=maximize,
            vectorized=vectorized,
            best_known=best_known,
            name=name if name is not None else "function",
            equality_tolerance=equality_tolerance,
        )

    def _evaluator(self) -> _native.Functions:
        levels = {
            level: {"objective": self._objectives[level], "constraints": self._constraints[level]}
            for level in ("upper", "lower")
        }
        return _native.Functions(self._spec_json(), levels["upper"], levels["lower"], self.vectorized)

    def evaluate_upper(self, x: Floats, y: Floats, out: dict[str, Any]) -> None:
        self._fill("upper", x, y, out)

    def evaluate_lower(self, x: Floats, y: Floats, out: dict[str, Any]) -> None:
        self._fill("lower", x, y, out)

    def _fill(self, level: str, x: Floats, y: Floats, out: dict[str, Any]) -> None:
        out["F"] = self._objectives[level](x, y)
        values = [self._values(g, count, x, y) for g, count in self._constraints[level]]
        if values:
            together = np.concatenate(values, axis=-1)
            inequalities = self._spec[level]["inequalities"]
            out["G"], out["H"] = together[..., :inequalities], together[..., inequalities:]

    def _values(self, g: Objective, count: int, x: Floats, y: Floats) -> Floats:
        return _values.matrix(g(x, y), len(x), count) if self.vectorized else _values.row(g(x, y), count)


def _box(
    bounds: Bounds | None, count: int | None, low: Any, high: Any, level: str, names: tuple[str, str, str, str]
) -> list[tuple[float, float]]:
    """The box of a level from one of the two ways to give it."""
    if bounds is not None:
        if count is not None or low is not None or high is not None:
            raise ProblemError(f"give {names[0]}, or {names[1]} with {names[2]} and {names[3]}, not both")
        return read_bounds(bounds, level)
    if count is None or low is None or high is None:
        raise ProblemError(
            f"the {level} variables need their bounds\nhint: give {names[0]}, or {names[1]} with {names[2]} and {names[3]}"
        )
    if count < 1:
        raise ProblemError(f"{names[1]} is {count}\nhint: each level needs at least one variable")
    return spread_bounds(low, high, int(count), level)


def _level(bounds: list[tuple[float, float]], inequalities: int, equalities: int, maximised: bool) -> dict[str, Any]:
    for count in (inequalities, equalities):
        if count < 0:
            raise ProblemError(f"a number of constraints is {count}\nhint: it must be 0 or more")
    return {
        "space": {"bounds": bounds},
        "inequalities": int(inequalities),
        "equalities": int(equalities),
        "direction": "maximize" if maximised else "minimize",
    }


def _best_known(given: BestKnown | None) -> list[dict[str, float | None]]:
    """Every known optimum.

    >>> _best_known([3, (4, 5.5)])
    [{'upper': 3.0, 'lower': None}, {'upper': 4.0, 'lower': 5.5}]
    """
    if given is None:
        return []
    # a tuple is one optimum, a list several
    several = given if isinstance(given, list) else [given]
    optima: list[dict[str, float | None]] = []
    for one in several:
        pair = one if isinstance(one, tuple) else (one, None)
        if len(pair) != 2:
            raise ProblemError(f"best_known is {given!r}\nhint: give F, (F, f), or a list of such")
        upper, lower = pair
        optima.append({"upper": float(cast(float, upper)), "lower": None if lower is None else float(lower)})
    return optima


def _constraint_functions(given: Constraints | None, level: str) -> tuple[list[Objective], list[Objective]]:
    """Functions of g <= 0 and functions of h = 0."""

    def listed(functions: Objective | Iterable[Objective]) -> list[Objective]:
        several = [functions] if callable(functions) else list(functions)
        for function in several:
            if not callable(function):
                raise ProblemError(f"an {level} constraint is {function!r}, which is not a function of (x, y)")
        return several

    if given is None:
        return [], []
    if isinstance(given, Mapping):
        unknown = set(given) - {"G", "H"}
        if unknown:
            raise ProblemError(f'{level} constraints have the key {unknown.pop()!r}\nhint: "G" for g <= 0, "H" for h = 0')
        return listed(given.get("G", [])), listed(given.get("H", []))
    return listed(given), []


def _count(function: Objective, boxes: list[list[tuple[float, float]]], vectorized: bool, level: str) -> int:
    """How many values a constraint function returns, found by calling it in the middle of the box."""
    x, y = (np.array([(low + high) / 2 for low, high in box]) for box in boxes)
    try:
        values = function(x[None], y[None]) if vectorized else function(x, y)
        if values is None:
            raise TypeError("it returned None\nhint: does it end without `return`?")
        shape = np.shape(values)
        return int(np.prod(shape[1:] if vectorized else shape, dtype=int))
    except Exception as error:
        raise ProblemError(f"the {level} constraints cannot be evaluated in the middle of the box: {error}") from error
