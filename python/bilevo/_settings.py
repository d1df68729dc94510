"""Methods, settings, budgets and seeds, in the forms in which people write them."""

from __future__ import annotations

import json
import math
import operator
import secrets
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, Union

import numpy as np

from . import _native
from ._errors import ProblemError

Seed: TypeAlias = Union[int, np.random.Generator, None]
Budget: TypeAlias = Union[int, Mapping[str, int], None]

EFFORTS = ("local", "quick", "normal", "thorough", "budget")


def method_name(method: str) -> str:
    """The method's own name; ``auto`` is the recommended one."""
    if not isinstance(method, str):
        raise ProblemError(f"method is {method!r}\nhint: give a name, as in method='auto'; bilevo.methods() lists them")
    return _native.method_name(method)


def known_method(method: str) -> str:
    """The given name, if there is such a method; what ``auto`` means depends on the problem."""
    method_name(method)
    return method


def read_seed(seed: Seed) -> int:
    """A seed of 64 bits; a random one if none is given.

    >>> read_seed(3), read_seed(np.int64(3))
    (3, 3)
    """
    if seed is None:
        return secrets.randbits(32)
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**32))
    try:
        number = operator.index(seed)
    except TypeError:
        raise ProblemError(f"seed is {seed!r}\nhint: give a whole number or a numpy Generator") from None
    if not 0 <= number < 2**64:
        raise ProblemError(f"seed is {number}\nhint: it must lie between 0 and 2**64 - 1")
    return number


def read_settings(
    settings: Mapping[str, Any] | None, budget: Budget, effort: str | None = None
) -> list[tuple[str, str]]:
    """Settings as paths and texts.

    >>> read_settings({"upper": {"population": 20}, "stop.target": "off"}, 500)
    [('upper.population', '20'), ('stop.target', 'off'), ('stop.max_upper_evals', '500')]
    """
    if settings is not None and not isinstance(settings, Mapping):
        raise ProblemError(f"settings is {settings!r}\nhint: give a mapping, as in {{'upper.population': 20}}")
    pairs = list(_leaves(settings or {}, ""))
    given = {path for path, _ in pairs}
    arguments = [("the budget", path, text) for path, text in _budget(budget)]
    if effort is not None:
        if effort not in EFFORTS:
            raise ProblemError(f"effort is {effort!r}\nhint: it takes {', '.join(map(repr, EFFORTS))}")
        arguments.append(("effort", "portfolio.effort", effort))
    for argument, path, text in arguments:
        if path in given:
            raise ProblemError(f"`{path}` is set by {argument} and by the settings\nhint: leave one of them out")
        pairs.append((path, text))
    return pairs


def read_seconds(name: str, seconds: float | None) -> float | None:
    """A number of seconds, if one is given; infinity means no limit."""
    number = read_number(name, seconds, "a number of seconds")
    return None if number == math.inf else number


def read_number(name: str, value: float | None, what: str) -> float | None:
    """A number that is not negative, if one is given."""
    try:
        number = None if value is None else float(value)
    except (TypeError, ValueError):
        number = -1.0
    if number is not None and not number >= 0:
        raise ProblemError(f"{name} is {value!r}\nhint: give {what}")
    return number


def read_count(name: str, count: Any, most: int = 2**63) -> int:
    """A whole number that is not negative."""
    try:
        number = operator.index(count)
    except TypeError:
        number = -1
    if not 0 <= number <= most:
        raise ProblemError(f"{name} is {count!r}\nhint: give a whole number from 0 on")
    return number


def _budget(budget: Budget) -> Iterator[tuple[str, str]]:
    if budget is None:
        return
    several = budget if isinstance(budget, Mapping) else {"upper": budget}
    for level, count in several.items():
        if level not in ("upper", "lower", "total"):
            raise ProblemError(f"the budget has the key {level!r}\nhint: 'upper', 'lower' and 'total' count evaluations")
        try:
            # people write 1e5 for a whole number
            number = operator.index(count if isinstance(count, int) or int(count) != count else int(count))
        except (TypeError, ValueError, OverflowError):
            raise ProblemError(f"the {level} budget is {count!r}\nhint: give a whole number of evaluations") from None
        if number < 1:
            raise ProblemError(f"the {level} budget is {number}\nhint: it must be at least 1")
        yield "stop.max_evals" if level == "total" else f"stop.max_{level}_evals", str(number)


def _leaves(tree: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", _text(value)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    try:
        return json.dumps(value)
    except TypeError:
        raise ProblemError(f"a setting is {value!r}\nhint: numbers, words, True, False and None are settings") from None


def methods() -> dict[str, str]:
    """Every method with a sentence about it.

    >>> "bl-cma-es" in methods()
    True
    """
    return dict(_native.method_names())


def explain(method: str) -> dict[str, Any]:
    """The settings of a method with their values, as a tree that ``settings=`` takes.

    >>> explain("cr-bl-cma-es")["allocator"]["kind"]
    'contrastive'
    """
    settings: dict[str, Any] = json.loads(_native.method_settings(method_name(method)))
    return settings
