"""The errors and warnings of bilevo."""

from __future__ import annotations


class BilevoError(Exception):
    """The base of every error that bilevo itself raises.

    ``code`` is a stable code such as ``"E201"``; the guide lists them.
    """

    code: str | None = None


class ProblemError(BilevoError, ValueError):
    """A problem, a method or a setting is wrong; the message says what to change."""

    code = "E209"


class EvaluationError(BilevoError, RuntimeError):
    """An evaluation failed, and the run cannot or must not continue.

    The exception of the user's function, with its traceback, is the ``__cause__``.
    """

    code = "E303"


class CheckpointError(BilevoError, RuntimeError):
    """A checkpoint cannot be read, written or continued."""

    code = "E504"


class OutOfTime(Exception):
    """The time of the run is used up while functions or workers are busy; internal."""


class BilevoWarning(UserWarning):
    """Something you should know about a run, which nevertheless continued.

    ``str(warning)`` is its message, ``code`` its stable code such as ``"W609"``; the guide lists them.
    """

    def __init__(self, message: str = "", code: str | None = None) -> None:
        super().__init__(message)
        self.code = code


def counted(count: int, word: str) -> str:
    """A number with its noun, for messages.

    >>> counted(1, "variable"), counted(2, "variable")
    ('1 variable', '2 variables')
    """
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
