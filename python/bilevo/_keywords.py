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
    "args": "no args=: write lambda x, y: F(x, y, a)",
    "bounds": "bounds_upper= and bounds_lower=",
    "constraints": "upper_constraints= and lower_constraints=",
    "direction": "maximize=",
    "disp": "progress=",
    "integrality": "integer_upper= and integer_lower=",
    "max_evals": "budget=",
    "max_iter": "budget=",
    "maxeval": "budget=",
    "maxfev": "budget=",
    "maxfun": "budget=",
    "maxiter": "budget=",
    "n_calls": "budget=",
    "n_jobs": "workers=",
    "n_trials": "budget=",
    "names": "names_upper= and names_lower=",
    "options": "settings=",
    "processes": "workers=",
    "random_state": "seed=",
    "rng": "seed=",
    "sense": "maximize=",
    "timeout": "time_limit= for the run and eval_timeout= for one evaluation",
    "verbose": "progress=",
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
