"""bilevo next to what you would write with other libraries, to the same accuracy.

    pip install . scipy cma pymoo
    python python/bench/neighbours.py

It writes the page docs/src/neighbours.md. The results of the other solvers are kept in python/bench/neighbours.json,
with the versions they had: `--only bilevo` runs bilevo alone and takes the other columns from there, and `--only
others` runs what is missing there.

Without a solver for two levels, you nest solvers for one: to judge a decision, the upper solver needs a complete run of
the lower solver. All solvers call the same Python functions, and every call counts, including those for finite
differences and constraints (a call returns objective and constraints together). A solver that ends before it has found
the optimum starts again elsewhere. The optimum is found when F and f are within the tolerances of the known ones and no
constraint is violated by more; the run ends there, or when its evaluations are used up.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"

import numpy as np

import bilevo

BASBLIB = ("as_1984_01", "b_1998_07", "mb_2007_23", "nwj_2017_04", "sa_1981_01", "tmh_2007_01")
CHOSEN = ["smd1", "smd3", "smd5", "smd9", *(f"basblib/{name}" for name in BASBLIB)]
SMOOTH = [f"smd{number}" for number in range(1, 9)]
#: What a unit of violation costs solvers that know no constraints.
PENALTY = 1e3
#: Where the page is, and what the other solvers did.
PAGE = Path("docs/src/neighbours.md")
STORE = Path(__file__).with_suffix(".json")
#: The packages of the other solvers, and what people call them.
PACKAGES = {"scipy": "SciPy", "cma": "pycma", "pymoo": "pymoo"}
#: What the page says of columns that come from the store.
EARLIER = (
    " The columns of the other solvers come from an earlier call (`--only bilevo`) under a different machine load: "
    "compare evaluations, not seconds."
)
#: Starts of one lower search of the solver with several.
STARTS = 5


class Found(Exception):
    """The optimum was evaluated."""


class Spent(Exception):
    """The evaluations are used up."""


class Task:
    """One problem to solve by nesting, with everything counted."""

    def __init__(self, name: str, budget: int, seed: int) -> None:
        self.inside = bilevo.problems.load(name)
        spec = self.inside._spec
        self.optima = [(best["upper"], best["lower"]) for best in spec["best_known"]]
        self.tolerances = tolerances(name, self.optima)
        self.sign = {level: -1.0 if spec[level]["direction"] == "maximize" else 1.0 for level in ("upper", "lower")}
        self.equalities = {level: spec[level]["equalities"] for level in ("upper", "lower")}
        self.box_upper = np.array(self.inside.bounds_upper)
        self.box_lower = np.array(self.inside.bounds_lower)
        self.constrained = {level: spec[level]["inequalities"] + spec[level]["equalities"] > 0 for level in self.sign}
        self.random = np.random.default_rng(seed)
        self.budget = budget
        self.evaluations = 0

    def call(self, level: str, x: Any, y: Any) -> tuple[float, Any]:
        """The value to minimise and the constraint values, which must be <= 0."""
        if self.evaluations >= self.budget:
            raise Spent
        self.evaluations += 1
        answer = self.inside.evaluate(level, np.clip(x, *self.box_upper.T), np.clip(y, *self.box_lower.T))  # type: ignore[arg-type]
        equalities = self.equalities[level]
        rows = answer.constraints
        if equalities:
            equal = rows[-equalities:]
            rows = np.concatenate([rows[:-equalities], equal, -equal])
        return self.sign[level] * answer.value, rows

    def judge(self, x: Any, y: Any) -> tuple[float, Any]:
        """An upper evaluation after a lower search; ends the run if the optimum is found.

        What the follower has at y is looked up without being counted: the lower search knows it.
        """
        value, rows = self.call("upper", x, y)
        follower = self.inside.evaluate("lower", np.clip(x, *self.box_upper.T), np.clip(y, *self.box_lower.T))
        upper_tolerance, lower_tolerance = self.tolerances
        violation = max(violated(rows), self.lower_violation(follower.constraints))
        for best_upper, best_lower in self.optima:
            close = abs(self.sign["upper"] * value - best_upper) <= upper_tolerance
            if best_lower is not None:
                close = close and abs(follower.value - best_lower) <= lower_tolerance
            if close and violation <= upper_tolerance:
                raise Found
        return value, rows

    def lower_violation(self, rows: Any) -> float:
        equalities = self.equalities["lower"]
        unequal = np.abs(rows[len(rows) - equalities :])
        return max(violated(rows[: len(rows) - equalities]), violated(unequal))

    def start(self, level: str) -> Any:
        box = self.box_upper if level == "upper" else self.box_lower
        return self.random.uniform(box[:, 0], box[:, 1])


def violated(rows: Any) -> float:
    return max(0.0, float(np.max(rows, initial=0.0)))


def tolerances(name: str, optima: list[tuple[float, float | None]]) -> tuple[float, float]:
    """Distances from the known optimum that count as none."""
    if name.startswith("smd"):
        return 1e-6, 1e-4
    upper, lower = optima[0]
    return 1e-4 * max(1.0, abs(upper)), 1e-4 * max(1.0, abs(lower or 0.0))


class Remembered:
    """A function of one vector that returns value and constraints, called once for both."""

    def __init__(self, function: Callable[[Any], tuple[float, Any]]) -> None:
        self.function = function
        self.latest: tuple[bytes, tuple[float, Any]] | None = None

    def both(self, v: Any) -> tuple[float, Any]:
        key = np.asarray(v, dtype=float).tobytes()
        if self.latest is None or self.latest[0] != key:
            self.latest = (key, self.function(v))
        return self.latest[1]

    def value(self, v: Any) -> float:
        return self.both(v)[0]

    def constraints(self, v: Any) -> Any:
        return self.both(v)[1]

    def penalised(self, v: Any) -> float:
        value, rows = self.both(v)
        return value + PENALTY * float(np.maximum(rows, 0.0).sum())


# Lower solvers: from x and a place to start to the follower's answer.


def gradients(task: Task, x: Any, start: Any) -> tuple[float, Any]:
    """L-BFGS-B on finite differences; SLSQP where the follower has constraints."""
    from scipy.optimize import minimize

    follower = Remembered(lambda y: task.call("lower", x, y))
    if task.constrained["lower"]:
        inside = {"type": "ineq", "fun": lambda y: -follower.constraints(y)}
        done = minimize(follower.value, start, method="SLSQP", bounds=task.box_lower, constraints=[inside],
                        options={"ftol": 1e-12, "maxiter": 200})
    else:
        done = minimize(follower.value, start, method="L-BFGS-B", bounds=task.box_lower,
                        options={"ftol": 1e-14, "gtol": 1e-9})
    return follower.penalised(done.x), done.x


def warm_gradients(task: Task) -> Callable[[Any], Any]:
    """From the answer to the decision before."""
    place = task.start("lower")

    def solve(x: Any) -> Any:
        nonlocal place
        place = gradients(task, x, place)[1]
        return place

    return solve


def several_gradients(task: Task) -> Callable[[Any], Any]:
    """The best from the answer to the decision before and from random places."""
    place = task.start("lower")

    def solve(x: Any) -> Any:
        nonlocal place
        starts = [place, *(task.start("lower") for _ in range(STARTS - 1))]
        place = min((gradients(task, x, start) for start in starts), key=lambda found: found[0])[1]
        return place

    return solve


# Nested solvers: each call is one attempt, which may end before the optimum is found.


def cobyqa(lower: Callable[[Task], Callable[[Any], Any]]) -> Callable[[Task], None]:
    def attempt(task: Task) -> None:
        from scipy.optimize import NonlinearConstraint, minimize

        answer = lower(task)
        leader = Remembered(lambda x: task.judge(x, answer(x)))
        rules = [NonlinearConstraint(leader.constraints, -np.inf, 0.0)] if task.constrained["upper"] else []
        minimize(leader.value, task.start("upper"), method="COBYQA", bounds=task.box_upper, constraints=rules,
                 options={"final_tr_radius": 1e-8, "maxfev": 2000})

    return attempt


def scipy_de(task: Task) -> None:
    from scipy.optimize import differential_evolution

    def answer(x: Any) -> Any:
        follower = Remembered(lambda y: task.call("lower", x, y))
        return differential_evolution(follower.penalised, task.box_lower, rng=task.random, polish=False, tol=1e-8, atol=1e-10).x

    leader = Remembered(lambda x: task.judge(x, answer(x)))
    differential_evolution(leader.penalised, task.box_upper, rng=task.random, polish=False, tol=1e-8, atol=1e-10)


def pycma(task: Task) -> None:
    import cma

    def search(function: Callable[[Any], float], box: Any, start: Any) -> Any:
        scale = box[:, 1] - box[:, 0]
        options = {"bounds": [box[:, 0], box[:, 1]], "CMA_stds": scale, "verbose": -9,
                   "seed": int(task.random.integers(1, 2**31)), "tolfun": 1e-9, "tolx": 1e-9}
        if len(box) == 1:  # pycma wants two variables at least: the second has no effect
            spread = np.vstack([box, [0.0, 1.0]])
            options |= {"bounds": [spread[:, 0], spread[:, 1]], "CMA_stds": spread[:, 1] - spread[:, 0]}
            return cma.fmin(lambda v: function(v[:1]), [*start, 0.5], 0.2, options)[0][:1]
        return cma.fmin(function, start, 0.2, options)[0]

    def answer(x: Any) -> Any:
        follower = Remembered(lambda y: task.call("lower", x, y))
        return search(follower.penalised, task.box_lower, task.start("lower"))

    leader = Remembered(lambda x: task.judge(x, answer(x)))
    search(leader.penalised, task.box_upper, task.start("upper"))


def pymoo_de(task: Task) -> None:
    from pymoo.algorithms.soo.nonconvex.de import DE
    from pymoo.core.problem import ElementwiseProblem
    from pymoo.optimize import minimize

    def search(both: Callable[[Any], tuple[float, Any]], box: Any, rows: int) -> Any:
        class One(ElementwiseProblem):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__(n_var=len(box), n_obj=1, n_ieq_constr=rows, xl=box[:, 0], xu=box[:, 1])

            def _evaluate(self, v: Any, out: dict[str, Any], *_: Any, **__: Any) -> None:
                out["F"], constraints = both(v)
                if rows:
                    out["G"] = constraints

        done = minimize(One(), DE(pop_size=10 * len(box)), seed=int(task.random.integers(2**31)))
        return done.X if done.X is not None else box.mean(axis=1)

    def count(level: str) -> int:
        spec = task.inside._spec[level]
        return int(spec["inequalities"] + 2 * spec["equalities"])

    def answer(x: Any) -> Any:
        return search(lambda y: task.call("lower", x, y), task.box_lower, count("lower"))

    search(lambda x: task.judge(x, answer(x)), task.box_upper, count("upper"))


NESTED: dict[str, Callable[[Task], None]] = {
    "COBYQA over warm L-BFGS-B": cobyqa(warm_gradients),
    f"COBYQA over L-BFGS-B, {STARTS} starts": cobyqa(several_gradients),
    "SciPy DE over DE": scipy_de,
    "pycma over pycma": pycma,
    "pymoo DE over DE": pymoo_de,
}
OURS = "bilevo"
WARM = "COBYQA over warm L-BFGS-B"


@dataclass(frozen=True)
class Outcome:
    solved: bool
    evaluations: int
    seconds: float


KNOWN: dict[tuple[str, str], list[Outcome]] = {}


def nested(name: str, attempt: Callable[[Task], None], budget: int, seed: int) -> Outcome:
    task = Task(name, budget, seed)
    start = time.process_time()
    solved = False
    try:
        while True:
            attempt(task)
    except Found:
        solved = True
    except Spent:
        pass
    return Outcome(solved, task.evaluations, time.process_time() - start)


class Outside(bilevo.BilevelProblem):
    """A built-in problem evaluated through Python, as the others have it."""

    def __init__(self, name: str) -> None:
        self.inside = bilevo.problems.load(name)
        super().__init__(self.inside.bounds_upper, self.inside.bounds_lower, name=self.inside.name)
        self._spec = self.inside._spec

    def evaluate_upper(self, x: Any, y: Any, out: dict[str, Any]) -> None:
        self.inside.evaluate_upper(x, y, out)

    def evaluate_lower(self, x: Any, y: Any, out: dict[str, Any]) -> None:
        self.inside.evaluate_lower(x, y, out)


def ours(name: str, budget: int, seed: int) -> Outcome:
    problem = Outside(name)
    optima = [(best["upper"], best["lower"]) for best in problem._spec["best_known"]]
    upper, lower = tolerances(name, optima)
    settings = {"stop.target": "both", "stop.target_tolerance": upper, "stop.lower_target_tolerance": lower}
    start, evaluations, solved = time.process_time(), 0, False
    while not solved and evaluations < budget:
        left = budget - evaluations
        result = bilevo.minimize(problem, seed=seed, budget={"upper": left, "lower": left}, settings=settings)
        evaluations += result.nfev_upper + result.nfev_lower
        solved = result.status == "target"
        seed += 1000
    return Outcome(solved, evaluations, time.process_time() - start)


def outcomes(name: str, solver: str, arguments: argparse.Namespace) -> list[Outcome]:
    """Runs of one solver on one problem, done once even if two tables show them."""
    if (name, solver) in KNOWN:
        return KNOWN[name, solver]
    if arguments.only == "others" if solver == OURS else arguments.only == OURS:
        return []
    quick = solver in (OURS, WARM) or "starts" in solver
    found = []
    budget = arguments.budget if quick and name.startswith("smd") else arguments.small_budget
    for seed in range(1, (arguments.runs if quick else arguments.slow_runs) + 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if solver == OURS:
                found.append(ours(name, budget, seed))
            else:
                found.append(nested(name, NESTED[solver], budget, seed))
    done = sum(one.solved for one in found)
    print(f"{name:24}{solver:34}{done}/{len(found)}  {cell(found)}", file=sys.stderr, flush=True)
    KNOWN[name, solver] = found
    if solver != OURS:
        write_store()
    return found


def write_store() -> None:
    """Keeps what the other solvers did, one line for each run."""
    runs = [
        json.dumps({"problem": name, "solver": solver, **asdict(one)})
        for (name, solver), found in KNOWN.items()
        if solver != OURS
        for one in found
    ]
    versions = json.dumps({package: version(package) for package in PACKAGES})
    STORE.write_text(f'{{"versions": {versions}, "runs": [\n' + ",\n".join(runs) + "\n]}\n")


def read_store() -> dict[str, str]:
    """Takes over what other solvers did in an earlier call, and tells their versions; bilevo is always run anew."""
    stored = json.loads(STORE.read_text())
    for run in stored["runs"]:
        outcome = Outcome(run["solved"], run["evaluations"], run["seconds"])
        KNOWN.setdefault((run["problem"], run["solver"]), []).append(outcome)
    versions: dict[str, str] = stored["versions"]
    return versions


def cell(found: list[Outcome]) -> str:
    """Median evaluations and seconds of the solved runs, and how many those are if not all."""
    solved = [one for one in found if one.solved]
    if not found:
        return "not run"
    if not solved:
        return f"0 of {len(found)}"
    share = "" if len(solved) == len(found) else f" ({len(solved)} of {len(found)})"
    return f"{median(one.evaluations for one in solved):,.0f}, {median(one.seconds for one in solved):.2f} s{share}"


def table(problems: Iterable[str], solvers: list[str], arguments: argparse.Namespace) -> Iterator[str]:
    yield "| problem | " + " | ".join(solvers) + " |"
    yield "|---" * (len(solvers) + 1) + "|"
    for name in problems:
        cells = [cell(outcomes(name, solver, arguments)) for solver in solvers]
        yield f"| {name} | " + " | ".join(cells) + " |"


def page(arguments: argparse.Namespace, versions: dict[str, str]) -> str:
    environment = ", ".join(f"{PACKAGES[package]} {number}" for package, number in versions.items())
    lines = [
        "# Compared with other libraries",
        "",
        "Without a bilevel solver, you would nest two ordinary ones: to judge a decision of the leader, you run a complete "
        "solver for the follower. On smooth followers that is a strong competitor. This page measures how many evaluations "
        "each solver needs to reach a known optimum. It is written by "
        f"`python python/bench/neighbours.py`, last on {date.today()} with bilevo {bilevo.__version__}, {environment}.",
        "",
        "All solvers call the same Python functions, and every call counts, including those for finite differences. A solver "
        "that stops short of the optimum starts again elsewhere (`bilevo` with another seed). A run ends when F is within 1e-6 and f within 1e-4 of "
        "the known optimum (BASBLib: 1e-4 of each, relative above 1) and no constraint is violated by more than the tolerance "
        f"of F. Otherwise it ends after {arguments.budget:,} evaluations ({arguments.small_budget:,} on BASBLib, and for nested population methods). Each cell shows the median evaluations and processor "
        "seconds of the solved runs, and the number of solved runs if some were not."
        + (EARLIER if arguments.only == OURS else ""),
        "",
        "## Smooth followers",
        "",
        "COBYQA solves the leader's problem, and L-BFGS-B the follower's, started from its last answer; "
        f"{arguments.runs} runs each, 2+3 variables:",
        "",
        *table(SMOOTH, [OURS, WARM], arguments),
        "",
        "## Other followers and solvers",
        "",
        "SLSQP replaces L-BFGS-B if the follower has constraints; SciPy's differential evolution and pycma pay a penalty of "
        f"{PENALTY:,.0f} per unit of violation. `bilevo` and COBYQA have {arguments.runs} runs each; the others, which take "
        f"far longer, have {arguments.slow_runs}:",
        "",
        *table(CHOSEN, [OURS, *NESTED], arguments),
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--budget", type=int, default=100_000, help="evaluations of a run")
    parser.add_argument("--slow-runs", type=int, default=1, help="runs of nested population methods")
    parser.add_argument("--small-budget", type=int, default=20_000, help="evaluations of such a run, and on BASBLib")
    parser.add_argument("--only", choices=[OURS, "others"], help="run these, and take the others from the store")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page to write")
    arguments = parser.parse_args()
    stored = read_store() if arguments.only and STORE.exists() else {}
    text = page(arguments, stored if arguments.only == OURS else {package: version(package) for package in PACKAGES})
    if arguments.only != "others":
        arguments.out.write_text(text)
        print(text)


if __name__ == "__main__":
    main()
