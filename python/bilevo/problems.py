"""Built-in problems, problem files and external programs.

>>> import bilevo
>>> problem = bilevo.problems.smd(1)
>>> problem
<smd1: 2+3 variables>
>>> problem.evaluate("upper", [1, 2], [0, 3, 0]).value
18.0
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from . import _native, _values
from ._errors import ProblemError
from ._problem import BilevelProblem, Floats, Level

AnyProblem: TypeAlias = Union[BilevelProblem, str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Evaluation:
    """One evaluated point: its objective value and its constraint values, g <= 0 before h = 0."""

    value: float
    constraints: Floats


class NamedProblem(BilevelProblem):
    """A problem that bilevo itself can evaluate: built in, from a problem file, or a program.

    Parameters
    ----------
    name:
        A built-in name as in :func:`names`, or the path of a problem file.
    dims:
        Numbers of variables of the leader and of the follower, for problems that come in several sizes.
    """

    def __init__(self, name: str | os.PathLike[str], dims: tuple[int, int] | None = None) -> None:
        self._arguments = (os.fspath(name), None if dims is None else (int(dims[0]), int(dims[1])))
        self._native = _native.Source(*self._arguments)
        self._spec = json.loads(self._native.spec())
        self.name = self._spec["name"]
        self.vectorized = False

    def evaluate(self, level: Level, x: npt.ArrayLike, y: npt.ArrayLike) -> Evaluation:
        """The objective and the constraints of a level at one point."""
        if level not in ("upper", "lower"):
            raise ProblemError(f"level is {level!r}\nhint: 'upper' or 'lower'")
        points = (np.atleast_2d(_values.plain(v)) for v in (x, y))
        values, constraints, failures = self._native.evaluate(level, *points)
        for _, failure in failures:
            raise failure
        return Evaluation(float(values[0]), constraints[0])

    def evaluate_upper(self, x: Floats, y: Floats, out: dict[str, Any]) -> None:
        self._fill("upper", x, y, out)

    def evaluate_lower(self, x: Floats, y: Floats, out: dict[str, Any]) -> None:
        self._fill("lower", x, y, out)

    def _fill(self, level: Level, x: Floats, y: Floats, out: dict[str, Any]) -> None:
        evaluation = self.evaluate(level, x, y)
        inequalities = self._spec[level]["inequalities"]
        out["F"] = evaluation.value
        out["G"], out["H"] = evaluation.constraints[:inequalities], evaluation.constraints[inequalities:]

    def _with_jobs(self, jobs: int) -> _native.Source:
        """The evaluator of batches, on this many threads or programs."""
        return _native.Source(*self._arguments, jobs)

    def _source(self) -> tuple[str, str]:
        return self._native.place(), self._native.hash()

    def _evaluator(self) -> _native.Source:
        return self._native

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments


def load(name: str | os.PathLike[str], dims: tuple[int, int] | None = None) -> NamedProblem:
    """A problem by its built-in name, or from a problem file."""
    return NamedProblem(name, dims)


def find(problem: AnyProblem) -> BilevelProblem:
    """The problem itself, or the problem of that name."""
    if isinstance(problem, BilevelProblem):
        return problem
    if isinstance(problem, (str, os.PathLike)):
        return load(problem)
    hint = "a BilevelProblem, the name of a built-in problem, or the path of a problem file"
    if isinstance(problem, type) and issubclass(problem, BilevelProblem):
        hint = f"an instance: {problem.__name__}()"
    raise ProblemError(f"the problem is {problem!r}\nhint: give {hint}")


def smd(number: int, upper: int = 2, lower: int = 3) -> NamedProblem:
    """A problem of the SMD suite, 1 to 12, with the given numbers of variables."""
    return load(f"smd{number}", (upper, lower))


def tp(number: int) -> NamedProblem:
    """A problem of the TP suite, 1 to 10."""
    return load(f"tp{number}")


def names() -> Sequence[str]:
    """The names of all built-in problems."""
    return _native.problem_names()
