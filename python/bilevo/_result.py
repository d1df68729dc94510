"""The result of a run."""

from __future__ import annotations

import html
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._errors import BilevoWarning, ProblemError
from ._settings import read_count

if TYPE_CHECKING:
    import pandas

    from ._known import Evaluations
    from ._prove import Proof
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]

#: Names of the variables of both levels; empty if they have none.
Names = tuple[Sequence[str], Sequence[str]]

_MESSAGES = {
    "target": "the best known value was reached",
    "flat": "no further progress",
    "agreed": "several restarts agree on the best solution",
    "exhausted": "every decision of the leader was tried",
    "collapsed": "the search distribution shrank to a point",
    "upper_budget": "the upper budget is spent",
    "lower_budget": "the lower budget is spent",
    "budget": "the budget is spent",
    "all_failed": "every evaluation failed",
    "time_limit": "the time limit was reached",
    "interrupted": "interrupted",
    "observer": "stopped by the callback",
    "running": "the run has not ended",
}


def _message(status: str, verification: Mapping[str, Any] | None) -> str:
    # A quick run with the follower's own solver has one search.
    if status == "agreed" and verification and verification["restarts"] == 1:
        return "the search finished; there was no restart to confirm it"
    return _MESSAGES.get(status, status)


@dataclass(frozen=True)
class Generation:
    """One generation of a run; counts are those since its start."""

    generation: int
    fun: float
    lower_fun: float
    maxcv_upper: float
    maxcv_lower: float
    nfev_upper: int
    nfev_lower: int
    n_lower_searches: int
    n_skipped: int
    step_size: float
    accuracy: float | None
    lower_accuracy: float | None
    model_accuracy: float | None
    seconds: float

    @classmethod
    def _read(cls, record: Mapping[str, Any], seconds: float) -> Generation:
        accuracy = record["accuracy"] or {}
        return cls(
            generation=record["generation"],
            fun=_float(record["upper_value"]),
            lower_fun=_float(record["lower_value"]),
            maxcv_upper=_float(record["upper_violation"]),
            maxcv_lower=_float(record["lower_violation"]),
            nfev_upper=record["evaluations"]["upper"],
            nfev_lower=record["evaluations"]["lower"],
            n_lower_searches=record["lower_searches"]["run"],
            n_skipped=record["lower_searches"]["skipped"],
            step_size=_float(record["step_size"]),
            accuracy=accuracy.get("upper"),
            lower_accuracy=accuracy.get("lower"),
            model_accuracy=(record["model"] or {}).get("accuracy"),
            seconds=seconds,
        )


@dataclass(frozen=True)
class Failure:
    """One evaluation that failed, with the exception if there was one."""

    level: str
    id: int
    x: Floats
    y: Floats
    message: str
    exception: BaseException | None = None


@dataclass(frozen=True)
class Audit:
    """What an independent check of the follower's problem found.

    ``verdict`` is ``"stands"``, ``"proven"``, ``"better_answer"``, ``"infeasible"``, ``"no_feasible_answer"`` or
    ``"incomplete"``; ``words`` explains it in a sentence. ``gap`` is how much better the best answer found
    is for the follower than the reported one. ``best`` and ``ties`` (answers that are equally good for
    the follower but not for the leader) are answers with ``y``, ``F``, ``f`` and violations.
    """

    verdict: str
    words: str
    gap: float | None
    tolerance: float
    best: Mapping[str, Any] | None
    ties: Mapping[str, Any] | None
    nfev_upper: int
    nfev_lower: int

    @property
    def passed(self) -> bool:
        """Whether the audit confirms the reported answer."""
        return self.verdict in ("stands", "proven")

    @classmethod
    def _read(cls, raw: Mapping[str, Any]) -> Audit:
        counts = raw["evaluations"]
        kept = {key: raw[key] for key in ("verdict", "words", "gap", "tolerance", "best", "ties")}
        return cls(**kept, nfev_upper=counts["upper"], nfev_lower=counts["lower"])


@dataclass(frozen=True)
class Verification:
    """How the follower's answer was verified; ``words`` explains it in a sentence.

    ``settled``: the search for it converged. ``rechecked``: the follower was searched again at this decision,
    independently. ``agreed``: enough restarts ended at this value (``agreeing`` out of ``restarts``). Out of
    ``rechecks`` rechecks in the whole run, ``corrected`` found a better answer.
    """

    settled: bool
    rechecked: bool
    agreed: bool
    agreeing: int
    restarts: int
    rechecks: int
    corrected: int
    words: str

    @classmethod
    def _read(cls, raw: Mapping[str, Any]) -> Verification:
        return cls(**{name: raw[name] for name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class Result:
    """The result of a run. Print it to read it.

    Attributes
    ----------
    x, y:
        The leader's decision and the follower's answer to it.
    fun, lower_fun:
        F and f there, as your functions return them; ``fun_std`` and ``lower_fun_std`` say how exact they are if
        values are noisy.
    success:
        Whether the answer is good: it is feasible at both levels, the follower was rechecked, the search finished
        (restarts agree, nothing improves any more, or the target is met), and the audit, if you asked for one,
        confirmed it. The exit code of the command line follows the same rule.
    warnings:
        What you should know before you trust the answer, each with a stable ``code``.
    status, message:
        Why the run ended, as a word and as a sentence.
    verification, likeness, audit:
        How the follower's answer was verified, how often similar answers were right in test runs, and what the
        audit found.
    nfev_upper, nfev_lower, nfev:
        Evaluations of each level, and of both together; ``n_failed`` of them failed.
    n_lower_searches, n_skipped:
        Searches for the follower's answer, and decisions that did without one.
    maxcv_upper, maxcv_lower:
        By how much the constraints of each level are violated.
    solved:
        Whether the best known optimum was reached; None if none is known.
    notice:
        What you should know although it is no reason to doubt the answer, such as why ``auto`` chose another method.
    history, evaluations, failures:
        The generations; every evaluation (of the first 200,000 points), for ``known=`` of another run; the first
        evaluations that failed, with their exceptions.
    """

    x: Floats
    y: Floats
    fun: float
    lower_fun: float
    success: bool
    status: str
    message: str
    nfev_upper: int
    nfev_lower: int
    n_lower_searches: int
    n_skipped: int
    n_failed: int
    maxcv_upper: float
    maxcv_lower: float
    nit: int
    seconds: float
    problem: str
    method: str
    seed: int
    accuracy: float | None
    lower_accuracy: float | None
    solved: bool | None
    model_accuracy: float | None
    verification: Verification | None = None
    likeness: str | None = None
    audit: Audit | None = None
    notice: str | None = None
    warnings: Sequence[BilevoWarning] = ()
    names_upper: tuple[str, ...] = ()
    names_lower: tuple[str, ...] = ()
    evaluations: Evaluations | None = field(default=None, repr=False, compare=False)
    history: Sequence[Generation] = field(default=(), repr=False)
    failures: Sequence[Failure] = field(default=(), repr=False)
    _raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    _place: str | None = field(default="", repr=False, compare=False)
    _write_page: Callable[[str, int | None, dict[str, str]], None] | None = field(
        default=None, repr=False, compare=False
    )

    @classmethod
    def _read(
        cls,
        raw: Mapping[str, Any],
        history: Sequence[Generation],
        failures: Sequence[Failure] = (),
        names: Names = ((), ()),
        place: str | None = "",
    ) -> Result:
        accuracy = raw["accuracy"] or {}
        counts, searches = raw["evaluations"], raw["lower_searches"]
        status = raw["stop"]
        return cls(
            x=_array(raw["x"], raw["upper_dim"]),
            y=_array(raw["y"], raw["lower_dim"]),
            fun=_float(raw["F"]),
            lower_fun=_float(raw["f"]),
            success=raw["success"],
            status=status,
            message=_message(status, raw.get("verification")),
            nfev_upper=counts["upper"],
            nfev_lower=counts["lower"],
            n_lower_searches=searches["run"],
            n_skipped=searches["skipped"],
            n_failed=counts["failed_upper"] + counts["failed_lower"],
            maxcv_upper=_float(raw["upper_violation"]),
            maxcv_lower=_float(raw["lower_violation"]),
            nit=raw["generations"],
            seconds=raw["seconds"],
            problem=raw["problem"],
            method=raw["method"],
            seed=raw["seed"],
            accuracy=accuracy.get("upper"),
            lower_accuracy=accuracy.get("lower"),
            solved=raw.get("solved"),
            model_accuracy=raw["model_accuracy"],
            verification=Verification._read(raw["verification"]) if raw.get("verification") else None,
            likeness=raw["likeness"]["words"] if raw.get("likeness") else None,
            audit=Audit._read(raw["audit"]) if raw.get("audit") else None,
            notice=raw.get("notice"),
            warnings=tuple(BilevoWarning(told["message"], told["code"]) for told in raw["warnings"]),
            names_upper=tuple(names[0]),
            names_lower=tuple(names[1]),
            history=tuple(history),
            failures=tuple(failures),
            _raw=raw,
            _place=place,
        )

    @property
    def fun_std(self) -> float | None:
        """Standard error of ``fun``, a mean, if evaluations of one point differ; None if there is no noise."""
        return self._noise("F_error")

    @property
    def lower_fun_std(self) -> float | None:
        """The same for ``lower_fun``."""
        return self._noise("f_error")

    def _noise(self, key: str) -> float | None:
        noise = self._raw.get("noise")
        return None if noise is None else float(noise[key])

    @property
    def nfev(self) -> int:
        """The evaluations of both levels together."""
        return self.nfev_upper + self.nfev_lower

    def to_dict(self) -> dict[str, Any]:
        """The result as the command line prints it with ``--format json``."""
        return dict(self._raw)

    def prove(self, *, eps: float = 1e-2, time_limit: float = 60.0) -> Proof:
        """Prove the answer, or find a better one; the problem must be given by formulas (see :func:`prove`)."""
        from ._prove import prove

        if self._place is None:
            raise ProblemError("a proof needs formulas, not Python functions\nhint: write the problem as a problem file")
        return prove(self._place or self.problem, self.x, self.y, eps=eps, time_limit=time_limit)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        evaluations: int | None = None,
        units: Mapping[str, str] | None = None,
    ) -> None:
        """Write a report on the run: the answer, how certain it is and why, what lies around it, what to try next.

        The report is a single HTML file. To explore the neighbourhood of the answer, it evaluates your functions
        a few more times: at most about ``evaluations`` times, by default a tenth of the run's evaluations or two
        seconds' worth. ``units`` gives the units of variables and objectives, as in
        ``{"toll": "EUR", "F": "EUR/day"}``. Only the result that :func:`minimize` returned can write a report; a
        copied or loaded one cannot.
        """
        if not isinstance(path, (str, os.PathLike)) or not str(path).endswith(".html"):
            raise ProblemError(f"report is given {path!r}\nhint: give a name that ends in .html")
        evaluations = None if evaluations is None else read_count("evaluations", evaluations)
        names = [*_named("x", self.x, self.names_upper), *_named("y", self.y, self.names_lower), "F", "f"]
        for name in units or {}:
            if name not in names and name not in [own.partition("[")[0] for own in names]:
                raise ProblemError(f"units: there is no variable `{name}`\nhint: the names are {', '.join(names)}")
        if self._write_page is None:
            raise ProblemError(
                "this result has lost its problem, so nothing can be evaluated for a report"
                "\nhint: call report() on the result that minimize() returned"
            )
        self._write_page(os.fspath(path), evaluations, dict(units or {}))

    def __getstate__(self) -> dict[str, Any]:
        # The functions of a problem need not be picklable, and are not part of the result.
        return {**self.__dict__, "_write_page": None}

    def history_frame(self) -> pandas.DataFrame:
        """The generations as a pandas frame (needs the extra ``pandas``)."""
        from ._optional import pandas as load

        frame: pandas.DataFrame = load().DataFrame([vars(generation) for generation in self.history])
        return frame

    def plot(self) -> Figure:
        """Both objectives of the best solution over the evaluations (needs the extra ``plot``)."""
        from ._plot import plot_run

        return plot_run(self)

    def _rows(self) -> list[tuple[str, str]]:
        size = f"{len(self.x)}+{len(self.y)} variables"
        rows = [
            # Functions without a name of their own all have this one.
            ("problem", size if self.problem == "function" else f"{self.problem} ({size})"),
            ("method", f"{self.method}, seed {self.seed}"),
            ("status", f"{self.status}: {self.message}"),
            ("x", _numbers(self.x, self.names_upper)),
            ("y", _numbers(self.y, self.names_lower)),
            ("fun (F)", f"{self.fun:.9g}"),
        ]
        # If the follower has its own solver, there are no lower searches, and f may be unknown.
        by_solver = self._raw.get("lower_dim") == 0
        if not (by_solver and math.isnan(self.lower_fun)):
            rows.append(("lower_fun (f)", f"{self.lower_fun:.9g}"))
        if self.maxcv_upper > 0 or self.maxcv_lower > 0:
            rows.append(("violation", f"upper {self.maxcv_upper:.3g}, lower {self.maxcv_lower:.3g}"))
        if self.accuracy is not None:
            lower = "" if self.lower_accuracy is None else f", lower {self.lower_accuracy:.3g}"
            rows.append(("accuracy", f"upper {self.accuracy:.3g}{lower}"))
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        counts = f"upper {self.nfev_upper}, lower {self.nfev_lower}"
        if by_solver:
            counts = f"{self.nfev_lower} calls of the follower's solver, {self.nfev_upper} of F"
        rows += [
            ("evaluations", f"{counts}{failed}"),
            ("time", f"{self.seconds:.3g} s, {self.nit} generations"),
        ]
        if by_solver and self.n_skipped:
            rows.append(("decisions", f"{self.n_lower_searches} asked about, {self.n_skipped} skipped by their rank"))
        elif self.n_lower_searches and not by_solver and not (self.verification and self.verification.restarts):
            rows.append(("lower searches", f"{self.n_lower_searches} run, {self.n_skipped} skipped"))
        if by_solver:
            found = self.verification
            agree = f"; {found.agreeing} of {found.restarts} searches agree" if found and found.restarts > 1 else ""
            rows.append(("answer", f"by the follower's own solver{agree}"))
        elif self.verification is not None:
            rows.append(("answer", self.verification.words))
        if self._raw.get("noise"):
            rows.append(("noise", self._raw["noise"]["words"]))
        if self.likeness is not None:
            rows.append(("likely", self.likeness))
        if self.audit is not None:
            rows.append(("audit", self.audit.words))
        if self.notice is not None:
            rows.append(("notice", self.notice))
        rows.append(("success", str(self.success)))
        rows += [(f"warning {told.code}", str(told).partition("\nhint: ")[0]) for told in self.warnings]
        return rows

    def __repr__(self) -> str:
        rows = self._rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:>{width}}: {text}" for name, text in rows)

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left">{html.escape(name)}</th>'
            f'<td style="text-align:left">{html.escape(text)}</td></tr>'
            for name, text in self._rows()
        )
        state = "a good answer" if self.success else "not a good answer"
        return f"<table><caption>bilevo: {state}</caption><tbody>{rows}</tbody></table>"


def _float(value: float | None) -> float:
    """A number; NaN for null."""
    return float("nan") if value is None else float(value)


def _array(values: Sequence[float] | None, size: int) -> Floats:
    return np.full(size, np.nan) if values is None else np.array(values, dtype=np.float64)


def _short(value: float) -> str:
    """Six digits, but a whole number in full.

    >>> [_short(value) for value in (1e9, 0.1234567, float("nan"))]
    ['1000000000', '0.123457', 'nan']
    """
    return f"{value + 0.0:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def _named(letter: str, values: Floats, names: Sequence[str]) -> list[str]:
    """The names of the variables; ``x1``, ``x2``, … if they have none."""
    return list(names) or [f"{letter}{index + 1}" for index in range(len(values))]


def _numbers(values: Floats, names: Sequence[str]) -> str:
    """As in ``[4, 2]``, or ``toll 4, trips 2`` if the variables have names."""
    rest = ", ..." if len(values) > 8 else ""
    shown = [_short(value) for value in values[:8].tolist()]
    if names:
        return ", ".join(f"{name} {number}" for name, number in zip(names, shown)) + rest
    return "[" + ", ".join(shown) + rest + "]"
