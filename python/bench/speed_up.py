"""How much faster two workers are than one, with an objective of 10 ms.

    python python/bench/speed_up.py            two local processes
    python python/bench/speed_up.py --dask     two worker processes of a Dask cluster on the loopback

The objective sleeps, so that the figure depends little on how busy the processors are. The same run is
timed in one process and on two workers.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import bilevo

COST = 0.010


def upper(x: Any, y: Any) -> Any:
    time.sleep(COST)
    return (x[0] - 1) ** 2 + (y[0] - x[0]) ** 2 + x[1] ** 2


def lower(x: Any, y: Any) -> Any:
    time.sleep(COST)
    return (y[0] - x[0]) ** 2 + (y[1] - x[1]) ** 2 + y[2] ** 2


def timed(**options: Any) -> tuple[float, bilevo.Result]:
    start = time.perf_counter()
    result = bilevo.minimize(upper, lower, [(-5, 5)] * 2, [(-5, 5)] * 3, seed=1, **options)
    return time.perf_counter() - start, result


def measure(workers: Any, method: str, budget: int) -> None:
    one, result = timed(method=method, budget=budget)
    two, other = timed(method=method, budget=budget, workers=workers)
    assert (result.fun, result.nfev_lower) == (other.fun, other.nfev_lower)
    points = result.nfev_upper + result.nfev_lower
    print(f"{result.method}, {points} evaluations: {one:.1f} s alone, {two:.1f} s on two workers: {one / two:.2f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--method", default="bl-cma-es")
    parser.add_argument("--budget", type=int, default=20, help="upper evaluations")
    arguments = parser.parse_args()
    if not arguments.dask:
        measure(2, arguments.method, arguments.budget)
        return
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        measure(client, arguments.method, arguments.budget)


if __name__ == "__main__":
    main()
