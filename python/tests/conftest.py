"""Problems and helpers for all tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bilevo

# A shell starts background jobs with Ctrl-C ignored, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def toll_income(x: Any, y: Any) -> Any:
    return x[0] * y[0]


def toll_trips(x: Any, y: Any) -> Any:
    return (y[0] - 8 + x[0]) ** 2 + 0.1 * y[0]


TOLL: dict[str, Any] = {"bounds_upper": [(0, 10)], "bounds_lower": [(0, 10)], "maximize": "upper"}


def solve_toll(**options: Any) -> bilevo.Result:
    """The toll problem, small enough for a test."""
    options = {"F": toll_income, "f": toll_trips, **TOLL, "method": "bl-cma-es", "seed": 1, "budget": 120, **options}
    result = bilevo.minimize(**options)
    # Whatever is not good is said, whether or not a test looks at the words.
    assert result.success == (not result.warnings)
    return result


def same(one: bilevo.Result, other: bilevo.Result) -> bool:
    """Whether two results agree in every bit that does not depend on the clock."""

    def timeless(result: bilevo.Result) -> dict[str, Any]:
        raw = result.to_dict()
        return {key: value for key, value in raw.items() if "seconds" not in key}

    return (
        timeless(one) == timeless(other)
        and np.array_equal(one.x, other.x, equal_nan=True)
        and np.array_equal(one.y, other.y, equal_nan=True)
    )


@pytest.fixture
def program() -> str:
    """The command line program, for tests that compare with it."""
    path = os.environ.get("BILEVO_PROGRAM")
    if not path:
        pytest.skip("BILEVO_PROGRAM does not name the program bilevo")
    return path


@pytest.fixture
def counted() -> Callable[[Callable[..., Any]], Any]:
    """Makes a function count its calls."""

    def wrap(function: Callable[..., Any]) -> Any:
        def counting(*args: Any) -> Any:
            counting.calls += 1  # type: ignore[attr-defined]
            return function(*args)

        counting.calls = 0  # type: ignore[attr-defined]
        return counting

    return wrap
