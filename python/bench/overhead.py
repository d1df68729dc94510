"""What the engine costs on top of the functions it calls, beside other libraries.

    python python/bench/overhead.py

Prints microseconds per evaluation. For bilevo: a whole run of bl-cma-es at 2+3 variables divided by
its lower evaluations, less the time the same number of calls takes in a plain loop. The others are
one-level optimisers that ask and tell the same number of points in as many variables as the
follower has; their figure is the time of asking and telling alone.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import bilevo

REPEATS = 5
OPTIONS: dict[str, Any] = {
    "bounds_upper": [(-5, 10)] * 2,
    "bounds_lower": [(-5, 10)] * 3,
    "method": "bl-cma-es",
    "seed": 1,
    "budget": 1500,
    "settings": {"stop.upper_window": 10**6},
}


def upper(x: Any, y: Any) -> Any:
    return x[0] + y[0]


def lower(x: Any, y: Any) -> Any:
    return y[0]


def upper_batch(x: Any, y: Any) -> Any:
    return x[:, 0] + y[:, 0]


def lower_batch(x: Any, y: Any) -> Any:
    return y[:, 0]


def seconds(action: Callable[[], Any]) -> float:
    """The median time of an action."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def of_engine(points: int) -> float:
    """A run of the same kind without any Python in it, for each evaluation."""
    options = {key: OPTIONS[key] for key in ("method", "seed", "budget")}
    settings = {"stop.upper_window": 10**6, "stop.target": "off"}
    problem = bilevo.problems.smd(1)
    result = bilevo.minimize(problem, settings=settings, **options)
    run = seconds(lambda: bilevo.minimize(problem, settings=settings, **options))
    return run / (result.nfev_lower + result.nfev_upper) * 1e6


def of_functions() -> tuple[float, float, int]:
    """A run, a call, and the number of lower evaluations."""
    result = bilevo.minimize(upper, lower, **OPTIONS)
    run = seconds(lambda: bilevo.minimize(upper, lower, **OPTIONS))
    x, y = np.ones(2), np.ones(3)

    def calls() -> None:
        for _ in range(result.nfev_lower):
            lower(x, y)

    return run / result.nfev_lower * 1e6, seconds(calls) / result.nfev_lower * 1e6, result.nfev_lower


def of_batches() -> tuple[float, float]:
    """As for functions, with whole batches; the calls get the batches of the run."""
    shapes: list[int] = []

    def noted(x: Any, y: Any) -> Any:
        shapes.append(len(y))
        return lower_batch(x, y)

    result = bilevo.minimize(upper_batch, noted, vectorized=True, **OPTIONS)
    run = seconds(lambda: bilevo.minimize(upper_batch, lower_batch, vectorized=True, **OPTIONS))
    arrays = {n: (np.ones((n, 2)), np.ones((n, 3))) for n in set(shapes)}

    def calls() -> None:
        for n in shapes:
            lower_batch(*arrays[n])

    return run / result.nfev_lower * 1e6, seconds(calls) / result.nfev_lower * 1e6


def of_pycma(points: int) -> float:
    import cma

    strategy = cma.CMAEvolutionStrategy(3 * [1.0], 0.3, {"verbose": -9, "maxiter": 10**9, "tolfun": 0, "tolx": 0})
    told = 0
    start = time.perf_counter()
    while told < points:
        asked = strategy.ask()
        strategy.tell(asked, [y[0] for y in asked])
        told += len(asked)
    return (time.perf_counter() - start) / told * 1e6


def of_cmaes(points: int) -> float:
    from cmaes import CMA

    strategy = CMA(mean=np.ones(3), sigma=0.3, seed=1)
    told = 0
    start = time.perf_counter()
    while told < points:
        answers = [(y, y[0]) for y in (strategy.ask() for _ in range(strategy.population_size))]
        strategy.tell(answers)
        told += len(answers)
    return (time.perf_counter() - start) / told * 1e6


def of_pymoo(points: int) -> float:
    from pymoo.algorithms.soo.nonconvex.cmaes import CMAES
    from pymoo.core.problem import Problem

    problem = Problem(n_var=3, n_obj=1, xl=-5.0, xu=10.0)
    algorithm = CMAES(x0=np.ones(3), sigma=0.3, maxfevals=10**9, tolfun=0, tolx=0)
    algorithm.setup(problem, termination=("n_eval", points), seed=1, verbose=False)
    told = 0
    start = time.perf_counter()
    while told < points and algorithm.has_next():
        infills = algorithm.ask()
        infills.set("F", infills.get("X")[:, :1])
        for individual in infills:
            individual.evaluated.update(("F",))
        algorithm.tell(infills=infills)
        told += len(infills)
    return (time.perf_counter() - start) / told * 1e6


def main() -> None:
    run, call, points = of_functions()
    batch_run, batch_call = of_batches()
    engine = of_engine(points)
    print(f"{points} lower evaluations; microseconds for each of them")
    print(f"{'':34}{'run':>8}{'calls':>8}{'above':>8}")
    print(f"{'bilevo, lambda x, y: ...':34}{run:8.3f}{call:8.3f}{run - call:8.3f}")
    print(f"{'bilevo, vectorized=True':34}{batch_run:8.3f}{batch_call:8.3f}{batch_run - batch_call:8.3f}")
    print(f"{'bilevo, without Python':34}{engine:8.3f}")
    print(f"{'the way through Python, lambda':34}{'':16}{run - call - engine:8.3f}")
    print(f"{'the way through Python, vectorized':34}{'':16}{batch_run - batch_call - engine:8.3f}")
    for name, measure in (("cmaes (CyberAgent)", of_cmaes), ("pycma", of_pycma), ("pymoo CMAES", of_pymoo)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                print(f"{name + ', ask and tell':34}{measure(min(points, 20_000)):8.3f}")
        except ModuleNotFoundError as error:
            print(f"{name:34}not installed ({error.name})")


if __name__ == "__main__":
    main()
