"""Functions that fail somewhere, and functions that are wrong."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import same, solve_toll, toll_trips

import bilevo

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.filterwarnings("ignore::bilevo.BilevoWarning")


def raises_above(y: float) -> Any:
    def function(x: Any, answer: Any) -> Any:
        if answer[0] > y:
            raise ValueError("no steady state")
        return (answer[0] - x[0] / 2) ** 2

    return function


@pytest.mark.parametrize("edge", [0.5, 0.35])
def test_a_function_that_raises_in_a_part_of_the_box_does_not_end_the_run(edge: float) -> None:
    for seed in range(40):
        result = bilevo.minimize(
            lambda x, y: (x[0] - 0.3) ** 2 + y[0], raises_above(edge), (0, 1), (0, 1), seed=seed, budget=20
        )
        assert result.n_failed < result.nfev, seed


def test_failures_that_differ_are_no_mistake_in_the_function(counted: Any) -> None:
    def different(x: Any, y: Any) -> Any:
        raise ValueError(f"no answer at {y[0]}")

    function = counted(different)
    result = solve_toll(f=function)
    assert result.n_failed == result.nfev_lower == function.calls >= 20 and not result.success


@pytest.mark.parametrize("vectorized", [False, True])
@pytest.mark.parametrize("method", ["auto", "bl-cma-es"])
def test_the_same_error_everywhere_is_told_at_once(method: str, vectorized: bool, counted: Any) -> None:
    def wrong(x: Any, y: Any) -> Any:
        return undefined_name  # type: ignore[name-defined]  # noqa: F821

    for which in ("F", "f"):
        batches = {"F": lambda x, y: x[:, 0], "f": lambda x, y: y[:, 0]} if vectorized else {}
        function = counted(wrong)
        with pytest.raises(bilevo.EvaluationError, match="with the same error: NameError") as raised:
            solve_toll(**{**batches, which: function}, method=method, vectorized=vectorized, budget=None)
        assert isinstance(raised.value.__cause__, NameError) and function.calls < 100
        assert raised.value.code == "E302"


def test_one_bad_point_does_not_take_its_batch_with_it() -> None:
    def batch(x: Any, y: Any) -> Any:
        if (y[:, 0] < 2).any():
            raise ValueError("somewhere below 2")
        return toll_trips(x.T, y.T)

    def single(x: Any, y: Any) -> Any:
        if y[0] < 2:
            raise ValueError("somewhere below 2")
        return toll_trips(x, y)

    together = solve_toll(F=lambda x, y: x[:, 0] * y[:, 0], f=batch, vectorized=True)
    alone = solve_toll(f=single)
    assert together.n_failed > 0 and same(together, alone)


def test_an_answer_that_is_not_good_says_so() -> None:
    with pytest.warns(bilevo.BilevoWarning, match="spent before"):
        result = solve_toll(budget=10)
    assert not result.success and any("spent before" in str(told) for told in result.warnings)
    with pytest.warns(bilevo.BilevoWarning, match="meets the leader's constraints; the smallest violation was"):
        result = solve_toll(upper_constraints=lambda x, y: 3 + x[0], method="auto", budget=None, audit=True)
    assert not result.success and result.maxcv_upper >= 3


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ({}, "W611", "the upper budget was spent before the search converged"),
        ({"budget": {"upper": 10**6, "lower": 2000}}, "W611", "the lower budget was spent before the search converged"),
        ({"callback": lambda result: result.nit == 2}, "W611", "the run was stopped before the search converged"),
        ({"time_limit": 0}, "W601", "there is no answer: the run ended before its first generation did"),
        ({"method": "portfolio", "budget": 12}, "W609", "the follower's answer was searched only once"),
    ],
)
def test_a_short_run_says_what_it_lacks(options: Any, code: str, words: str) -> None:
    with pytest.warns(bilevo.BilevoWarning, match=words) as told:
        result = solve_toll(**options)
    assert not result.success
    assert any(said.code == code and str(said).startswith(words) for said in result.warnings)
    assert [warning.message for warning in told] == list(result.warnings)
    kept = pickle.loads(pickle.dumps(result)).warnings
    assert [(said.code, str(said)) for said in kept] == [(said.code, str(said)) for said in result.warnings]


def test_codes_of_warnings_are_in_the_guide() -> None:
    listed = re.findall(r"^\| `(W\d+)` \|", (ROOT / "docs/src/errors.md").read_text(), re.MULTILINE)
    sources = (Path(bilevo.__file__).parent).glob("*.py")
    used = {code for source in sources for code in re.findall(r'BilevoWarning\(\w+, "(W\d+)"\)', source.read_text())}
    assert used == {"W301", "W302", "W402"} and used <= set(listed)


def test_a_target_that_was_missed_is_told() -> None:
    with pytest.warns(bilevo.BilevoWarning, match="the best known optimum was not reached: F = "):
        assert not bilevo.minimize("smd1", method="bl-cma-es", seed=1, budget=60).success


def test_success_and_an_audit_against_it_exclude_each_other() -> None:
    def two_valleys(x: Any, y: Any) -> Any:
        return min(((y[0] - 2) / 4) ** 2, 1e4 * (y[0] - 9.5) ** 2 - 0.2)

    against = 0
    for seed in range(6):
        for method in ("auto", "bl-cma-es"):
            result = solve_toll(f=two_valleys, audit=True, budget=None, method=method, seed=seed)
            assert result.audit is not None and (result.audit.passed or not result.success)
            against += not result.audit.passed
    assert against > 0, "nothing was tried"


def test_verification_is_told() -> None:
    result = solve_toll(method="auto", budget=None)
    assert result.success and result.verification is not None and result.verification.rechecked
    assert result.verification.corrected <= result.verification.rechecks
    assert result.verification.words in repr(result) and "answer" in repr(result)


def test_how_often_such_answers_were_right_is_told() -> None:
    result = solve_toll(method="auto", budget=None)
    assert result.likeness is not None and result.likeness.startswith("answers that look like this one were right in ")
    assert result.likeness in repr(result) and result.to_dict()["likeness"]["words"] == result.likeness
    assert solve_toll(method="bl-cma-es").likeness is None


def test_names_are_used() -> None:
    result = solve_toll(names_upper=["toll"], names_lower=["trips"])
    assert result.names_upper == ("toll",) and result.names_lower == ("trips",)
    assert f"toll {result.x[0]:.6g}" in repr(result) and f"trips {result.y[0]:.6g}" in repr(result)
    seen: list[bilevo.Result] = []
    solve_toll(names_upper=["toll"], callback=seen.append)
    assert seen[0].names_upper == ("toll",) and seen[0].names_lower == ()


def test_evaluations_of_an_audit_can_be_bounded() -> None:
    little = solve_toll(audit_evals=20)
    assert little.audit is not None and little.audit.nfev_lower < 200
    wide = solve_toll(audit_tolerance=0.5)
    assert wide.audit is not None and wide.audit.tolerance == pytest.approx(0.5 * max(1, abs(wide.lower_fun)))


def test_effort_is_a_setting() -> None:
    options: dict[str, Any] = {"method": "auto", "budget": None}
    assert same(solve_toll(effort="quick", **options), solve_toll(settings={"portfolio.effort": "quick"}, **options))
    assert np.less(solve_toll(effort="quick", **options).nfev, solve_toll(effort="thorough", **options).nfev)


def test_noise_is_noticed_and_lived_with() -> None:
    def solve(size: float, **settings: Any) -> bilevo.Result:
        generator = np.random.default_rng(1)
        return bilevo.minimize(
            lambda x, y: (x[0] - 1) ** 2 + y[0] ** 2 + size * generator.normal(),
            lambda x, y: (y[0] - x[0] / 2) ** 2 + size * generator.normal(),
            (-5, 5),
            (-5, 5),
            seed=1,
            **settings,
        )

    noisy = solve(0.05, audit=True)
    assert noisy.success and noisy.nfev < 20_000
    # What single values cannot tell apart: F and f within two standard deviations of the best.
    assert 1.25 * (noisy.x[0] - 0.8) ** 2 < 0.1 and (noisy.y[0] - noisy.x[0] / 2) ** 2 < 0.1
    assert noisy.fun_std is not None and noisy.lower_fun_std is not None and 0.005 < noisy.fun_std < 0.03
    assert abs(noisy.fun - ((noisy.x[0] - 1) ** 2 + noisy.y[0] ** 2)) < 4 * noisy.fun_std
    assert "means of 16" in repr(noisy)
    exact = solve(0.0)
    assert exact.fun_std is None and exact.lower_fun_std is None and abs(exact.fun - 0.2) < 1e-6
