"""Problems written in Python: a class to derive from, or plain functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union, cast

import numpy as np
import numpy.typing as npt

from . import _answer, _native, _values
from ._bounds import Bounds, Integer, as_data, from_data, middle, read_bounds, read_space, spread_bounds
from ._constraints import Constraints, Objective, count_values, read_constraints
from ._errors import ProblemError

Floats: TypeAlias = npt.NDArray[np.float64]
Level: TypeAlias = Literal["upper", "lower", "follower"]
Maximize: TypeAlias = Literal["upper", "lower", "both"]
Names: TypeAlias = Sequence[str]
FollowerSolver: TypeAlias = Callable[[Any], Any]
BestKnown: TypeAlias = Union[float, tuple[float, float], Sequence[Union[float, tuple[float, float]]]]


class BilevelProblem:
    """A bilevel problem as a class, as in pymoo.

    Derive from it, give sizes and bounds, and write the two methods. Each fills ``out["F"]`` (the
    objective of its level) and, if there are constraints, ``out["G"]`` (feasible when <= 0) and
    ``out["H"]`` (feasible when = 0).

    Parameters
    ----------
    bounds_upper, bounds_lower:
        A pair (low, high) for each variable of the leader and of the follower. Instead, the sizes
        ``n_upper``, ``n_lower`` with ``xl``, ``xu`` (leader) and ``yl``, ``yu`` (follower) may be
        given, each a number or one number per variable. Equal bounds fix a variable.
    integer_upper, integer_lower:
        Which variables of a level are whole numbers: indices, a mask, or True for all of them.
    n_ieq_upper, n_eq_upper, n_ieq_lower, n_eq_lower:
        Number of values in ``out["G"]`` and ``out["H"]`` of each level.
    maximize:
        ``"upper"``, ``"lower"`` or ``"both"``; the rest is minimised.
    vectorized:
        Whether the methods receive whole batches: x and y with one row per point.
    best_known:
        F at the optimum, or (F, f), or a list of such; a run stops when it is reached.
    names_upper, names_lower:
        Names of the variables, which results then use.
    name:
        For messages and records.
    equality_tolerance:
        h = 0 is met if ``|h|`` is at most this.

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

    If you have your own solver for the follower, write a method ``follower(self, x)`` that returns y (of any
    length) or a :class:`bilevo.Answer`. Then neither ``evaluate_lower`` nor the follower's bounds are needed, and
    ``evaluate_upper`` receives what it returned in place of y.
    """

    def __init__(
        self,
        bounds_upper: Bounds | None = None,
        bounds_lower: Bounds | None = None,
        *,
        integer_upper: Integer | None = None,
        integer_lower: Integer | None = None,
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
        names_upper: Names | None = None,
        names_lower: Names | None = None,
        name: str | None = None,
        equality_tolerance: float = 1e-9,
    ) -> None:
        upper = _box(bounds_upper, n_upper, xl, xu, "upper", ("bounds_upper", "n_upper", "xl", "xu"))
        solver = self._solver()
        lower: list[tuple[float, float]] = []
        if solver is None or any(given is not None for given in (bounds_lower, n_lower, yl, yu)):
            lower = _box(bounds_lower, n_lower, yl, yu, "lower", ("bounds_lower", "n_lower", "yl", "yu"))
        if maximize not in (None, "upper", "lower", "both"):
            raise ProblemError(f'maximize is {maximize!r}\nhint: it takes "upper", "lower", "both" or None')
        self.name = str(name) if name is not None else type(self).__name__
        self.vectorized = bool(vectorized)
        spaces = [read_space(upper, integer_upper, "upper"), read_space(lower, integer_lower, "lower")]
        self._spec: dict[str, Any] = {
            "name": self.name,
            "upper": _level(spaces[0], n_ieq_upper, n_eq_upper, maximize in ("upper", "both"), names_upper, "upper"),
            "lower": _level(spaces[1], n_ieq_lower, n_eq_lower, maximize in ("lower", "both"), names_lower, "lower"),
            "lower_constraints": "added",
            "equality_tolerance": float(equality_tolerance),
            "best_known": _best_known(best_known),
            "budget": None,
            "follower": "search" if solver is None else "oracle",
        }

    if not TYPE_CHECKING:  # type checkers would take every attribute for one that exists

        def __getattr__(self, name: str) -> Any:
            # Only called for what is not there.
            own = type(self).__name__
            if name == "_spec":
                raise ProblemError(f"{own} has no sizes and bounds\nhint: call super().__init__(...) in its __init__")
            raise AttributeError(f"'{own}' object has no attribute '{name}'")

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
        return from_data(self._spec["upper"]["space"]["bounds"])

    @property
    def bounds_lower(self) -> list[tuple[float, float]]:
        """The follower's box."""
        return from_data(self._spec["lower"]["space"]["bounds"])

    @property
    def names_upper(self) -> tuple[str, ...]:
        """The names of the leader's variables; empty if they have none."""
        return tuple(self._spec["upper"]["space"].get("names") or ())

    @property
    def names_lower(self) -> tuple[str, ...]:
        """The names of the follower's variables; empty if they have none."""
        return tuple(self._spec["lower"]["space"].get("names") or ())

    def evaluate_upper(self, x: Floats, y: Floats, out: dict[str, Any]) -> None:
        """The leader's objective (``out["F"]``) and constraints at (x, y)."""
        raise NotImplementedError(f"{type(self).__name__} has no method evaluate_upper(self, x, y, out)")

    def evaluate_lower(self, x: Floats, y: Floats, out: dict[str, Any]) -> None:
        """The follower's objective (``out["F"]``) and constraints at (x, y)."""
        raise NotImplementedError(f"{type(self).__name__} has no method evaluate_lower(self, x, y, out)")

    def follower(self, x: Floats) -> Any:
        """Your own solver for the follower, if you have one: its answer to x, as y or a :class:`bilevo.Answer`."""
        raise NotImplementedError(f"{type(self).__name__} has no method follower(self, x)")

    def _solver(self) -> FollowerSolver | None:
        """The follower's own solver, if it has one."""
        return None if type(self).follower is BilevelProblem.follower else self.follower

    def __repr__(self) -> str:
        maximised = [level for level in ("upper", "lower") if self._spec[level]["direction"] == "maximize"]
        words = f", maximises the {' and the '.join(maximised)} level" if maximised else ""
        own = ", a follower with its own solver" if self._spec["follower"] == "oracle" else ""
        return f"<{self.name}: {self.n_upper}+{self.n_lower} variables{own}{words}>"

    def _spec_json(self) -> str:
        levels = {key: {**self._spec[key], "space": as_data(self._spec[key]["space"])} for key in ("upper", "lower")}
        return json.dumps({**self._spec, **levels})

    def _source(self) -> tuple[str, str]:
        """The name under which the problem can be found again, and the hash of its definition."""
        return self.name, ""

    def _evaluator(self) -> _native.Functions | _native.Source:
        """The evaluator of batches in this process."""
        levels = {
            level: {"out": method, "inequalities": self._spec[level]["inequalities"],
                    "equalities": self._spec[level]["equalities"]}
            for level, method in (("upper", self.evaluate_upper), ("lower", self.evaluate_lower))
        }
        return _native.Functions(self._spec_json(), levels["upper"], levels["lower"], self._solver(), self.vectorized)


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
        f: Objective | None = None,
        bounds_upper: Bounds | None = None,
        bounds_lower: Bounds | None = None,
        *,
        integer_upper: Integer | None = None,
        integer_lower: Integer | None = None,
        follower: FollowerSolver | None = None,
        upper_constraints: Constraints | None = None,
        lower_constraints: Constraints | None = None,
        maximize: Maximize | None = None,
        vectorized: bool = False,
        best_known: BestKnown | None = None,
        names_upper: Names | None = None,
        names_lower: Names | None = None,
        name: str | None = None,
        equality_tolerance: float = 1e-9,
        _count: Counter = count_values,
    ) -> None:
        searched = follower is None or f is not None or bounds_lower is not None
        if follower is not None and f is None and bounds_lower is not None:
            raise ProblemError(
                "`bounds_lower` is given, but not f: without f, only your solver decides about y"
                "\nhint: leave out bounds_lower, or give f(x, y) too if bilevo should check your solver's answers"
            )
        for label, function in (("F", F), ("f", f if searched else F), ("follower", follower or F)):
            if not callable(function):
                hint = "follower(x) returns y" if label == "follower" else "minimize(F, f, bounds_upper, bounds_lower)"
                raise ProblemError(f"{label} is {function!r}, which is not a function\nhint: {hint}")
        self._own_solver = follower
        self._objectives: dict[str, Objective] = {"upper": F, "lower": _nothing if f is None else f}
        self._constraints: dict[str, list[tuple[Objective, int]]] = {}
        if bounds_upper is None or (searched and bounds_lower is None):
            missing = "bounds_upper" if bounds_upper is None else "bounds_lower"
            raise ProblemError(f"`{missing}` is missing\nhint: give a pair (low, high) for each variable")
        if lower_constraints is not None and not searched:
            raise ProblemError(
                "`lower_constraints` only apply to a follower that bilevo searches"
                "\nhint: let the follower's solver respect them, or give f and bounds_lower too if they should be checked"
            )
        boxes = [read_bounds(bounds_upper, "upper")]
        if bounds_lower is not None:
            boxes.append(read_bounds(bounds_lower, "lower"))
        counts = {}
        sizes = (len(boxes[0]), len(boxes[1]) if searched else 0)
        for level, given in (("upper", upper_constraints), ("lower", lower_constraints)):
            less, equal = read_constraints(given, level, sizes, vectorized)
            asked = [g if follower is None or level == "lower" else _AtAnswer(g, follower, vectorized) for g in (*less, *equal)]
            numbers = _counted(asked, boxes, vectorized, level, _count)
            self._constraints[level] = list(zip([*less, *equal], numbers))
            counts[level] = [sum(numbers[: len(less)]), sum(numbers[len(less) :])]
        super().__init__(
            boxes[0],
            boxes[1] if searched else None,
            integer_upper=integer_upper,
            integer_lower=integer_lower,
            n_ieq_upper=counts["upper"][0],
            n_eq_upper=counts["upper"][1],
            n_ieq_lower=counts["lower"][0],
            n_eq_lower=counts["lower"][1],
            maximize=maximize,
            vectorized=vectorized,
            best_known=best_known,
            names_upper=names_upper,
            names_lower=names_lower,
            name=name if name is not None else "function",
            equality_tolerance=equality_tolerance,
        )

    def _evaluator(self) -> _native.Functions:
        levels = {
            level: {"objective": self._objectives[level], "constraints": self._constraints[level]}
            for level in ("upper", "lower")
        }
        return _native.Functions(self._spec_json(), levels["upper"], levels["lower"], self._own_solver, self.vectorized)

    def follower(self, x: Floats) -> Any:
        if self._own_solver is None:
            raise ProblemError("this problem has no follower with its own solver")
        return self._own_solver(x)

    def _solver(self) -> FollowerSolver | None:
        return self._own_solver

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
    """The box of a level, given in one of two ways."""
    if bounds is not None:
        if count is not None or low is not None or high is not None:
            raise ProblemError(f"give {names[0]}, or {names[1]} with {names[2]} and {names[3]}, not both")
        return read_bounds(bounds, level)
    if count is None or low is None or high is None:
        solver = "; a follower with its own solver needs none: define `follower(self, x)`" if level == "lower" else ""
        raise ProblemError(
            f"the {level} variables need their bounds\n"
            f"hint: give {names[0]}, or {names[1]} with {names[2]} and {names[3]}{solver}"
        )
    if count < 1:
        raise ProblemError(f"{names[1]} is {count}\nhint: each level needs at least one variable")
    return spread_bounds(low, high, int(count), level)


def _level(
    space: dict[str, Any],
    inequalities: int,
    equalities: int,
    maximised: bool,
    names: Names | None,
    level: str,
) -> dict[str, Any]:
    for count in (inequalities, equalities):
        if count < 0:
            raise ProblemError(f"a number of constraints is {count}\nhint: it must be 0 or more")
    return {
        "space": {**space, **({} if names is None else {"names": _names(names, len(space["bounds"]), level)})},
        "inequalities": int(inequalities),
        "equalities": int(equalities),
        "direction": "maximize" if maximised else "minimize",
    }


def _names(names: Names, count: int, level: str) -> list[str]:
    listed: list[Any] = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    if not all(isinstance(name, str) and name.strip() for name in listed) or not len(listed) == len(set(listed)) == count:
        raise ProblemError(f"names_{level} is {names!r}\nhint: give one name for each variable ({count}), all different")
    return listed


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


Counter: TypeAlias = Callable[[Sequence[Objective], Floats, Floats, bool], list[int]]


def _counted(
    functions: list[Objective], boxes: list[list[tuple[float, float]]], vectorized: bool, level: str, count: Counter
) -> list[int]:
    """How many values each constraint function returns, found by calling it in the middle of the box."""
    x, y = (np.array([middle(low, high) for low, high in box]) for box in (*boxes, [])[:2])
    try:
        return count(functions, x, y, vectorized) if functions else []
    except ProblemError:
        raise
    except Exception as error:
        raise ProblemError(f"the {level} constraints cannot be evaluated in the middle of the box: {error}") from error


def _nothing(x: Any, y: Any) -> float:
    """Stands in for the objective of a follower with only its own solver."""
    return float("nan")


class _AtAnswer:
    """A constraint of the leader at the answer of the follower's own solver."""

    def __init__(self, function: Objective, follower: FollowerSolver, vectorized: bool) -> None:
        self._function = function
        self._follower = follower
        self._vectorized = vectorized

    def __call__(self, x: Any, y: Any) -> Any:
        given = self._follower(x)
        if self._vectorized:
            return self._function(x, _answer.unpack_all(_answer.pack_all(given, len(x))))
        return self._function(x, _answer.unpack(*_answer.pack(given)))
