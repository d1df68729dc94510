"""Problem files and external programs give the same bits as Python functions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import same, solve_toll

import bilevo

FILE = """
name = "function"
[upper]
maximize = "t * y1"
variables = { t = [0, 10] }
[lower]
minimize = "(y1 - 8 + t)^2 + 0.1*y1"
variables = { y1 = [0, 10] }
"""

PROGRAM = """
name = "function"
command = ["{python}", "toll.py"]
[upper]
maximize = true
variables = {{ t = [0, 10] }}
[lower]
variables = {{ y1 = [0, 10] }}
"""

CODE = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    (t,), (y,) = asked["x"], asked["y"]
    value = t * y if asked["level"] == "upper" else (y - 8 + t) ** 2 + 0.1 * y
    print(json.dumps({"id": asked["id"], "value": value}), flush=True)
"""

OPTIONS: dict[str, Any] = {"method": "bl-cma-es", "seed": 1, "budget": 40}


def agree(one: bilevo.Result, other: bilevo.Result) -> bool:
    """Whether two results agree in their answers and counts."""
    keys = ("x", "y", "F", "f", "evaluations", "lower_searches", "generations", "stop")
    return all(one.to_dict()[key] == other.to_dict()[key] for key in keys)


# Forty evaluations are too few for the follower, and the proof of its answer says so.
@pytest.mark.filterwarnings("ignore:the follower has a better answer:bilevo.BilevoWarning")
def test_a_problem_file(tmp_path: Path) -> None:
    path = tmp_path / "toll.toml"
    path.write_text(FILE)
    result = bilevo.minimize(path, **OPTIONS)
    assert agree(result, solve_toll(budget=40)) and result.to_dict()["problem_hash"]
    problem = bilevo.problems.load(str(path))
    assert problem.evaluate("upper", [3], [4]).value == 12.0
    assert same(result, bilevo.minimize(problem, **OPTIONS))


def test_an_external_program(tmp_path: Path) -> None:
    path = tmp_path / "toll.toml"
    path.write_text(PROGRAM.format(python=sys.executable))
    (tmp_path / "toll.py").write_text(CODE)
    alone = bilevo.minimize(path, **OPTIONS)
    assert agree(alone, solve_toll(budget=40))
    assert same(alone, bilevo.minimize(path, workers=2, **OPTIONS))
    assert bilevo.problems.load(path).evaluate("lower", [3], [4]).value == 1.4


def test_a_file_can_take_a_position_and_an_argument_another(tmp_path: Path) -> None:
    path = tmp_path / "indifferent.toml"
    path.write_text("""position = "pessimistic"
[upper]
minimize = "(x-2)^2 + (y1-x)^2 + x*y2"
variables = { x = [0, 4] }
[lower]
minimize = "(y1-x)^2"
variables = { y1 = [-10, 10], y2 = [-1, 1] }
""")
    worst = bilevo.minimize(path, seed=1)
    assert worst.x[0] == pytest.approx(1.5, abs=0.02) and worst.audit is not None
    assert bilevo.minimize(path, seed=1, position="optimistic").x[0] == pytest.approx(2.5, abs=0.02)


#: Clears the screen, sets a colour by a character beyond ASCII, and turns the text round.
ESCAPES = "\x1b[2J\x9b31m\u202e"


@pytest.mark.filterwarnings("ignore:the follower has a better answer:bilevo.BilevoWarning")
def test_nothing_foreign_reaches_a_terminal_but_text(tmp_path: Path) -> None:
    path = tmp_path / f"toll{ESCAPES}.toml"
    path.write_text(FILE.replace('name = "function"', ""))
    result = bilevo.minimize(path, **OPTIONS)
    assert result.problem.startswith("toll") and not {"\x1b", "\x9b", "\u202e"} & set(repr(result))
    wrong: list[dict[str, Any]] = [{"method": ESCAPES}, {"settings": {ESCAPES: 1}}, {"checkpoint": path}, {"known": ESCAPES}]
    for options in wrong:
        with pytest.raises(bilevo.BilevoError) as raised:
            bilevo.minimize(path, **{**OPTIONS, **options})
        assert not {"\x1b", "\x9b", "\u202e"} & set(str(raised.value)), options
    with pytest.raises(bilevo.ProblemError, match="there is no problem") as raised:
        bilevo.minimize(ESCAPES)
    assert not {"\x1b", "\x9b", "\u202e"} & set(str(raised.value))


def test_mistakes_in_a_file_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "toll.toml"
    path.write_text(FILE.replace("t * y1", "t * y2"))
    with pytest.raises(bilevo.ProblemError, match="y2"):
        bilevo.minimize(path)
    with pytest.raises(bilevo.ProblemError, match="missing.toml"):
        bilevo.minimize(tmp_path / "missing.toml")
