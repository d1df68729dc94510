"""Proofs for problems given by formulas."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native
from ._errors import ProblemError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Proof:
    """What was proven about a claim. Objective values are as your functions return them.

    ``follower`` has ``verdict`` (``"proven"``, ``"refuted"`` or ``"open"``), ``gap``, ``violation``,
    ``better``, ``boxes`` and ``seconds``; ``leader`` has ``verdict`` (``"proven"``, ``"better"`` or ``"open"``),
    ``lower_bound``, ``better``, ``boxes`` and ``seconds``. Each is None if that question
    was not asked.
    ``words`` explains it in sentences.
    """

    x: Floats | None
    y: Floats | None
    fun: float
    follower: Mapping[str, Any] | None
    leader: Mapping[str, Any] | None
    words: Sequence[str]
    _raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def refuted(self) -> bool:
        """Whether something better than the claim was found."""
        follower = self.follower is not None and self.follower["verdict"] == "refuted"
        return follower or (self.leader is not None and self.leader["verdict"] == "better")

    def to_dict(self) -> dict[str, Any]:
        """The object that ``bilevo prove --format json`` prints."""
        return dict(self._raw)


def prove(
    problem: str | os.PathLike[str],
    x: npt.ArrayLike | None = None,
    y: npt.ArrayLike | None = None,
    *,
    claim: float | None = None,
    eps: float = 1e-2,
    time_limit: float = 60.0,
    seed: int | None = None,
) -> Proof:
    """Prove an answer of a problem that is given by formulas, or find a better one.

    ``problem`` is a problem file or the name of a built-in one. With ``x`` and ``y``, the proof answers two
    questions: does the follower have a better answer at x, and is there any better decision? With ``claim``, it
    answers only the second, for that value of F. With neither, it solves the problem first, with ``seed``.
    Differences of F up to ``eps`` times ``max(1, |F|)`` count as none.

    >>> import bilevo
    >>> bilevo.prove("basblib/mb_2007_19", claim=-0.2).leader["verdict"]
    'better'
    """
    if (x is None) != (y is None):
        raise ProblemError("x and y go together\nhint: give both, or neither")
    if x is not None and claim is not None:
        raise ProblemError("a point already claims its own F\nhint: leave out `claim`, or x and y")
    if not (eps > 0 and np.isfinite(eps)):
        raise ProblemError(f"eps is {eps}\nhint: it takes a number above 0")
    if claim is not None and not np.isfinite(claim):
        raise ProblemError(f"claim is {claim}\nhint: it takes a finite number")
    if not (time_limit >= 0 and np.isfinite(time_limit)):
        raise ProblemError(f"time_limit is {time_limit}\nhint: it takes a number of seconds")
    if not isinstance(problem, (str, os.PathLike)):
        raise ProblemError(f"problem is {problem!r}\nhint: give the path of a problem file, or the name of a built-in problem")
    name = os.fspath(problem)
    point = None if x is None or y is None else (_numbers(x), _numbers(y))
    if point is not None and not np.isfinite([*point[0], *point[1]]).all():
        raise ProblemError("x or y has a value that is not finite\nhint: give the point of this problem")
    if point is None and claim is None:
        from ._minimize import minimize

        found = minimize(name, seed=seed)
        point = (_numbers(found.x), _numbers(found.y))
    text, words = _native.prove(name, point, float("nan") if claim is None else claim, eps, time_limit)
    raw = json.loads(text)
    fun = float("nan") if raw["F"] is None else raw["F"]
    return Proof(_array(raw["x"]), _array(raw["y"]), fun, raw["follower"], raw["leader"], words, raw)


def _numbers(values: npt.ArrayLike) -> list[float]:
    return [float(value) for value in np.atleast_1d(np.asarray(values, dtype=float)).ravel()]


def _array(values: list[float] | None) -> npt.NDArray[np.float64] | None:
    return None if values is None else np.array(values, dtype=float)
