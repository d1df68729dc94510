"""Rejects interpreters that bilevo cannot run in, before anything else is imported."""

from __future__ import annotations

import importlib
import sys


def check_interpreter() -> None:
    """Raises an ImportError that says what to use instead."""
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise ImportError(
            "bilevo does not support Python without the global interpreter lock"
            "\nhint: use the ordinary build of Python, or start this one with PYTHON_GIL=1"
        )
    if _interpreter_id() != 0:
        raise ImportError(
            "bilevo does not support subinterpreters\nhint: import it in the main interpreter, or use processes"
        )


def _interpreter_id() -> int:
    """The number of the current interpreter; the main one has 0."""
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            current = importlib.import_module(name).get_current()
        except ImportError:
            continue
        return int(current[0] if isinstance(current, tuple) else current)
    return 0
