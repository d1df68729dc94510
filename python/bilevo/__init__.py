"""Bilevel (leader-follower) optimisation.

A leader chooses x, a follower responds with the y that is best for itself, and bilevo finds the
decision that is best for the leader once the follower has responded.

>>> import bilevo
>>> result = bilevo.minimize("smd1", seed=1)
>>> result.solved
True

:func:`minimize` solves a problem given by functions, a class, a name or a file;
:class:`Optimizer` lets you evaluate the points yourself; :mod:`bilevo.problems` has test problems;
:mod:`bilevo.lab` compares methods.
"""

from __future__ import annotations

from . import _interpreter

_interpreter.check_interpreter()

from . import _native, lab, problems  # noqa: E402
from ._answer import Answer
from ._errors import BilevoError, BilevoWarning, CheckpointError, EvaluationError, ProblemError
from ._known import Evaluations
from ._minimize import minimize
from ._optimizer import Batch, Optimizer, Point
from ._pareto import Front, pareto
from ._problem import BilevelProblem, FunctionProblem
from ._prove import Proof, prove
from ._result import Audit, Failure, Generation, Result, Verification
from ._settings import explain, methods

__version__: str = _native.VERSION

__all__ = [
    "Answer",
    "Audit",
    "Batch",
    "BilevelProblem",
    "BilevoError",
    "BilevoWarning",
    "CheckpointError",
    "EvaluationError",
    "Evaluations",
    "Failure",
    "Front",
    "FunctionProblem",
    "Generation",
    "Optimizer",
    "Point",
    "ProblemError",
    "Proof",
    "Result",
    "Verification",
    "explain",
    "lab",
    "methods",
    "minimize",
    "pareto",
    "problems",
    "prove",
]
