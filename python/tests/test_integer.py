"""Whole numbers and fixed variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bilevo


def shops(**options: Any) -> bilevo.Result:
    """The leader sets a price and a number of shops, the follower buys whole packets."""
    return bilevo.minimize(
        lambda x, y: x[2] * x[1] - x[0] * y[0],
        lambda x, y: (y[0] - 8 + x[0] - 0.5 * x[1]) ** 2,
        [(0, 10), (0, 6), (1.5, 1.5)],
        [(0, 9)],
        seed=1,
        **({"integer_upper": [1], "integer_lower": True, "budget": 200} | options),
    )


def test_answers_are_whole_and_fixed_variables_stay() -> None:
    asked = []
    result = shops(callback=lambda so_far: asked.append(so_far.x.copy()) and None)
    assert result.x[1] == round(result.x[1]) and result.y[0] == round(result.y[0]) and result.x[2] == 1.5
    decided = [x for x in asked if np.isfinite(x).all()]
    assert decided and all(x[1] == round(x[1]) and x[2] == 1.5 for x in decided)
    mask = shops(integer_upper=[False, True, False], integer_lower=np.array([True]))
    assert np.array_equal(result.x, mask.x) and result.nfev_lower == mask.nfev_lower


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"integer_upper": [True, False]}, "integer_upper is a mask of shape"),
        ({"integer_upper": [3]}, "names variable 3, but the upper level has 3 variables"),
        ({"integer_upper": [0.5]}, "give indices of variables"),
        ({"integer_upper": [0, 1, 0]}, "names a variable twice"),
        ({"integer_upper": [2]}, "no whole number lies within the bounds"),
    ],
)
def test_mistakes_are_told(options: dict[str, Any], message: str) -> None:
    with pytest.raises(bilevo.ProblemError, match=message):
        shops(**options)


def test_wide_ranges_and_bounds_that_are_not_whole() -> None:
    result = bilevo.minimize(
        lambda x, y: abs(x[0] - 123_456_789) / 1e6 + y[0],
        lambda x, y: (y[0] - 1.2) ** 2,
        [(-0.5, 1e9)],
        [(0.3, 4.9)],
        integer_upper=True,
        integer_lower=True,
        seed=1,
    )
    assert result.x[0] == 123_456_789 and result.y[0] == 1
    assert "[123456789]" in repr(result)
