"""What the engine costs in addition to the functions it calls, next to other libraries.

    python python/bench/overhead.py

It prints microseconds of processor time per evaluation, the least of several repetitions, so that other work on the
machine matters little. For bilevo, that is a whole run of bl-cma-es at 2+3 variables divided by its lower evaluations.
The same run is done with Python functions and with a problem file of the same formulas, which needs no Python; the
difference, less what the same calls take in a plain loop, is the cost of going through Python. bl-cma-es is used
because it does little besides sampling; the default method also spends time on its models, as `bilevo solve` shows.

The other libraries optimise one level. They ask and tell the same number of points, in as many variables as the
follower has; their figure is the time of asking and telling alone.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import bilevo

REPEATS = 15
OPTIONS: dict[str, Any] = {
    "method": "bl-cma-es",
    "seed": 1,
    "budget": 1500,
    "settings": {"stop.upper_window": 10**6},
}
BOUNDS = ([(-5, 10)] * 2, [(-5, 10)] * 3)
FILE = """
name = "overhead"
[upper]
minimize = "x[1] + y[1]"
variables = { x = { size = 2, bounds = [-5, 10] } }
[lower]
minimize = "y[1]"
variables = { y = { size = 3, bounds = [-5, 10] } }
"""


def upper(x: Any, y: Any) -> Any:
    return x[0] + y[0]


lower = lambda x, y: y[0]  # noqa: E731 (what people write)


def upper_batch(x: Any, y: Any) -> Any:
    return x[:, 0] + y[:, 0]


def lower_batch(x: Any, y: Any) -> Any:
    return y[:, 0]


def least(*actions: Callable[[], Any]) -> list[float]:
    """The least processor time of each action, taken in turns."""
    times = [float("inf")] * len(actions)
    for _ in range(REPEATS):
        for index, action in enumerate(actions):
            start = time.process_time()
            action()
            times[index] = min(times[index], time.process_time() - start)
    return times


def batches_of_run() -> dict[str, list[int]]:
    """How many points each batch of the run has, level by level."""
    sizes: dict[str, list[int]] = {"upper": [], "lower": []}

    def noted(level: str, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def call(x: Any, y: Any) -> Any:
            sizes[level].append(len(y))
            return function(x, y)

        return call

    functions = noted("upper", upper_batch), noted("lower", lower_batch)
    bilevo.minimize(*functions, *BOUNDS, vectorized=True, **OPTIONS)
    return sizes


def of_bilevo(file: Path) -> int:
    """Prints the rows of this package and returns the number of lower evaluations."""
    sizes = batches_of_run()
    problem = bilevo.problems.load(file)
    results = [
        bilevo.minimize(upper, lower, *BOUNDS, **OPTIONS),
        bilevo.minimize(upper_batch, lower_batch, *BOUNDS, vectorized=True, **OPTIONS),
        bilevo.minimize(problem, **OPTIONS),
    ]
    counts = {(result.nfev_lower, result.nfev_upper, result.fun) for result in results}
    assert len(counts) == 1, "these must be the same run"
    points = results[0].nfev_lower

    x, y = np.ones(2), np.ones(3)
    arrays = {n: (np.ones((n, 2)), np.ones((n, 3))) for n in set(sizes["lower"] + sizes["upper"])}

    def calls() -> None:
        for _ in range(results[0].nfev_upper):
            upper(x, y)
        for _ in range(points):
            lower(x, y)

    def batch_calls() -> None:
        for n in sizes["upper"]:
            upper_batch(*arrays[n])
        for n in sizes["lower"]:
            lower_batch(*arrays[n])

    times = least(
        lambda: bilevo.minimize(upper, lower, *BOUNDS, **OPTIONS),
        calls,
        lambda: bilevo.minimize(upper_batch, lower_batch, *BOUNDS, vectorized=True, **OPTIONS),
        batch_calls,
        lambda: bilevo.minimize(problem, **OPTIONS),
    )
    run, call, batch_run, batch_call, engine = (seconds / points * 1e6 for seconds in times)
    print(f"{points} lower evaluations in batches of {np.mean(sizes['lower']):.1f}; microseconds for each of them")
    print(f"{'':34}{'run':>8}{'calls':>8}{'engine':>8}{'Python':>8}")
    for name, whole, inside in (("lambda x, y: ...", run, call), ("vectorized=True", batch_run, batch_call)):
        print(f"{'bilevo, ' + name:34}{whole:8.3f}{inside:8.3f}{engine:8.3f}{whole - inside - engine:8.3f}")
    return points


#: Generations after which another optimiser starts anew, before it has converged.
GENERATIONS = 50


def asked_and_told(start: Callable[[], Callable[[], int]], points: int) -> float:
    """Microseconds for each point of optimisers whose steps return the number of points."""
    told, seconds = 0, 0.0
    while told < points:
        step = start()
        begin = time.process_time()
        told += sum(step() for _ in range(GENERATIONS))
        seconds += time.process_time() - begin
    return seconds / told * 1e6


def pycma() -> Callable[[], int]:
    import cma

    strategy = cma.CMAEvolutionStrategy(3 * [1.0], 0.3, {"verbose": -9, "tolfun": 0, "tolx": 0})

    def step() -> int:
        asked = strategy.ask()
        strategy.tell(asked, [y[0] ** 2 for y in asked])
        return len(asked)

    return step


def cyberagent() -> Callable[[], int]:
    from cmaes import CMA

    strategy = CMA(mean=np.ones(3), sigma=0.3, seed=1)

    def step() -> int:
        answers = [(y, y[0] ** 2) for y in (strategy.ask() for _ in range(strategy.population_size))]
        strategy.tell(answers)
        return len(answers)

    return step


def pymoo() -> Callable[[], int]:
    from pymoo.algorithms.soo.nonconvex.cmaes import CMAES
    from pymoo.core.problem import Problem

    algorithm = CMAES(x0=np.ones(3), sigma=0.3, tolfun=0, tolx=0)
    problem = Problem(n_var=3, n_obj=1, xl=-5.0, xu=10.0)
    algorithm.setup(problem, termination=("n_eval", 10**9), seed=1, verbose=False)

    def step() -> int:
        infills = algorithm.ask()
        infills.set("F", infills.get("X")[:, :1] ** 2)
        for individual in infills:
            individual.evaluated.update(("F",))
        algorithm.tell(infills=infills)
        return len(infills)

    return step


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "overhead.toml"
        file.write_text(FILE)
        points = of_bilevo(file)
    for name, start in (("cmaes (CyberAgent)", cyberagent), ("pycma", pycma), ("pymoo CMAES", pymoo)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                figure = min(asked_and_told(start, min(points, 10_000)) for _ in range(3))
                print(f"{name + ', ask and tell':34}{figure:8.3f}")
        except ModuleNotFoundError as error:
            print(f"{name:34}not installed ({error.name})")


if __name__ == "__main__":
    main()
