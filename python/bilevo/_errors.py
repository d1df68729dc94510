"""The errors and warnings of bilevo."""

from __future__ import annotations


class BilevoError(Exception):
    """The base of every error that bilevo itself raises."""


class ProblemError(BilevoError, ValueError):
    """A problem, a method or a setting that makes no sense; the message says what to change."""


class EvaluationError(BilevoError, RuntimeError):
    """An evaluation failed and the run cannot or must not go on.

    The exception of the user's function, with its traceback, is the ``__cause__``.
    """


class CheckpointError(BilevoError, RuntimeError):
    """A checkpoint that cannot be read, written or gone on with."""


class OutOfTime(Exception):
    """The time of the run is used up while functions or workers are busy; no user ever sees it."""


class BilevoWarning(UserWarning):
    """Something a user should know about a run that nevertheless went on."""
