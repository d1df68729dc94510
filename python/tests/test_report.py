"""The page about one run."""

import pickle
from pathlib import Path

import bilevo
import pytest


def toll(**options):
    return bilevo.minimize(
        lambda x, y: x[0] * y[0],
        lambda x, y: (y[0] - 8 + x[0]) ** 2,
        [(0, 10)],
        [(0, 10)],
        maximize="upper",
        names_upper=["toll"],
        names_lower=["trips"],
        seed=1,
        **options,
    )


def test_a_result_writes_a_page(tmp_path: Path) -> None:
    result = toll()
    before = result.to_dict()
    result.report(tmp_path / "run.html", units={"toll": "EUR", "F": "EUR/h"})
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    for needed in ("F along toll", "f along trips", "All checks passed.", "toll (EUR)", " EUR<", "EUR/h; the leader"):
        assert needed in page
    assert result.to_dict() == before
    result.report(tmp_path / "run.html", evaluations=0)
    assert "F along toll" not in (tmp_path / "run.html").read_text(encoding="utf-8")


def test_the_title_is_the_name_if_there_is_one(tmp_path: Path) -> None:
    for name, title in ((None, "Your problem"), ("north road", "north road")):
        toll(name=name).report(tmp_path / "run.html", evaluations=0)
        assert f"<h1>{title}</h1>" in (tmp_path / "run.html").read_text(encoding="utf-8")


def test_a_unit_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(bilevo.ProblemError, match="there is no variable `tol`\nhint: the names are toll, trips, F, f"):
        toll().report(tmp_path / "run.html", units={"tol": "EUR"})


def test_the_follower_s_own_solver_is_asked(tmp_path: Path) -> None:
    result = bilevo.minimize(
        lambda x, y: -x[0] * y[0], follower=lambda x: [8 - x[0]], bounds_upper=[(0, 10)], seed=1
    )
    result.report(tmp_path / "run.html")
    assert "The follower&#39;s answer to x1" in (tmp_path / "run.html").read_text(encoding="utf-8")


def test_workers_evaluate_for_the_page_too(tmp_path: Path) -> None:
    toll(workers=1).report(tmp_path / "run.html", evaluations=200)
    assert "f along trips" in (tmp_path / "run.html").read_text(encoding="utf-8")


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    result = toll()
    mine = tmp_path / "mine.html"
    mine.write_text("mine")
    with pytest.raises(bilevo.ProblemError, match="mine.html"):
        result.report(mine)
    assert mine.read_text() == "mine"
    with pytest.raises(bilevo.ProblemError, match="lost its problem"):
        pickle.loads(pickle.dumps(result)).report(tmp_path / "run.html")
