"""Known evaluations, from earlier runs."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ._errors import ProblemError
from ._result import Result

if TYPE_CHECKING:
    import pandas

Floats = npt.NDArray[np.float64]

#: The path of a CSV file, a pandas frame, a mapping, an array, another run's evaluations or result, or a list of these.
Known: TypeAlias = Any

#: x, y, F, G, f, g and which rows were answers, for the native part.
Arrays: TypeAlias = tuple[Floats, Floats, Floats, Floats, Floats, Floats, npt.NDArray[np.bool_]]


@dataclass(frozen=True, repr=False)
class Evaluations:
    """Evaluations of both levels: one row for each point, NaN where a level was not evaluated.

    ``x`` and ``y`` are the points, ``F`` and ``f`` the objectives, ``G`` and ``g`` the constraint values with
    one column for each constraint, inequalities (<= 0) first. All values are as your functions return them.
    ``answer`` marks the point that the run returned. Pass them to another run as ``known=``, or save them with
    :meth:`to_csv`.
    """

    x: Floats
    y: Floats
    F: Floats
    G: Floats
    f: Floats
    g: Floats
    answer: npt.NDArray[np.bool_]
    names_upper: Sequence[str] = field(default=())
    names_lower: Sequence[str] = field(default=())

    def __len__(self) -> int:
        return len(self.x)

    @property
    def columns(self) -> list[str]:
        """The names of the columns of :meth:`to_numpy`, as in ``x1, x2, y1, F, G1, f, answer``."""
        x = list(self.names_upper) or _numbered("x", self.x)
        y = list(self.names_lower) or _numbered("y", self.y)
        return [*x, *y, "F", *_numbered("G", self.G), "f", *_numbered("g", self.g), "answer"]

    def to_numpy(self) -> Floats:
        """One array with a row for each point: x, y, F, G, f, g, and 1 for an answer of the run."""
        return np.hstack([self.x, self.y, self.F[:, None], self.G, self.f[:, None], self.g, self.answer[:, None]])

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a pandas frame (needs the extra ``pandas``)."""
        from ._optional import pandas as load

        frame: pandas.DataFrame = load().DataFrame(self.to_numpy(), columns=self.columns)
        return frame

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table that ``known=`` and the command line's ``--known`` read."""
        with open(path, "w", newline="", encoding="utf-8") as file:
            lines = csv.writer(file)
            lines.writerow(self.columns)
            lines.writerows([repr(float(v)) if np.isfinite(v) else "" for v in row] for row in self.to_numpy())

    def __repr__(self) -> str:
        return f"<Evaluations: {len(self)} points, {', '.join(self.columns)}>"


def _numbered(letter: str, part: Floats) -> list[str]:
    return [f"{letter}{index + 1}" for index in range(part.shape[1])]


@dataclass(frozen=True)
class Layout:
    """The sizes and names of a problem's table."""

    names_upper: Sequence[str]
    #: Empty if only the follower's own solver knows y.
    names_lower: Sequence[str]
    upper_constraints: int
    lower_constraints: int


def read_known(given: Known, layout: Layout) -> list[str | Arrays]:
    """Files that the native part reads, and tables.

    >>> layout = Layout(["x1"], ["y1"], 0, 0)
    >>> [table] = read_known({"x": [1, 2], "y": [3, 4], "F": [5, 6]}, layout)
    >>> table[0].tolist(), table[2].tolist(), table[4].tolist()
    ([[1.0], [2.0]], [5.0, 6.0], [nan, nan])
    """
    if given is None:
        return []
    if isinstance(given, Result):
        given = given.evaluations
        if given is None:
            raise ProblemError("this result has no evaluations\nhint: give one that minimize() returned")
    if isinstance(given, Evaluations):
        return [(given.x, given.y, given.F, given.G, given.f, given.g, given.answer)]
    if isinstance(given, (str, os.PathLike)):
        return [os.fspath(given)]
    if isinstance(given, Mapping):
        return [_from_mapping(given, layout)]
    if hasattr(given, "columns") and hasattr(given, "to_numpy"):
        return [_from_mapping({str(name): given[name] for name in given.columns}, layout)]
    if isinstance(given, np.ndarray):
        return [_from_array(given, layout)]
    if isinstance(given, Sequence) and all(not np.isscalar(part) or isinstance(part, str) for part in given):
        if given and all(isinstance(part, Sequence) and not isinstance(part, str) for part in given):
            return [_from_array(given, layout)]
        return [table for part in given for table in read_known(part, layout)]
    raise ProblemError(
        f"known is {given!r}\nhint: give a CSV file, a pandas frame, an array, a mapping or another result's evaluations"
    )


def _from_mapping(given: Mapping[str, Any], layout: Layout) -> Arrays:
    """By the letters x, y, F, G, f, g, or by the names of the columns."""
    if "x" in given and np.ndim(given["x"]) == 2 or set(given) <= {*"xyFGfg", "answer"}:
        rows = len(_column(given.get("x", ()), "x"))
        parts = {letter: given[letter] for letter in "xyFGfg" if letter in given}
        return _table(rows, parts, layout, given.get("answer"))
    oracle = [name for name in (f"y{index + 1}" for index in range(len(given))) if name in given]
    wanted = {
        "x": list(layout.names_upper),
        "y": list(layout.names_lower) or oracle,
        "F": ["F"],
        "G": [f"G{index + 1}" for index in range(layout.upper_constraints)],
        "f": ["f"],
        "g": [f"g{index + 1}" for index in range(layout.lower_constraints)],
    }
    for objective, constraints in (("F", "G"), ("f", "g")):
        if objective not in given:
            wanted[objective], wanted[constraints] = [], []
    if not wanted["F"] and not wanted["f"]:
        raise ProblemError("the known evaluations have neither F nor f\nhint: the columns with the values must be called F and f")
    missing = [name for names in wanted.values() for name in names if name not in given]
    if missing:
        there = ", ".join(map(str, given))
        raise ProblemError(f"the known evaluations have no column `{missing[0]}`\nhint: their columns are {there}")
    rows = len(_column(given[wanted["x"][0]], wanted["x"][0]))
    parts = {
        letter: np.column_stack([_column(given[name], name) for name in names]) for letter, names in wanted.items() if names
    }
    return _table(rows, parts, layout, given.get("answer"))


def _from_array(given: Any, layout: Layout) -> Arrays:
    """Columns in their order: x, y, F, G, f, g."""
    array = _column(given, "known")
    if array.ndim == 2 and array.shape[1] == _width(layout) + 1:
        array, answer = array[:, :-1], array[:, -1]
    else:
        answer = None
    widths = [
        len(layout.names_upper),
        len(layout.names_lower),
        1,
        layout.upper_constraints,
        1,
        layout.lower_constraints,
    ]
    if array.ndim != 2 or array.shape[1] != _width(layout):
        raise ProblemError(
            f"known has the shape {array.shape}\nhint: it needs {_width(layout)} columns: x, y, F, then the upper "
            "constraints, f, then the lower constraints"
        )
    ends = np.cumsum(widths)[:-1]
    x, y, F, G, f, g = np.split(array, ends, axis=1)
    return _table(len(array), {"x": x, "y": y, "F": F, "G": G, "f": f, "g": g}, layout, answer)


def _width(layout: Layout) -> int:
    variables = len(layout.names_upper) + len(layout.names_lower)
    return variables + 2 + layout.upper_constraints + layout.lower_constraints


def _column(given: Any, name: str) -> Floats:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"{name} of the known evaluations is not made of numbers") from error


def _table(rows: int, parts: Mapping[str, Any], layout: Layout, answer: Any = None) -> Arrays:
    """All six arrays, with NaN for missing values."""
    widths = {"G": layout.upper_constraints, "g": layout.lower_constraints}

    def part(letter: str) -> Floats:
        if letter not in parts:
            width = widths.get(letter, 0)
            return np.full(rows, np.nan) if letter in "Ff" else np.full((rows, width), np.nan)
        array = _column(parts[letter], letter)
        array = array.reshape(-1) if letter in "Ff" else array.reshape(-1, 1) if array.ndim < 2 else array
        if len(array) != rows:
            raise ProblemError(
                f"the known evaluations have {rows} values of x, but {len(array)} of {letter}"
                "\nhint: give one for each point, and NaN where something was not evaluated"
            )
        return np.ascontiguousarray(array)

    answers = np.zeros(rows, dtype=np.bool_) if answer is None else _column(answer, "answer") == 1
    return (part("x"), part("y"), part("F"), part("G"), part("f"), part("g"), answers)
