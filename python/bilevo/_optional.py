"""Libraries that are only needed for some functions."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


def _load(module: str, extra: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        name = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != name:
            raise
        raise ModuleNotFoundError(
            f"this needs {name}, which is not installed\nhint: pip install 'bilevo[{extra}]'", name=name
        ) from None


def pandas() -> Any:
    return _load("pandas", "pandas")


def pyplot() -> Any:
    return _load("matplotlib.pyplot", "plot")
