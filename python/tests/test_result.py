"""What results look like."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest
from conftest import same, solve_toll

import bilevo


@pytest.fixture(scope="module")
def result() -> bilevo.Result:
    return bilevo.minimize("smd1", method="cr-bl-cma-es", seed=2)


def test_it_reads_well(result: bilevo.Result) -> None:
    text = repr(result)
    for words in ("smd1 (2+3 variables)", "cr-bl-cma-es, seed 2", "fun (F)", "accuracy", "skipped", "x: ["):
        assert words in text, text
    assert len({line.index(":") for line in text.splitlines()}) == 1


def test_it_shows_in_notebooks_and_escapes_names(result: bilevo.Result) -> None:
    page = replace(result, problem="<script>")._repr_html_()
    assert "&lt;script&gt;" in page and "<script>" not in page and 'scope="row"' in page


def test_its_numbers_agree(result: bilevo.Result) -> None:
    raw = result.to_dict()
    assert raw["F"] == result.fun and raw["evaluations"]["lower"] == result.nfev_lower
    last = result.history[-1]
    assert (last.fun, last.nfev_upper, last.n_skipped) == (result.fun, result.nfev_upper, result.n_skipped)
    assert len(result.history) == result.nit and result.n_skipped > 0
    assert result.model_accuracy is not None


def test_it_can_be_pickled(result: bilevo.Result) -> None:
    assert same(pickle.loads(pickle.dumps(result)), result)


def test_a_run_that_found_nothing_has_no_numbers() -> None:
    opt = bilevo.Optimizer("smd1", seed=1)
    result = opt.result()
    assert result.status == "running" and not result.success and result.x.shape == (2,) and result.fun != result.fun
    assert "nan" in repr(result)


def test_figures(result: bilevo.Result) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    for shown in (result, solve_toll()):
        figure = shown.plot()
        assert len(figure.axes) == 2 and figure.axes[0].lines[0].get_xdata().size == shown.nit
        matplotlib.pyplot.close(figure)


def test_frames(result: bilevo.Result) -> None:
    pytest.importorskip("pandas")
    frame = result.history_frame()
    assert list(frame["generation"]) == list(range(1, result.nit + 1))
    assert frame["fun"].iloc[-1] == result.fun


def test_what_is_missing_is_named(result: bilevo.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'bilevo\[plot\]'"):
        result.plot()


def test_an_audit_confirms_a_true_answer_and_finds_a_false_one() -> None:
    audited = solve_toll(audit=True, budget=None)
    assert audited.audit is not None and audited.audit.passed and audited.audit.nfev_lower > 0
    assert audited.audit.words in repr(audited)
    assert audited.nfev_lower == solve_toll(budget=None).nfev_lower, "its evaluations are counted apart"

    def two_valleys(x: Any, y: Any) -> Any:
        # the wide one is where a short search ends, the deep one far away
        return min(((y[0] - 2) / 4) ** 2, 100 * (y[0] - 9.5) ** 2 - 0.2)

    with pytest.warns(bilevo.BilevoWarning, match="audit: "):
        fooled = solve_toll(f=two_valleys, audit=True, budget=12, settings={"lower.max_generations": 2})
    assert fooled.audit is not None and fooled.audit.verdict == "better_answer"
    assert fooled.audit.gap is not None and fooled.audit.gap > 0.1 and not fooled.audit.passed


def test_the_position_decides_between_equally_good_answers() -> None:
    # the follower does not care about its second variable, the leader does
    options: dict[str, Any] = {"F": lambda x, y: x[0] ** 2 + y[1], "f": lambda x, y: (y[0] - x[0]) ** 2}
    options |= {"bounds_lower": [(0, 10), (0, 1)], "maximize": None, "method": "auto", "budget": None}
    result = solve_toll(**options, position="pessimistic")
    assert result.audit is not None and result.audit.ties is not None
    ties = result.audit.ties
    assert ties["pessimistic"]["F"] - ties["optimistic"]["F"] > 0.9
    # the search honours it: (x - 2)² + x y2 is best at 1.5 if the worst y2 counts, at 2.5 if the best does
    options |= {"F": lambda x, y: (x[0] - 2) ** 2 + x[0] * y[1], "bounds_lower": [(0, 10), (-1, 1)]}
    for position, x in (("optimistic", 2.5), ("pessimistic", 1.5)):
        assert solve_toll(**options, position=position).x[0] == pytest.approx(x, abs=0.02)
    with pytest.raises(bilevo.ProblemError, match="`optimistic` or `pessimistic`"):
        solve_toll(position="neutral")
