"""Shows the progress of a run: a bar if tqdm is installed, else one line on stderr."""

from __future__ import annotations

import sys
import time
from typing import Any, Protocol

from ._result import Result


class Progress(Protocol):
    def show(self, result: Result) -> None: ...
    def close(self) -> None: ...


def progress(budget: int) -> Progress:
    """A bar or a line for a run of at most `budget` upper evaluations."""
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError:
        return _Line(budget)
    # No guess at the time left: most runs end long before their budget does.
    form = "{desc}: {n_fmt}/{total_fmt} upper |{bar}| [{elapsed}{postfix}]"
    return _Bar(tqdm(total=budget, desc="bilevo", leave=False, bar_format=form))


def _words(result: Result) -> str:
    skipped = f", {result.n_skipped:,} searches skipped" if result.n_skipped else ""
    return f"{result.nfev_lower:,} lower evaluations, F {result.fun:.6g}{skipped}"


class _Bar:
    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def show(self, result: Result) -> None:
        self._bar.set_postfix_str(_words(result), refresh=False)
        self._bar.update(result.nfev_upper - self._bar.n)

    def close(self) -> None:
        self._bar.close()


class _Line:
    """Rewrites one line, at most ten times a second."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._shown = 0.0
        self._width = 0

    def show(self, result: Result) -> None:
        now = time.monotonic()
        if now - self._shown < 0.1:
            return
        self._shown = now
        text = f"{result.nfev_upper:,} of {self._budget:,} upper, {_words(result)}"
        sys.stderr.write(f"\r{text:<{self._width}}")
        sys.stderr.flush()
        self._width = len(text)

    def close(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
