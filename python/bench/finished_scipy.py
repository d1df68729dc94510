"""Finished runs without a known optimum: bilevo and nested SciPy, each stopped by its own rule.

    pip install . scipy
    python python/bench/finished_scipy.py
    python python/bench/finished_scipy.py --only bilevo

It prints the table of the README. No solver knows where the optimum is: a run ends when the solver itself decides to
stop, and its answer may be wrong. Nested SciPy is COBYQA for the leader over L-BFGS-B for the follower (SLSQP if the
follower has constraints), started from the follower's last answer. One column shows a single random start, the other
the best of ten (or what it has after 100,000 evaluations). A call of either objective counts once, together with its
constraints; calls for finite differences count too.

An answer is right if F and f are within 0.01 of a known optimum, relative above 1, and no constraint is violated by
more than 1e-4.

The columns of SciPy take hours and depend on SciPy alone. They are kept in `finished_scipy.json`; `--only bilevo`
takes them from there.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import neighbours
import numpy as np
from neighbours import BASBLIB, Outside, Remembered, Spent, Task, warm_gradients

import bilevo

#: What SciPy did when it was last measured, by problem and column.
KEPT = Path(__file__).with_name("finished_scipy.json")
#: SMD6 is left out: nested SciPy does not finish there.
PROBLEMS = [*(f"smd{number}" for number in (1, 2, 3, 4, 5, 7, 8)), *(f"basblib/{name}" for name in BASBLIB)]
#: Starts of nested SciPy, the best of which is taken.
STARTS = 10
#: How far F and f may be from a known optimum, relative above 1, and a constraint from being met.
CLOSE, FEASIBLE = 1e-2, 1e-4


#: Runs of every solver on every problem, seeds 1 and on.
RUNS = 5


@dataclass(frozen=True)
class Finished:
    right: bool
    evaluations: int


@dataclass(frozen=True)
class Cell:
    """Right answers, and the median of the evaluations."""

    right: int
    evaluations: int


class Unending(Task):
    """A task in which nothing ends a run but the solver itself, or a wide budget."""

    def __init__(self, name: str, seed: int) -> None:
        super().__init__(name, budget=100_000, seed=seed)
        self.optima, self.known = [], self.optima

    def right(self, x: Any, y: Any) -> bool:
        upper, lower = self.inside.evaluate("upper", x, y), self.inside.evaluate("lower", x, y)
        rows = upper.constraints
        met = max(neighbours.violated(rows[: len(rows) - self.equalities["upper"]]), self.lower_violation(lower.constraints))
        return met <= FEASIBLE and any(
            close(upper.value, best_upper) and (best_lower is None or close(lower.value, best_lower))
            for best_upper, best_lower in self.known
        )


def close(value: float, known: float) -> bool:
    return abs(value - known) <= CLOSE * max(1.0, abs(known))


def scipy_run(name: str, seed: int, starts: int) -> Finished:
    """COBYQA over a warm local solver, from several random starts; the best feasible end is the answer."""
    from scipy.optimize import NonlinearConstraint, minimize

    task = Unending(name, seed)
    ends: list[tuple[bool, float, Any, Any]] = []
    try:
        for _ in range(starts):
            answer = warm_gradients(task)
            seen: dict[bytes, tuple[float, Any, Any]] = {}

            def judge(x: Any, answer: Callable[[Any], Any] = answer, seen: Any = seen) -> tuple[float, Any]:
                y = answer(x)
                value, rows = task.judge(x, y)
                seen[np.asarray(x, dtype=float).tobytes()] = (value, rows, y)
                return value, rows

            leader = Remembered(judge)
            rules = [NonlinearConstraint(leader.constraints, -np.inf, 0.0)] if task.constrained["upper"] else []
            done = minimize(leader.value, task.start("upper"), method="COBYQA", bounds=task.box_upper, constraints=rules,
                            options={"final_tr_radius": 1e-8, "maxfev": 2000})
            if done.x.tobytes() not in seen:
                judge(done.x)
            value, rows, y = seen[done.x.tobytes()]
            feasible = neighbours.violated(rows) <= FEASIBLE
            ends.append((not feasible, value, np.clip(done.x, *task.box_upper.T), np.clip(y, *task.box_lower.T)))
    except Spent:
        pass
    if not ends:
        return Finished(False, task.evaluations)
    _, _, x, y = min(ends, key=lambda end: end[:2])
    return Finished(task.right(x, y), task.evaluations)


def bilevo_run(name: str, seed: int, effort: str) -> Finished:
    problem = Outside(name)
    task = Unending(name, seed)
    result = bilevo.minimize(problem, seed=seed, effort=effort, settings={"stop.target": "off"})
    return Finished(result.x is not None and task.right(result.x, result.y), result.nfev)


SOLVERS: dict[str, Callable[[str, int], Finished]] = {
    "`bilevo`": lambda name, seed: bilevo_run(name, seed, "normal"),
    "`bilevo`, quick": lambda name, seed: bilevo_run(name, seed, "quick"),
    "SciPy, one start": lambda name, seed: scipy_run(name, seed, 1),
    f"SciPy, best of {STARTS}": lambda name, seed: scipy_run(name, seed, STARTS),
}


def label(name: str) -> str:
    return name.upper() if name.startswith("smd") else f"`{name}`"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--only", default="", help="measure only the columns with this in their names, as in bilevo")
    parser.add_argument("problems", nargs="*", default=PROBLEMS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    print("| right answers, evaluations | " + " | ".join(SOLVERS) + " |")
    print("|---" * (len(SOLVERS) + 1) + "|", flush=True)
    totals = dict.fromkeys(SOLVERS, 0)
    for name in arguments.problems:
        cells = []
        for solver, run in SOLVERS.items():
            if arguments.only in solver:
                runs = [run(name, seed) for seed in range(1, arguments.runs + 1)]
                found = Cell(sum(run.right for run in runs), round(median(run.evaluations for run in runs)))
                if "SciPy" in solver and arguments.runs == RUNS:
                    kept.setdefault(name, {})[solver] = asdict(found)
                    KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
            else:
                found = Cell(**kept[name][solver])
            totals[solver] += found.right
            cells.append(f"{found.right} of {arguments.runs}, {found.evaluations:,}")
        print(f"| {label(name)} | " + " | ".join(cells) + " |", flush=True)
    runs_in_all = arguments.runs * len(arguments.problems)
    print("| **right** | " + " | ".join(f"**{right} of {runs_in_all}**" for right in totals.values()) + " |")


if __name__ == "__main__":
    main()
