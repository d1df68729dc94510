"""Ask and tell: ask for points, evaluate them anywhere, and tell the answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from . import _answer, _native, _values
from ._errors import ProblemError
from ._problem import BilevelProblem, Floats, Level
from ._result import Generation, Result
from ._settings import Budget, Seed, known_method, read_seed, read_settings


@dataclass(frozen=True)
class Point:
    """One point to evaluate."""

    id: int
    level: Level
    x: Floats
    y: Any


@dataclass(frozen=True)
class Batch:
    """Points to evaluate at one level: ``ids``, ``x`` and ``y`` have one entry or row for each.

    A batch can be sliced like a list; tell the pieces in any order. You can loop over its points, each
    with ``id``, ``level``, ``x`` and ``y``. At the level ``"follower"``, each decision x needs the answer of
    your solver; at the upper level ``y`` then holds those answers.
    """

    level: Level
    ids: npt.NDArray[np.uint64]
    x: Floats
    y: Any

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Point]:
        for index in range(len(self)):
            yield self[index]

    @overload
    def __getitem__(self, key: int) -> Point: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | npt.NDArray[Any]) -> Batch: ...
    def __getitem__(self, key: Any) -> Point | Batch:
        if isinstance(key, (int, np.integer)):
            return Point(int(self.ids[key]), self.level, self.x[key], self.y[key])
        y = [self.y[index] for index in np.arange(len(self))[key]] if isinstance(self.y, list) else self.y[key]
        return Batch(self.level, self.ids[key], self.x[key], y)


class Optimizer:
    """A run whose points you evaluate yourself.

    :meth:`ask` returns the points to evaluate; :meth:`tell` takes the answers, in any order and in
    parts. Between any two answers you can pickle an optimizer or turn it into bytes; it then continues
    exactly where it was. With the same problem, method and seed it does the same as
    :func:`bilevo.minimize`, bit for bit.

    Parameters
    ----------
    problem:
        A :class:`BilevelProblem` (only its sizes, boxes and counts are used) or the name of a
        built-in problem or problem file.
    method, seed, budget, settings:
        As for :func:`bilevo.minimize`.

    Examples
    --------
    >>> import bilevo
    >>> problem = bilevo.BilevelProblem([(0, 10)], [(0, 10)], maximize="upper")
    >>> opt = bilevo.Optimizer(problem, method="bl-cma-es", seed=1, budget=300)
    >>> while (batch := opt.ask()) is not None:
    ...     toll, trips = batch.x[:, 0], batch.y[:, 0]
    ...     if batch.level == "upper":
    ...         opt.tell(batch, toll * trips)
    ...     else:
    ...         opt.tell(batch, (trips - 8 + toll) ** 2)
    >>> opt.result().x.round(1)
    array([4.])
    """

    def __init__(
        self,
        problem: BilevelProblem | str,
        *,
        method: str = "auto",
        seed: Seed = None,
        budget: Budget = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        from .problems import find

        problem = find(problem)
        self._run = _native.Run(
            problem._spec_json(),
            *problem._source(),
            known_method(method),
            read_seed(seed),
            read_settings(settings, budget),
        )

    def ask(self) -> Batch | None:
        """The points to evaluate, all at one level; None when the run has ended.

        If called again, it returns the same points, except those answered in the meantime.
        """
        asked = self._run.ask()
        return None if asked is None else Batch(*asked)

    def tell(
        self,
        points: Batch | Point | Sequence[int] | npt.NDArray[Any],
        values: Any,
        constraints: Any = None,
    ) -> None:
        """Answer some of the requested points.

        Parameters
        ----------
        points:
            The batch, a piece of it, or the ids of some of its points.
        values:
            One objective value per point. None, NaN, an infinity or an exception means that
            the evaluation failed. At the level ``"follower"``: y or a :class:`bilevo.Answer` for each.
        constraints:
            The values of g <= 0, then those of h = 0: one row per point, if the level has any.
        """
        if isinstance(points, Point):
            points, values = [points.id], [values]
        ids = np.asarray(points.ids if isinstance(points, Batch) else points)
        if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
            raise ProblemError("points must be a batch or a list of ids")
        packed = None
        if self._asks_follower():
            values, packed = _read_answers(values, len(ids))
        numbers, failures = _read_values(values, len(ids))
        rows = None if constraints is None else _rows(constraints, len(ids))
        self._run.tell(ids.astype(np.uint64), numbers, rows, failures, packed)

    def _asks_follower(self) -> bool:
        asked = self._run.ask()
        return asked is not None and asked[0] == "follower"

    @property
    def done(self) -> bool:
        """Whether the run has ended."""
        return self._run.ask() is None

    @property
    def seed(self) -> int:
        """The seed of the run, whether given or random."""
        return self._run.seed

    def result(self) -> Result:
        """The result so far."""
        return Result._read(json.loads(self._run.result()), self.history, names=self._run.names())

    @property
    def history(self) -> tuple[Generation, ...]:
        """The generations so far."""
        return tuple(Generation._read(record, seconds) for record, seconds in json.loads(self._run.history()))

    def to_bytes(self) -> bytes:
        """The state of the run as bytes, from which :meth:`from_bytes` continues it."""
        return self._run.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Optimizer:
        """The run that :meth:`to_bytes` wrote."""
        self = cls.__new__(cls)
        self._run = _native.Run.from_bytes(bytes(data))
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self).from_bytes, (self.to_bytes(),))

    def __repr__(self) -> str:
        return f"<Optimizer: {self._run.name()}>"


def _read_answers(given: Any, count: int) -> tuple[list[Any], list[_answer.Packed]]:
    """Answers of the follower's own solver: failures, and the others packed."""
    try:
        answers = list(given)
    except TypeError:
        answers = []
    if len(answers) != count:
        raise ProblemError(f"{count} decisions need one answer each\nhint: tell a list of y or bilevo.Answer")
    values: list[Any] = []
    packed: list[_answer.Packed] = []
    for answer in answers:
        failed = answer is None or isinstance(answer, BaseException)
        values.append(answer if failed else 0.0)
        packed.append(_answer.pack([] if failed else answer))
    return values, packed


def _read_values(values: Any, count: int) -> tuple[Floats, list[tuple[int, str]]]:
    """Objective values, with NaN and a reason if an evaluation failed."""
    failures: list[tuple[int, str]] = []
    if not isinstance(values, np.ndarray):
        values = [values] if np.ndim(values) == 0 else list(values)
        for index, value in enumerate(values):
            if value is None or isinstance(value, BaseException):
                words = "no value" if value is None else f"{type(value).__name__}: {value}"
                failures.append((index, words))
                values[index] = np.nan
    if np.ndim(values) == 1 and len(values) != count:
        raise _values.WrongShape(
            f"{count} points need {count} objective values, but {len(values)} came back"
            "\nhint: give one for each point of the batch; None stands for a failed evaluation"
        )
    return _values.column(values, count), failures


def _rows(constraints: Any, count: int) -> Floats:
    array = _values.plain(constraints)
    if array.ndim == 1 and count == 1:
        array = array.reshape(1, -1)
    elif array.ndim == 1 and array.size == count:
        array = array.reshape(-1, 1)
    if array.ndim != 2 or len(array) != count:
        raise ProblemError(
            f"the constraint values have the shape {array.shape}\nhint: one row for each of the {count} points"
        )
    return array
