"""Regret after few evaluations: how good is the decision if the budget is tiny?

    pip install . scipy
    python python/bench/regret.py

For each problem, it prints the median over seeds of F(x, y*(x)) - F* after 50, 100 and 200 evaluations of both levels
together. x is the decision that the solver would return; y*(x) is the follower's true response, from its formula, and
costs nothing: a solver that was fooled by a badly solved follower is not rewarded for it. Nested SciPy is COBYQA over
warm-started L-BFGS-B, from one random start; if it ends early, it starts again.
"""

from __future__ import annotations

import argparse
import warnings
from statistics import median
from typing import Any

import numpy as np
from neighbours import Found, Outside, Remembered, Spent, Task, warm_gradients
from oracle_savings import RESPONSES

import bilevo

BUDGETS = (50, 100, 200)


def regret(number: int, x: Any) -> float:
    """How far F at the follower's true response to x is from the optimum, which is 0 on these problems."""
    smd = bilevo.problems.smd(number)
    response, first = RESPONSES[number]
    answer = np.clip([first, first, float(response(x[1]))], *np.array(smd.bounds_lower).T)
    return abs(float(smd.evaluate("upper", x, answer).value))


def bilevo_decision(name: str, budget: int, seed: int) -> Any:
    settings = {"stop.target": "off"}
    return bilevo.minimize(Outside(name), seed=seed, budget={"total": budget}, settings=settings).x


def scipy_decision(name: str, budget: int, seed: int) -> Any:
    from scipy.optimize import minimize

    task = Task(name, budget, seed)
    task.optima = []  # nothing ends a run but its budget
    seen: list[tuple[float, Any]] = [(np.inf, task.start("upper"))]
    try:
        while True:
            answer = warm_gradients(task)

            def judge(x: Any, answer: Any = answer) -> tuple[float, Any]:
                value, rows = task.judge(x, answer(x))
                seen.append((value, np.clip(x, *task.box_upper.T)))
                return value, rows

            start = task.start("upper")
            minimize(Remembered(judge).value, start, method="COBYQA", bounds=task.box_upper)
    except (Spent, Found):
        return min(seen, key=lambda end: end[0])[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=11)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    solvers = {"bilevo": bilevo_decision, "SciPy": scipy_decision}
    print("| problem | " + " | ".join(f"{solver}, {budget}" for budget in BUDGETS for solver in solvers) + " |")
    print("|---" * (len(BUDGETS) * len(solvers) + 1) + "|", flush=True)
    for number in RESPONSES:
        cells = []
        for budget in BUDGETS:
            for decide in solvers.values():
                runs = [regret(number, decide(f"smd{number}", budget, seed)) for seed in range(1, arguments.runs + 1)]
                cells.append(f"{median(runs):.2g}")
        print(f"| SMD{number} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
