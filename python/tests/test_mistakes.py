"""Mistakes people make: it works, or the error says what to change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import TOLL, same, solve_toll, toll_income, toll_trips

import bilevo


#: Leaves out what a problem that is given as a whole has itself.
NOTHING: dict[str, Any] = {"f": None, "bounds_upper": None, "bounds_lower": None, "maximize": None}


def refused(words: str, error: Any = bilevo.ProblemError, **options: Any) -> BaseException:
    with pytest.raises(error, match=words) as raised:
        solve_toll(**options)
    return raised.value


def test_only_formulas_can_be_proven_and_a_report_is_html(tmp_path: Any) -> None:
    result = solve_toll(name="smd1", budget=20)
    with pytest.raises(bilevo.ProblemError, match="a proof needs formulas, not Python functions"):
        result.prove()
    with pytest.raises(bilevo.ProblemError, match="ends in .html"):
        result.report(tmp_path / "run.pdf")
    with pytest.raises(bilevo.ProblemError, match="problem is 3\nhint: give the path"):
        bilevo.prove(3)  # type: ignore[arg-type]
    with pytest.raises(bilevo.ProblemError, match="report is given 3\nhint: give a name"):
        result.report(3)  # type: ignore[arg-type]
    with pytest.raises(bilevo.ProblemError, match="evaluations is -1\nhint: give a whole number from 0 on"):
        result.report(tmp_path / "run.html", evaluations=-1)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("maximise", "has no argument `maximise`; did you mean `maximize`"),
        ("constraints", "upper_constraints= and lower_constraints="),
        ("bounds", "bounds_upper= and bounds_lower="),
        ("max_evals", "it has budget="),
        ("args", "write lambda x, y: F\\(x, y, a\\)"),
        ("wat", "lists them all"),
    ],
)
def test_an_unknown_argument_is_a_type_error_that_names_the_right_one(name: str, words: str) -> None:
    assert isinstance(refused(words, TypeError, **{name: 1}), bilevo.ProblemError)


def test_a_warning_points_at_the_call_of_the_user() -> None:
    with pytest.warns(bilevo.BilevoWarning) as caught:
        bilevo.minimize("smd1", seed=1, budget={"total": 60})
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"bounds_upper": [(10, 0)]}, r"in the wrong order\nhint: write \(0, 10\)"),
        ({"bounds_upper": [(np.inf, np.inf)]}, "give numbers, or None"),
        ({"bounds_upper": [(0, float("nan"))]}, "give numbers, or None"),
        ({"bounds_upper": [(1, 1)]}, "every upper variable is fixed"),
        ({"bounds_upper": [0, 1, 2]}, "give a pair"),
        ({"bounds_upper": []}, "give a pair"),
        ({"bounds_upper": "abc"}, "not numbers"),
        ({"bounds_lower": None}, "`bounds_lower` is missing"),
        ({"F": 3}, "F is 3, which is not a function"),
        ({"f": None}, "`f` is missing"),
        ({"maximize": "leader"}, 'it takes "upper", "lower", "both"'),
        ({"method": "bl-cma"}, "did you mean `bl-cma-es`"),
        ({"method": 3}, "give a name"),
        ({"seed": -1}, "between 0 and"),
        ({"seed": 2**64}, "between 0 and"),
        ({"seed": "one"}, "a whole number"),
        ({"budget": "many"}, "give a whole number of evaluations"),
        ({"budget": 30.5}, "give a whole number of evaluations"),
        ({"budget": float("inf")}, "give a whole number of evaluations"),
        ({"budget": {"leader": 3}}, "'upper', 'lower' and 'total'"),
        ({"budget": 0}, "the upper budget is 0\nhint: it must be at least 1"),
        ({"settings": {"upper.populaton": 3}}, "did you mean `upper.population`"),
        ({"settings": {"upper.population": object()}}, "are settings"),
        ({"settings": {"stop.max_upper_evals": 3}}, "leave one of them out"),
        ({"on_failure": "ignore"}, "`worst` or `stop`"),
        ({"time_limit": -1}, "a number of seconds"),
        ({"time_limit": "soon"}, "a number of seconds"),
        ({"eval_timeout": -1, "workers": 1}, "a number of seconds"),
        ({"eval_timeout": 0, "workers": 1}, "no evaluation could end in time"),
        ({"eval_timeout": 1}, "as in workers=1"),
        ({"eval_timeout": 1, "workers": map}, "as in workers=1"),
        ({"workers": 100_000}, "at most 1024 processes"),
        ({"F": "smd1", "workers": 100_000, **NOTHING}, "at most 1024 threads"),
        ({"retries": -1}, "retries is -1"),
        ({"retries": 1.5}, "retries is 1.5"),
        ({"settings": [("upper.population", 3)]}, "give a mapping"),
        ({"audit_evals": -1}, "audit_evals is -1"),
        ({"audit_tolerance": -1}, "audit_tolerance is -1"),
        ({"effort": "little"}, "effort is 'little'\nhint: it takes 'local', 'quick'"),
        ({"names_upper": ["toll", "rate"]}, "give one name for each variable \\(1\\), all different"),
        ({"names_lower": [3]}, "give one name for each variable \\(1\\), all different"),
        ({"workers": 0}, "a number of processes"),
        ({"workers": "two"}, "a number of processes"),
        ({"callback": 3}, "not a function"),
        ({"upper_constraints": {"g": toll_income}}, '"G" for g <= 0'),
        ({"upper_constraints": 3}, "not iterable|not a function"),
        ({"upper_constraints": [3]}, "not a function"),
        ({"upper_constraints": "t <= 3"}, r"'t <= 3', which is not a function\nhint: upper_constraints=lambda"),
        ({"x0": [1, 2]}, r"x0 has the shape \(2,\)\nhint: give 1 number, or rows"),
        ({"upper_constraints": lambda x, y: None}, "does it end without `return`"),
        ({"upper_constraints": lambda x, y: x[5]}, "middle of the box"),
        ({"best_known": (1, 2, 3)}, "best_known"),
    ],
)
def test_arguments_that_make_no_sense(options: dict[str, Any], words: str) -> None:
    refused(words, (bilevo.ProblemError, TypeError), **options)


def test_an_infinite_time_is_no_limit() -> None:
    assert same(solve_toll(budget=20), solve_toll(budget=20, time_limit=np.inf, eval_timeout=float("inf")))


def test_a_whole_problem_takes_no_parts() -> None:
    with pytest.raises(bilevo.ProblemError, match="`maximize` belongs to the problem") as raised:
        bilevo.minimize("smd1", maximize="upper")
    assert raised.value.code == "E209"
    with pytest.raises(bilevo.ProblemError, match="an instance: BilevelProblem()"):
        bilevo.minimize(bilevo.BilevelProblem)


def test_unknown_problems_are_named() -> None:
    with pytest.raises(bilevo.ProblemError, match="smd1") as raised:
        bilevo.minimize("smd13")
    assert raised.value.code == "E101"


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: x[0], "takes 1 positional argument but 2 were given\nhint: your function is called with x and y"),
        (lambda x, y, z: x[0], "missing 1 required positional argument"),
        (lambda x, y: None, "does it end without `return`"),
        (lambda x, y: "three", "not a number"),
        (lambda x, y: 1j, "not a number"),
        (lambda x, y: [1.0, 2.0], "2 numbers .* instead of one"),
        (lambda x, y: {}, "not a number"),
        (lambda x, y: undefined_name, "undefined_name"),  # type: ignore[name-defined]  # noqa: F821
    ],
)
@pytest.mark.parametrize("which", ["F", "f"])
def test_a_function_that_never_works_ends_the_run_at_once(which: str, function: Any, words: str, counted: Any) -> None:
    function = counted(function)
    error = refused(words, bilevo.EvaluationError, **{which: function})
    assert "every " in str(error) and error.__cause__ is not None
    assert function.calls < 100


def test_the_traceback_of_the_function_is_kept() -> None:
    def broken(x: Any, y: Any) -> float:
        raise ZeroDivisionError("deep inside")

    error = refused("deep inside", bilevo.EvaluationError, f=broken)
    assert isinstance(error.__cause__, ZeroDivisionError)
    trace = error.__cause__.__traceback__
    assert trace is not None and trace.tb_frame.f_code.co_name == "broken"


def sometimes(x: Any, y: Any) -> Any:
    if y[0] < 2:
        raise ValueError(f"y is {y[0]}")
    return toll_trips(x, y)


def test_a_solver_that_finds_no_solution_is_told_apart_from_a_forgotten_return() -> None:
    for returned, words in ((None, "the follower returned None"), (bilevo.Answer(y=None), "an Answer whose y is None")):
        with pytest.raises(bilevo.EvaluationError, match=f"{words}\nhint: .*`return`, or has it found no solution"):
            bilevo.minimize(lambda x, y: 0.0, follower=lambda x, given=returned: given, bounds_upper=[(0, 1)], seed=1)


def test_failures_count_as_worst_and_are_reported() -> None:
    with pytest.warns(bilevo.BilevoWarning, match="evaluations failed; the first: ValueError: y is"):
        result = solve_toll(f=sometimes)
    assert 0 < result.n_failed < result.nfev_lower and result.y[0] >= 2
    failure = result.failures[0]
    assert failure.level == "lower" and isinstance(failure.exception, ValueError) and failure.y[0] < 2
    assert failure.exception.__traceback__ is not None
    assert len(result.failures) <= 10


def test_failures_can_stop_the_run() -> None:
    error = refused("lower evaluation .* failed: ValueError", bilevo.EvaluationError, f=sometimes, on_failure="stop")
    assert isinstance(error.__cause__, ValueError)


def test_failures_are_tried_again() -> None:
    seen = set()

    def flaky(x: Any, y: Any) -> Any:
        if y[0] > 5 and (x[0], y[0]) not in seen:
            seen.add((x[0], y[0]))
            raise ConnectionError("try again")
        return toll_trips(x, y)

    result = solve_toll(f=flaky, retries=1)
    assert result.n_failed == 0 and result.to_dict()["evaluations"]["retried"] > 10
    plain = solve_toll()
    assert np.array_equal(result.x, plain.x) and result.nfev_lower == plain.nfev_lower


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), np.float64("nan")])
def test_values_that_are_not_finite_are_failures(bad: Any) -> None:
    with pytest.warns(bilevo.BilevoWarning, match="the lower objective is"):
        result = solve_toll(f=lambda x, y: toll_trips(x, y) if y[0] >= 2 else bad)
    assert result.n_failed > 0 and result.y[0] >= 2


def unaligned(values: Any) -> Any:
    """The same numbers, one byte off."""
    return np.frombuffer(b"x" + values.tobytes(), dtype=np.uint8)[1:].view(np.float64)


def packed(values: Any) -> Any:
    """Records of nine bytes, so that the values are not whole steps apart."""
    records = np.zeros(len(values), dtype=[("value", "f8"), ("mark", "u1")])
    records["value"] = values
    return records


@pytest.mark.parametrize(
    "form",
    [
        lambda v: np.float64(v),
        lambda v: np.array(v),
        lambda v: np.array([v]),
        lambda v: np.array([[v]]),
        lambda v: [v],
        lambda v: np.ma.masked_array(v, mask=False),
        lambda v: np.array([0.0, v, 0.0])[1::2],
        lambda v: np.longdouble(v),
        lambda v: unaligned(np.array([v])),
    ],
)
def test_a_number_in_many_forms(form: Any) -> None:
    plain = solve_toll(budget=40)
    assert same(plain, solve_toll(budget=40, f=lambda x, y: form(toll_trips(x, y))))


@pytest.mark.parametrize("kind", [int, np.int32, np.uint8, bool, np.bool_, np.float32])
def test_numbers_of_other_types(kind: Any) -> None:
    whole = lambda x, y: float(kind(abs(y[0] - 3)))  # noqa: E731
    typed = lambda x, y: kind(abs(y[0] - 3))  # noqa: E731
    assert same(solve_toll(budget=30, f=whole), solve_toll(budget=30, f=typed))


@pytest.mark.parametrize(
    "form",
    [
        lambda v: v[:, None],
        lambda v: list(v),
        lambda v: np.stack([v, v], axis=1)[:, 0],
        lambda v: v[::-1].copy()[::-1],
        lambda v: packed(v)["value"],
        lambda v: np.ma.masked_array(v),
        lambda v: np.asfortranarray(v[:, None]),
        lambda v: unaligned(v),
        lambda v: v.astype(">f8"),
    ],
)
def test_a_batch_of_numbers_in_many_forms(form: Any) -> None:
    options: dict[str, Any] = {"budget": 40, "vectorized": True, "F": lambda x, y: x[:, 0] * y[:, 0]}
    plain = solve_toll(f=lambda x, y: toll_trips(x.T, y.T), **options)
    assert same(plain, solve_toll(f=lambda x, y: form(toll_trips(x.T, y.T)), **options))


def test_masked_entries_of_a_batch_are_failures() -> None:
    def masked(x: Any, y: Any) -> Any:
        return np.ma.masked_array(toll_trips(x.T, y.T), mask=y[:, 0] < 2)

    with pytest.warns(bilevo.BilevoWarning, match="evaluations failed"):
        result = solve_toll(f=masked, F=lambda x, y: x[:, 0] * y[:, 0], vectorized=True)
    assert result.n_failed > 0 and result.y[0] >= 2


@pytest.mark.parametrize(
    "shape", [lambda v: v.sum(), lambda v: v[:-1], lambda v: np.stack([v, v], axis=1), lambda v: v[None]]
)
def test_a_batch_of_the_wrong_shape_is_explained(shape: Any) -> None:
    options: dict[str, Any] = {"vectorized": True, "F": lambda x, y: x[:, 0] * y[:, 0]}
    refused("a batch of .* points needs", bilevo.EvaluationError, f=lambda x, y: shape(toll_trips(x.T, y.T)), **options)


@pytest.mark.parametrize("vectorized", [False, True])
@pytest.mark.parametrize(("key", "hint"), [("G", "n_ieq_upper=2"), ("H", "n_eq_upper=2")])
def test_constraints_that_are_not_declared_are_refused(key: str, hint: str, vectorized: bool) -> None:
    """They would have been ignored, and the answer could violate them."""

    class Forgetful(bilevo.BilevelProblem):
        def evaluate_upper(self, x: Any, y: Any, out: dict[str, Any]) -> None:
            out["F"] = x[..., 0]
            out[key] = np.concatenate([1 - x, 2 - x], axis=-1)

        def evaluate_lower(self, x: Any, y: Any, out: dict[str, Any]) -> None:
            out["F"] = (y[..., 0] - x[..., 0]) ** 2
            out["G"] = []                                  # declares nothing, and is nothing

    problem = Forgetful([(0, 5)], [(0, 5)], vectorized=vectorized)
    with pytest.raises(bilevo.EvaluationError, match=rf'out\["{key}"\] has 2 values(.|\n)*{hint}'):
        bilevo.minimize(problem, seed=1)


def test_a_class_that_forgets_its_base_is_told_so() -> None:
    class Forgetful(bilevo.BilevelProblem):
        def __init__(self) -> None:
            pass

    with pytest.raises(bilevo.ProblemError, match=r"Forgetful has no sizes(.|\n)*super\(\).__init__"):
        bilevo.minimize(Forgetful(), seed=1)
    with pytest.raises(AttributeError, match="no attribute 'n_middle'"):
        Forgetful().n_middle  # type: ignore[attr-defined]  # noqa: B018


def test_a_missing_entry_of_out_is_named() -> None:
    class Forgetful(bilevo.BilevelProblem):
        def __init__(self) -> None:
            super().__init__([(0, 1)], [(0, 1)])

        def evaluate_lower(self, x: Any, y: Any, out: dict[str, Any]) -> None:
            out["f"] = 1.0

    with pytest.raises(bilevo.EvaluationError, match=r'out\["F"\] \(the objective\) was not set, out\["f"\] was'):
        bilevo.minimize(Forgetful(), method="bl-cma-es")


def test_a_missing_method_is_named() -> None:
    class Half(bilevo.BilevelProblem):
        def __init__(self) -> None:
            super().__init__([(0, 1)], [(0, 1)])

    with pytest.raises(bilevo.EvaluationError, match="Half has no method evaluate_lower"):
        bilevo.minimize(Half(), method="bl-cma-es")


def test_functions_may_change_and_keep_their_arguments() -> None:
    kept = []

    def careless(x: Any, y: Any) -> float:
        value = float(toll_trips(x, y))
        kept.append((x, y, x.copy(), y.copy()))
        x[:], y[:] = 99, 99
        return value

    assert same(solve_toll(), solve_toll(f=careless))
    assert all(x[0] == 99 and y[0] == 99 and before[0] <= 10 for x, y, before, _ in kept)


def test_wrong_number_of_constraint_values_is_a_failure() -> None:
    values = iter([[0.0]])

    def uneven(x: Any, y: Any) -> Any:
        return next(values, [0.0, 0.0])

    refused("1 constraint values were expected, but 2 came back", bilevo.EvaluationError, lower_constraints=uneven)


def test_a_class_says_what_it_lacks() -> None:
    for arguments in ({}, {"n_upper": 1}, {"n_upper": 0, "xl": 0, "xu": 1}, {"bounds_upper": [(0, 1)], "n_upper": 1}):
        with pytest.raises(bilevo.ProblemError, match="hint|not both"):
            bilevo.BilevelProblem(bounds_lower=[(0, 1)], **arguments)
    with pytest.raises(bilevo.ProblemError, match="0 or more"):
        bilevo.BilevelProblem([(0, 1)], [(0, 1)], n_eq_lower=-1)
    with pytest.raises(bilevo.ProblemError, match="do not fit 2 variables"):
        bilevo.BilevelProblem(n_upper=2, xl=[0, 0, 0], xu=1, bounds_lower=[(0, 1)])


def test_bounds_in_many_forms() -> None:
    class Bounds:  # as scipy.optimize.Bounds
        lb, ub = [0], [10]

    plain = solve_toll(budget=30)
    for form in ((0, 10), np.array([[0, 10]]), [[0.0, np.int64(10)]], Bounds(), np.array([[0, 5, 10]])[:, ::2]):
        assert same(plain, solve_toll(budget=30, bounds_upper=form)), form


def test_points_of_built_in_problems_are_checked() -> None:
    problem = bilevo.problems.smd(1)
    with pytest.raises(bilevo.ProblemError, match="the problem has 2.3"):
        problem.evaluate("upper", [1, 2], [3])
    with pytest.raises(bilevo.ProblemError, match="'upper' or 'lower'"):
        problem.evaluate("leader", [1, 2], [0, 3, 0])  # type: ignore[arg-type]
    strided = np.array([[1.0, 9.0], [2.0, 9.0]])[:, 0]
    assert problem.evaluate("upper", strided, (0, 3, 0)).value == problem.evaluate("upper", [1, 2], [0, 3, 0]).value
    assert TOLL["maximize"] == "upper"


def test_a_complex_objective_is_a_mistake_not_a_failure() -> None:
    refused("returned a complex value, which is not a number\nhint: return a float", bilevo.EvaluationError, F=lambda x, y: 1j * x[0])


def test_a_start_has_the_same_variables() -> None:
    smd1 = bilevo.minimize("smd1", seed=1, budget=20)
    refused(r"of a problem with 2\+3 variables, but this one has 1\+1\nhint: give the result", start=smd1)
