"""The same seed gives the same bits from Rust, the command line and Python, for every method."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import numpy as np
import pytest
from conftest import same

import bilevo

PROBLEMS = [("smd1", None), ("smd9", None), ("tp3", None)]
BUDGET = 60


class Outside(bilevo.BilevelProblem):
    """A built-in problem evaluated through Python code."""

    def __init__(self, inside: bilevo.problems.NamedProblem) -> None:
        self.inside = inside
        spec = inside._spec
        super().__init__(inside.bounds_upper, inside.bounds_lower, name=inside.name)
        self._spec = spec

    def evaluate_upper(self, x: Any, y: Any, out: dict[str, Any]) -> None:
        self.inside.evaluate_upper(x, y, out)

    def evaluate_lower(self, x: Any, y: Any, out: dict[str, Any]) -> None:
        self.inside.evaluate_lower(x, y, out)


def by_hand(problem: bilevo.problems.NamedProblem, **options: Any) -> bilevo.Result:
    opt = bilevo.Optimizer(problem, **options)
    while (batch := opt.ask()) is not None:
        answers = [problem.evaluate(point.level, point.x, point.y) for point in batch]
        rows = np.array([answer.constraints for answer in answers]) if answers[0].constraints.size else None
        opt.tell(batch, [answer.value for answer in answers], rows)
    return opt.result()


# The runs are too short for a good answer; only their bits matter here.
@pytest.mark.filterwarnings("ignore::bilevo.BilevoWarning")
@pytest.mark.parametrize("method", list(bilevo.methods()))
@pytest.mark.parametrize("name", ["smd1", "smd9", "tp3"])
def test_every_method(program: str, method: str, name: str) -> None:
    command = [program, "solve", name, "--method", method, "--seed", "3", "--max-upper-evals", str(BUDGET)]
    printed = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, check=False)
    assert printed.returncode in (0, 1), printed.stderr
    expected = json.loads(printed.stdout)
    options: dict[str, Any] = {"method": method, "seed": 3, "budget": BUDGET}
    problem = bilevo.problems.load(name)
    results = [
        bilevo.minimize(problem, **options),
        bilevo.minimize(Outside(problem), **options),
        by_hand(problem, **options),
    ]
    for result in results:
        raw = result.to_dict()
        for key, value in expected.items():
            if "seconds" not in key:
                assert raw[key] == value, key
    assert same(results[0], results[1]) and same(results[0], results[2])
