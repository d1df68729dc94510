"""Interpreters that are not supported are refused in words."""

from __future__ import annotations

import subprocess
import sys

import pytest


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_free_threaded_python_is_refused() -> None:
    ended = run("import sys; sys._is_gil_enabled = lambda: False; import bilevo")
    assert ended.returncode == 1 and "does not support Python without the global interpreter lock" in ended.stderr


def test_subinterpreters_are_refused() -> None:
    name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    pytest.importorskip(name)
    code = f"import {name} as i; n = i.create(); print(i.run_string(n, 'import bilevo'))"
    ended = run(code)
    assert "bilevo does not support subinterpreters" in ended.stdout + ended.stderr
    assert ended.returncode in (0, 1), "an error, not a crash"
