"""How much faster two workers are than one, with an objective of 10 ms.

    python python/bench/speed_up.py            two local processes
    python python/bench/speed_up.py --dask     two worker processes of a Dask cluster on the loopback

The objective sleeps, so that the figure depends little on how busy the processors are. The same run is
timed in one process and on two workers in turns, and the least time of each counts. `at most` is what
the batches allow: a batch of seven points takes two workers as long as one of eight.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import bilevo

COST = 0.010


BOUNDS = ([(-5, 5)] * 2, [(-5, 5)] * 3)


def leader(x: Any, y: Any) -> Any:
    return (x[0] - 1) ** 2 + (y[0] - x[0]) ** 2 + x[1] ** 2


def follower(x: Any, y: Any) -> Any:
    return (y[0] - x[0]) ** 2 + (y[1] - x[1]) ** 2 + y[2] ** 2


def upper(x: Any, y: Any) -> Any:
    time.sleep(COST)
    return leader(x, y)


def lower(x: Any, y: Any) -> Any:
    time.sleep(COST)
    return follower(x, y)


def timed(**options: Any) -> tuple[float, bilevo.Result]:
    start = time.perf_counter()
    result = bilevo.minimize(upper, lower, *BOUNDS, seed=1, **options)
    return time.perf_counter() - start, result


def at_most(workers: int, **options: Any) -> float:
    """The speed-up that the batches of the run allow."""
    optimizer = bilevo.Optimizer(bilevo.BilevelProblem(*BOUNDS), seed=1, **options)
    functions = {"upper": leader, "lower": follower}
    points = rounds = 0
    while (batch := optimizer.ask()) is not None:
        points += len(batch)
        rounds += -(-len(batch) // workers)
        optimizer.tell(batch, [functions[batch.level](point.x, point.y) for point in batch])
    return points / rounds


def measure(workers: Any, repeats: int, **options: Any) -> None:
    alone, shared = [], []
    for _ in range(repeats):
        seconds, result = timed(**options)
        alone.append(seconds)
        seconds, other = timed(**options, workers=workers)
        shared.append(seconds)
        assert (result.fun, result.nfev_lower) == (other.fun, other.nfev_lower)
    points, one, two = result.nfev_upper + result.nfev_lower, min(alone), min(shared)
    print(
        f"{result.method}, {points} evaluations: {one:.2f} s alone, {two:.2f} s on two workers: "
        f"{one / two:.2f} times (at most {at_most(2, **options):.2f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--method", default="bl-cma-es")
    parser.add_argument("--budget", type=int, default=20, help="upper evaluations")
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    options = {"method": arguments.method, "budget": arguments.budget}
    if not arguments.dask:
        measure(2, arguments.repeats, **options)
        return
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        measure(client, arguments.repeats, **options)


if __name__ == "__main__":
    main()
