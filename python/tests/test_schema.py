"""The JSON schemas of problem files, results and other output fit what the program reads and prints."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bilevo

ROOT = Path(__file__).parents[2]
FILES = [
    path
    for folder in ("examples", "crates/bilevo-problems", "crates/bilevo-cli")
    for path in sorted((ROOT / folder).rglob("*.toml"))
    if path.name != "Cargo.toml"
]


def read_schema(name: str) -> Any:
    return json.loads((ROOT / "docs" / "schema" / f"{name}.schema.json").read_text(encoding="utf-8"))


def validator(name: str, part: str = "") -> Any:
    """A schema, or a definition in it."""
    jsonschema = pytest.importorskip("jsonschema")
    from referencing import Registry, Resource

    schema = read_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    if part:
        schema = {"$defs": schema["$defs"], "$ref": f"#/$defs/{part}"}
    results = Resource.from_contents(read_schema("result"))
    return jsonschema.Draft202012Validator(schema, registry=Registry().with_resource("result.schema.json", results))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with Python 3.11")
def test_problem_files_fit_their_schema() -> None:
    import tomllib

    schema = validator("problem")
    assert len(FILES) > 100
    for path in FILES:
        errors = [error.message for error in schema.iter_errors(tomllib.loads(path.read_text(encoding="utf-8")))]
        assert not errors, f"{path}: {errors}"


@pytest.mark.parametrize(
    "change",
    [
        {"uper": {}},
        {"position": "neutral"},
        {"upper": {"maximize": "t", "variables": {}}},
        {"upper": {"maximize": "t", "variables": {"t": [0, 1, 2]}}},
        {"lower": {"minimize": "y"}},
        {"best_known": {"x": [1]}},
        {"units": {"t": 1}},
    ],
)
def test_mistakes_do_not_fit(change: dict[str, Any]) -> None:
    good = {
        "upper": {"maximize": "t*y", "variables": {"t": [0, 10]}},
        "lower": {"minimize": "(y - 8 + t)^2", "variables": {"y": {"size": 2, "bounds": [0, "10"]}}},
    }
    schema = validator("problem")
    assert schema.is_valid(good)
    assert not schema.is_valid(good | change)


def noisy(value: Callable[[Any, Any], float]) -> Callable[[Any, Any], float]:
    rng = np.random.default_rng(1)
    return lambda x, y: value(x, y) + 0.01 * rng.standard_normal()


def income(x: Any, y: Any) -> float:
    return -float(x[0] * y[0])


def trips(x: Any, y: Any) -> float:
    return float((y[0] - 8 + x[0]) ** 2)


BOX = [(0, 10)]
#: Runs whose results have different fields.
RUNS: dict[str, Callable[[], bilevo.Result]] = {
    "an audit": lambda: bilevo.minimize("smd1", seed=1, budget=20, audit=True),
    "formulas": lambda: bilevo.minimize(str(ROOT / "examples" / "problems" / "quadratic.toml"), seed=1, budget=20),
    "a model": lambda: bilevo.minimize("smd6", seed=1, method="cr-bl-cma-es", budget=30, position="pessimistic"),
    "names and likeness": lambda: bilevo.minimize(income, trips, BOX, BOX, seed=1, names_upper=["toll"]),
    "whole numbers": lambda: bilevo.minimize("integer/quadratic", seed=1, settings={"stop.target": "off"}),
    "noise": lambda: bilevo.minimize(noisy(income), noisy(trips), BOX, BOX, seed=1, budget={"total": 2000}),
    "an open box": lambda: bilevo.minimize(income, trips, [(0, None)], BOX, seed=1),
    "an own solver": lambda: bilevo.minimize(income, follower=lambda x: 8 - x, bounds_upper=BOX, seed=1),
    "nothing feasible": lambda: bilevo.minimize(income, trips, BOX, BOX, seed=1, upper_constraints=lambda x, y: x[0] + 1),
    "no answer": lambda: bilevo.minimize(lambda x, y: float("nan"), trips, BOX, BOX, seed=1, budget=20),
}


@pytest.mark.filterwarnings("ignore::bilevo.BilevoWarning")
@pytest.mark.parametrize("kind", RUNS)
def test_results_fit_their_schema(kind: str) -> None:
    schema = validator("result")
    raw = json.loads(json.dumps(RUNS[kind]().to_dict()))
    assert not [error.message for error in schema.iter_errors(raw)]
    assert set(raw) <= set(schema.schema["properties"]), "a field that the schema does not describe"


FILES_OF_COMMANDS = {
    "toll.toml": """
[parameters]
demand = 8
[upper]
maximize = "t*y"
variables = { t = [0, 10] }
[lower]
minimize = "(y - demand + t)^2"
variables = { y = [0, 10] }
""",
    "goals.toml": """
[upper]
maximize = ["t*y", "-y"]
variables = { t = [0, 10] }
[lower]
minimize = "(y - 8 + t)^2"
variables = { y = [0, 10] }
""",
    "wrong.toml": """
[uper]
maximize = "t*y"
""",
}
GRID = ["--methods", "bl-cma-es", "--problems", "tp1", "--runs", "2"]


@pytest.mark.parametrize(
    ("part", "arguments"),
    [
        ("check", ["check", "toll.toml"]),
        ("check", ["check", "wrong.toml"]),
        ("check", ["check", str(ROOT / "crates/bilevo-problems/integer/facility.toml")]),
        ("check", ["check", "--no-run", str(ROOT / "examples/programs/python.toml")]),
        ("eval", ["eval", "toll.toml", "--x", "4", "--y", "11"]),
        ("explain_method", ["explain", "auto"]),
        ("explain_problem", ["explain", "toll.toml"]),
        ("explain_problem", ["explain", "planted:7"]),
        ("list_problems", ["list", "problems"]),
        ("list_methods", ["list", "methods"]),
        ("list_parts", ["list", "parts"]),
        ("list_settings", ["list", "settings"]),
        ("prove", ["prove", "toll.toml", "--x", "4", "--y", "4"]),
        ("prove", ["prove", "toll.toml", "--x", "4", "--y", "5"]),
        ("prove", ["prove", "toll.toml", "--claim", "15"]),
        ("front", ["solve", "goals.toml", "--front", "--points", "2", "--seed", "1"]),
        ("sweep", ["solve", "toll.toml", "--sweep", "demand=7:8:2", "--seed", "1"]),
        ("experiment_run", ["experiment", "run", *GRID, "--store", "grid.db"]),
        ("experiment_status", ["experiment", "status", *GRID, "--store", "grid.db"]),
    ],
)
def test_other_output_fits_its_schema(program: str, part: str, arguments: list[str], tmp_path: Path) -> None:
    for name, text in FILES_OF_COMMANDS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    def run(*words: str) -> str:
        return subprocess.run([program, *words], cwd=tmp_path, capture_output=True, text=True, check=False).stdout

    if part == "experiment_status":
        run("experiment", "run", *GRID, "--store", "grid.db")
    printed = run(*arguments, "--format", "json")
    objects = [json.loads(line) for line in printed.splitlines()] if part == "experiment_run" else [json.loads(printed)]
    assert objects
    for one in objects:
        assert not [f"{list(error.path)}: {error.message}" for error in validator("output", part).iter_errors(one)]


def test_a_trace_fits_its_schema(program: str, tmp_path: Path) -> None:
    subprocess.run([program, "solve", "smd1", "--method", "cr-bl-cma-es", "--max-upper-evals", "100", "--trace", "t.jsonl"],
                   cwd=tmp_path, capture_output=True, check=False)
    lines = (tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()
    schema = validator("output", "trace")
    assert lines and all(schema.is_valid(json.loads(line)) for line in lines)


def test_every_definition_is_checked() -> None:
    checked = {mark.args[1][k][0] for mark in test_other_output_fits_its_schema.pytestmark for k in range(len(mark.args[1]))}
    assert checked | {"trace"} == set(read_schema("output")["$defs"])
