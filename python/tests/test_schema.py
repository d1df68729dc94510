"""The JSON schemas of problem files and results fit what there is."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import bilevo

ROOT = Path(__file__).parents[2]
FILES = [
    path
    for folder in ("examples", "crates/bilevo-problems", "crates/bilevo-cli")
    for path in sorted((ROOT / folder).rglob("*.toml"))
    if path.name != "Cargo.toml"
]


def validator(name: str) -> Any:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "docs" / "schema" / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


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


def test_results_fit_their_schema() -> None:
    schema = validator("result")
    known = schema.schema["properties"]
    results = [
        bilevo.minimize("smd1", seed=1, budget=20, audit=True),
        bilevo.minimize(str(ROOT / "examples" / "problems" / "quadratic.toml"), seed=1, budget=20),
        bilevo.minimize("smd6", seed=1, method="cr-bl-cma-es", budget=30, position="pessimistic"),
    ]
    for result in results:
        raw = json.loads(json.dumps(result.to_dict()))
        assert not [error.message for error in schema.iter_errors(raw)]
        assert set(raw) <= set(known), "a field that the schema does not describe"
