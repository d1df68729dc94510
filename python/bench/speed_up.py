"""How much faster two workers are than one, with an objective of 10 ms.

    python python/bench/speed_up.py            two local processes
    python python/bench/speed_up.py --dask     two worker processes of a Dask cluster on the loopback

The objective sleeps, so that the figure does not depend on how busy the processors are. Time of one
worker: the evaluations of the run, one after the other.
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


def measure(workers: Any, method: str) -> None:
    options: dict[str, Any] = {
        "bounds_upper": [(-5, 5)] * 2, "bounds_lower": [(-5, 5)] * 3, "method": method, "seed": 1, "budget": 40,
    }
    start = time.perf_counter()
    result = bilevo.minimize(upper, lower, workers=workers, **options)
    two = time.perf_counter() - start
    one = (result.nfev_upper + result.nfev_lower) * COST
    print(f"{method:16} {result.nfev_upper + result.nfev_lower} evaluations: {one:.1f} s one after the other, {two:.1f} s on two workers: {one / two:.2f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--method", default="auto")
    arguments = parser.parse_args()
    if not arguments.dask:
        measure(2, arguments.method)
        return
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        measure(client, arguments.method)


if __name__ == "__main__":
    main()
