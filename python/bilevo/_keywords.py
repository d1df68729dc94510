"""Keyword arguments that do not exist: an error that names the right one."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ._errors import ProblemError

P = ParamSpec("P")
R = TypeVar("R")

#: What other libraries call an argument, and what it is called here.
ELSEWHERE = {
    "bounds": "bounds_upper= and bounds_lower=",
    "constraints": "upper_constraints= and lower_constraints=",
    "integrality": "integer_upper= and integer_lower=",
    "maxfev": "budget=",
    "maxiter": "budget=",
    "max_iter": "budget=",
    "n_jobs": "workers=",
    "options": "settings=",
    "random_state": "seed=",
    "rng": "seed=",
}


class UnknownArgument(ProblemError, TypeError):
    """A keyword argument that does not exist: a TypeError, as for any function."""


def checked_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """The same function, which suggests the right name if a keyword argument is unknown."""
    known = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in known:
                raise UnknownArgument(f"{function.__name__}() has no argument `{name}`{_hint(name, known)}")
        return function(*args, **kwargs)

    return call


def _hint(name: str, known: list[str]) -> str:
    if name in ELSEWHERE:
        return f"\nhint: it has {ELSEWHERE[name]}"
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean `{close[0]}`?" if close else "\nhint: help(bilevo.minimize) lists them all"
