"""Proofs of answers."""

from __future__ import annotations

import pathlib

import pytest

import bilevo

BASINS = """
name = "basins"
[upper]
minimize = "(x - 0.6)^2 + (y - 1)^2"
variables = { x = [-1, 1] }
[lower]
minimize = "(y^2 - 1)^2 + 0.3*x*y"
variables = { y = [-2, 2] }
"""


@pytest.fixture
def basins(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "basins.toml"
    path.write_text(BASINS)
    return path


def test_points_claims_and_runs_are_proven(basins: pathlib.Path) -> None:
    wrong = bilevo.prove(basins, [0.6], [0.976])
    assert wrong.refuted
    assert wrong.follower is not None
    assert wrong.follower["verdict"] == "refuted"
    assert wrong.follower["better"]["y"][0] == pytest.approx(-1.02, abs=0.05)
    right = bilevo.prove(basins, claim=0.36)
    assert not right.refuted
    assert right.leader is not None
    assert right.leader["verdict"] == "proven"
    assert right.follower is None
    assert any("proven" in words for words in right.words)
    result = bilevo.minimize(basins, seed=1)
    proof = result.prove()
    assert proof.to_dict()["follower"]["verdict"] == "proven"
    assert result.to_dict()["proof"]["follower"]["verdict"] == "proven"


def test_what_cannot_be_proven_is_said() -> None:
    with pytest.raises(bilevo.ProblemError, match="no formulas"):
        bilevo.prove("smd1", claim=1.0)
    with pytest.raises(bilevo.ProblemError, match="go together"):
        bilevo.prove("basblib/mb_2007_19", x=[0.1])


@pytest.mark.parametrize(
    ("name", "stated", "x", "y"),
    [
        ("dempe1992b", 31.25, [0], [0]),
        ("ludebsinha2016c", 1.12, [0.8], [1]),
        ("outrata1990ex2d", 0.92, [2.856343046329741], [3.8807455718231383, 3.04015725888165]),
    ],
)
def test_corrected_optima_are_proven(name: str, stated: float, x: list[float], y: list[float]) -> None:
    path = pathlib.Path(__file__).parents[2] / "examples" / "best-known" / f"{name}.toml"
    proof = bilevo.prove(path, x, y, eps=1e-3)
    assert proof.fun < stated - 0.05
    assert proof.follower is not None and proof.follower["verdict"] == "proven"
    assert proof.leader is not None and proof.leader["verdict"] == "proven"


def test_claims_and_points_are_checked(basins: pathlib.Path) -> None:
    with pytest.raises(bilevo.ProblemError, match="claim is nan"):
        bilevo.prove(basins, claim=float("nan"))
    with pytest.raises(bilevo.ProblemError, match="x has 2 numbers and y has 1"):
        bilevo.prove(basins, [0.1, 0.2], [1.0])
    with pytest.raises(bilevo.ProblemError, match="a value that is not finite"):
        bilevo.prove(basins, [0.1], [float("nan")])
    with pytest.raises(bilevo.ProblemError, match="time_limit is -1"):
        bilevo.prove(basins, claim=0.3, time_limit=-1)


def test_problems_of_several_sizes_take_the_size_of_the_point() -> None:
    proof = bilevo.prove("indefinite:4", [0.0], [0.5, 0.5], time_limit=20)
    assert proof.follower is not None
    assert proof.follower["verdict"] in ("proven", "refuted")
