"""The front of a leader with two goals."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._errors import ProblemError
from ._known import Evaluations
from ._minimize import minimize
from ._result import Result
from ._settings import Seed, read_count, read_seed

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]
Goal = Callable[[Any, Any], float]

#: A limit on the second goal may be missed by this share of its range on the front.
_SLACK = 1e-6
#: An excess up to this share counts as rounding, because searches end at limits.
_ROUNDING = 1e-8
#: Goals that differ by less than this share of their range on the front are equal.
_SAME = 1e-4
#: The ends of the front need a wide search: each gets this many shares of a total budget.
_END = 3


@dataclass(frozen=True)
class Front:
    """A Pareto front: decisions that can improve in one goal only at the expense of the other, sorted by the first.

    ``F`` has a row (F1, F2) for each point, ``x`` and ``y`` the decisions and the follower's answers, ``results``
    the runs they come from. ``verified`` says for each point whether the follower's answer was checked and all
    constraints hold. ``nfev`` counts the evaluations of all runs; both goals at one point count as one.
    """

    F: Floats
    x: Floats
    y: Floats
    verified: npt.NDArray[np.bool_]
    nfev: int
    results: Sequence[Result] = field(repr=False)

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    @property
    def success(self) -> bool:
        """Whether every point is verified."""
        return bool(self.verified.all())

    def to_pandas(self) -> pandas.DataFrame:
        """One row for each point: both goals, x, y, verified (needs the extra ``pandas``)."""
        from ._optional import pandas as load

        first = self.results[0]
        x = list(first.names_upper) or [f"x{index + 1}" for index in range(self.x.shape[1])]
        y = list(first.names_lower) or [f"y{index + 1}" for index in range(self.y.shape[1])]
        frame: pandas.DataFrame = load().DataFrame(np.hstack([self.F, self.x, self.y]), columns=["F1", "F2", *x, *y])
        frame["verified"] = self.verified
        return frame

    def plot(self) -> Figure:
        """The front, the second goal over the first (needs the extra ``plot``)."""
        from ._plot import plot_front

        return plot_front(self)


class _Memory:
    """Both goals at every evaluated point, so that the points of one run are known to the next."""

    def __init__(self, goals: Sequence[Goal], sign: float, by_solver: bool) -> None:
        self._goals = goals
        self._sign = sign
        # The follower's own solver has a single answer to each decision.
        self.by_solver = by_solver
        self._values: dict[bytes, tuple[float, float]] = {}
        self._tables: list[tuple[Evaluations, int]] = []

    def at(self, x: Any, y: Any) -> tuple[float, float]:
        key = np.asarray(x, dtype=float).tobytes()
        if not self.by_solver:
            key += np.asarray(y, dtype=float).tobytes()
        if key not in self._values:
            first, second = (self._sign * float(goal(x, y)) for goal in self._goals)
            self._values[key] = (first, second)
        return self._values[key]

    def keep(self, result: Result, limits: int) -> None:
        """Stores the evaluations of a run whose first ``limits`` constraints are limits on a goal."""
        if result.evaluations is not None:
            self._tables.append((result.evaluations, limits))

    def known(self, aim: _Aim) -> list[dict[str, Floats]]:
        """The evaluations of all runs, for a run with another aim."""
        return [self._table(table, limits, aim) for table, limits in self._tables]

    def _table(self, table: Evaluations, limits: int, aim: _Aim) -> dict[str, Floats]:
        both = np.full((len(table), 2), np.nan)
        for row in np.flatnonzero(np.isfinite(table.F)):
            both[row] = self.at(table.x[row], table.y[row])
        G = table.G[:, limits:]
        if aim.limit is not None:
            G = np.column_stack([aim.excess(both[:, 1 - aim.goal]), G])
        return {"x": table.x, "y": table.y, "F": both[:, aim.goal], "G": G, "f": table.f, "g": table.g}


@dataclass(frozen=True)
class _Aim:
    """What a run minimises, and the limit on the other goal."""

    goal: int
    limit: float | None = None
    scale: float = 1.0

    def excess(self, other: Any) -> Any:
        """By how much the other goal exceeds its limit, as a share of its range."""
        excess = (np.asarray(other) - self.limit) / self.scale
        return np.where((excess > 0) & (excess <= _ROUNDING), 0.0, excess)


@dataclass(frozen=True, eq=False)
class _Point:
    aim: _Aim
    goals: tuple[float, float]
    result: Result
    by_solver: bool = False
    #: The warnings of its run.
    said: tuple[Warning, ...] = ()

    @property
    def meets_limit(self) -> bool:
        """Whether it is at its limit. If not, it could have gone further, or the front has a gap."""
        return self.aim.limit is None or self.goals[1 - self.aim.goal] >= self.aim.limit - _SAME * self.aim.scale

    @property
    def verified(self) -> bool:
        verification = self.result.verification
        checked = verification is None or verification.rechecked or self.result.y.size == 0
        if verification is not None and self.by_solver:
            # The solver is trusted; what counts is that the search finished.
            checked = verification.agreed or verification.restarts == 0
        return checked and self.result.maxcv_upper <= 1e-6 and self.result.maxcv_lower <= 1e-6


@dataclass(frozen=True)
class _Ends:
    """Both goals at either end of the front."""

    first: tuple[float, float]
    second: tuple[float, float]

    def aim(self, limit: float) -> _Aim:
        scale = abs(self.first[1] - self.second[1])
        return _Aim(0, limit + _SLACK * scale, scale)

    @property
    def tolerance(self) -> float:
        """First goals that differ by less than this are equal."""
        return _SAME * abs(self.first[0] - self.second[0])


class _Sweep:
    """The runs of a front."""

    def __init__(self, memory: _Memory, f: Any, boxes: tuple[Any, Any], constraints: Any, options: dict[str, Any]) -> None:
        self.memory = memory
        self.f, self.boxes, self.constraints, self.options = f, boxes, constraints, options
        self.found: list[_Point] = []
        self.nfev = 0
        #: Limit on the evaluations of all runs, and the shares of it that are left.
        self.total: int | None = None
        self.shares = 0

    def run(self, aim: _Aim, share: int, **more: Any) -> _Point:
        goal, limit = aim.goal, aim.limit
        constraints = self.constraints
        if limit is not None:
            constraints = _with_limit(constraints, lambda x, y: float(aim.excess(self.memory.at(x, y)[1 - goal])))
        # A run may be repeated, so only the warnings of the final points are issued.
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            result = minimize(
                lambda x, y: self.memory.at(x, y)[goal],
                self.f,
                *self.boxes,
                upper_constraints=constraints,
                known=self.memory.known(aim),
                budget=self._budget(share),
                **{**self.options, **more},
            )
        self.nfev += result.nfev
        if not np.isfinite(result.x).all():
            raise ProblemError("a run of the front ended without an answer\nhint: give it a larger budget")
        self.memory.keep(result, limits=0 if limit is None else 1)
        told = tuple(each.message for each in said if isinstance(each.message, Warning))
        point = _Point(aim, self._goals(result), result, self.memory.by_solver, told)
        self.found.append(point)
        return point

    def _goals(self, result: Result) -> tuple[float, float]:
        return self.memory.at(result.x, result.y)

    def _budget(self, share: int) -> dict[str, int] | None:
        if self.total is None:
            return None
        left = max(self.total - self.nfev, 1)
        part = max(left * share // max(self.shares, share), 1)
        self.shares -= share
        return {"total": part}

    def between(self, limit: float, ends: _Ends) -> None:
        """The point with the second goal at a limit: starting between its neighbours, or by a wider search if that
        fails."""
        aim = ends.aim(limit)
        point = self.run(aim, 1, **self._start(limit), **self.effort("local"))
        # With a total budget, no evaluations are left for a second try.
        if self.total is None and not (point.verified and point.meets_limit):
            self.found.remove(point)
            self.run(aim, 1, **self.effort(self.wider))

    def repair(self, limit: float, ends: _Ends) -> None:
        """The same again, from the best point that meets the limit, if that is better than the result."""
        aim = ends.aim(limit)
        mine = [point for point in self.found if point.aim == aim]
        others = [p for p in self.found if p.verified and aim.limit is not None and p.goals[1] <= aim.limit]
        best = min(others, key=lambda point: point.goals[0], default=None)
        if self.total is None and best is not None and best.goals[0] < mine[0].goals[0] - ends.tolerance:
            self.found.remove(mine[0])
            self.run(aim, 1, start=best.result, **self.effort(self.wider))

    @property
    def wider(self) -> str:
        """How many restarts must agree. With the follower's own solver, a quick run has none."""
        return "normal" if self.memory.by_solver else "quick"

    def _start(self, limit: float) -> dict[str, Any]:
        """Halfway between the answers of the nearest points on either side."""
        above = min((p for p in self.found if p.goals[1] >= limit), key=lambda p: p.goals[1])
        below = max((p for p in self.found if p.goals[1] < limit), key=lambda p: p.goals[1])
        share = (above.goals[1] - limit) / (above.goals[1] - below.goals[1])
        start = {"x0": above.result.x + share * (below.result.x - above.result.x)}
        if not self.memory.by_solver:
            start["y0"] = above.result.y + share * (below.result.y - above.result.y)
        return start

    def effort(self, effort: str) -> dict[str, Any]:
        """The effort, unless the caller sets it or the method has no such setting."""
        settings = self.options.get("settings") or {}
        said = self.options.get("effort") is not None or "portfolio.effort" in settings
        return {} if said or self.options.get("method", "auto") not in ("auto", "portfolio") else {"effort": effort}


def pareto(
    goals: Sequence[Goal],
    f: Any = None,
    bounds_upper: Any = None,
    bounds_lower: Any = None,
    *,
    points: int = 9,
    upper_constraints: Any = None,
    maximize: str | None = None,
    seed: Seed = None,
    budget: Mapping[str, int] | None = None,
    **options: Any,
) -> Front:
    """Find the Pareto front of a leader with two goals: what one goal costs in terms of the other.

    Each goal is minimised alone, which gives the ends of the front. Between them, the first goal is minimised with
    limits on the second, spread evenly over its range. Each of these runs starts from its neighbours' answers, and
    all share their evaluations (``known`` of :func:`bilevo.minimize`). Every point is verified like any other answer.

    Parameters
    ----------
    goals:
        Two functions of (x, y), both minimised, or both maximised with ``maximize="upper"`` or ``"both"``.
    f, bounds_upper, bounds_lower, upper_constraints, and all other options:
        As for :func:`bilevo.minimize`, except ``workers``, ``vectorized``, ``known`` and ``checkpoint``.
    points:
        Number of points, at least two. If the goals do not conflict, the front has fewer.
    budget:
        ``{"total": ...}`` limits the evaluations of all runs together, exact to within one batch per run.

    Examples
    --------
    >>> import bilevo
    >>> front = bilevo.pareto(
    ...     [lambda x, y: (x[0] - 1) ** 2, lambda x, y: y[0] ** 2],   # the follower answers y = x
    ...     lambda x, y: (y[0] - x[0]) ** 2, [(-3, 3)], [(-3, 3)], points=3, seed=1)
    >>> front.F.round(2).tolist()
    [[0.0, 1.0], [0.09, 0.5], [1.0, 0.0]]
    """
    goals, points = _check(goals, points, options)
    flips = maximize in ("upper", "both")
    sign = -1.0 if flips else 1.0
    options |= {"maximize": "lower" if maximize in ("lower", "both") else None, "seed": read_seed(seed)}
    memory = _Memory(goals, sign, by_solver=options.get("follower") is not None)
    sweep = _Sweep(memory, f, (bounds_upper, bounds_lower), upper_constraints, options)
    sweep.total, sweep.shares = _total(budget), 2 * _END + points - 2
    ends = _Ends(sweep.run(_Aim(0), _END).goals, sweep.run(_Aim(1), _END, **sweep.effort(sweep.wider)).goals)
    limits = [float(limit) for limit in np.linspace(ends.first[1], ends.second[1], points)[1:-1]]
    if ends.second[1] < ends.first[1]:
        for limit in _halving(limits):
            sweep.between(limit, ends)
        for limit in sorted(limits):
            sweep.repair(limit, ends)
    return _front(sweep, sign)


def _halving(limits: list[float]) -> Iterator[float]:
    """The middle first, then the middles of both halves, and so on."""
    if limits:
        middle = len(limits) // 2
        yield limits[middle]
        yield from _halving(limits[:middle])
        yield from _halving(limits[middle + 1 :])


def _check(goals: Sequence[Goal], points: int, options: Mapping[str, Any]) -> tuple[list[Goal], int]:
    goals = [goals] if callable(goals) else list(goals)
    if len(goals) != 2 or not all(callable(goal) for goal in goals):
        raise ProblemError("pareto needs two goals\nhint: pareto([F1, F2], f, bounds_upper, bounds_lower)")
    if read_count("points", points) < 2:
        raise ProblemError(f"points is {points}\nhint: a front has at least two ends")
    for refused in ("workers", "vectorized", "known", "checkpoint", "best_known", "start", "x0", "y0"):
        if options.get(refused) is not None and options[refused] is not False:
            raise ProblemError(f"pareto takes no `{refused}`\nhint: leave it out")
    return goals, int(points)


def _total(budget: Mapping[str, int] | None) -> int | None:
    if budget is None:
        return None
    if not isinstance(budget, Mapping) or set(budget) != {"total"}:
        raise ProblemError(f"the budget is {budget!r}\nhint: give {{'total': ...}}, the evaluations of all runs together")
    return read_count("the total budget", budget["total"])


def _with_limit(constraints: Any, limit: Goal) -> Any:
    """The limit, then the constraints of the problem."""
    if constraints is None:
        return [limit]
    if isinstance(constraints, Mapping) and {"G", "H"} & set(constraints):
        given = constraints.get("G", ())
        inequalities = [given] if callable(given) else list(given)
        return {**constraints, "G": [limit, *inequalities]}
    return [limit, *(constraints if isinstance(constraints, (list, tuple)) else [constraints])]


def _front(sweep: _Sweep, sign: float) -> Front:
    """The points that no other point beats in both goals."""

    found = sweep.found

    def beaten(point: _Point) -> bool:
        others = (other.goals for other in found if other is not point and (other.verified or not point.verified))
        return any(a <= point.goals[0] and b <= point.goals[1] and (a, b) != point.goals for a, b in others)

    kept = sorted((point for point in found if not beaten(point)), key=lambda point: point.goals)
    kept = [point for at, point in enumerate(kept) if at == 0 or point.goals != kept[at - 1].goals]
    told = {str(warning): warning for point in kept for warning in point.said}
    for warning in told.values():
        warnings.warn(warning, stacklevel=3)
    return Front(
        F=sign * np.array([point.goals for point in kept]),
        x=np.array([point.result.x for point in kept]),
        y=np.array([point.result.y for point in kept]),
        verified=np.array([point.verified for point in kept], dtype=np.bool_),
        nfev=sweep.nfev,
        results=tuple(point.result for point in kept),
    )
