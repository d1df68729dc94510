"""A real Dask cluster on the loopback: a scheduler and two worker processes, one of which is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import same, solve_toll, toll_trips

import bilevo

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.xdist_group("the cluster")


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        self.folder = folder
        scheduler = ("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        self.processes = [self.start(*scheduler)]
        self.workers: list[subprocess.Popen[bytes]] = []

    def start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        # The workers import the functions of this file.
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
        command = [sys.executable, "-m", module, "--scheduler-file", str(self.file), *arguments]
        log = (self.folder / "log").open("ab")
        return subprocess.Popen(command, cwd=self.folder, env=environment, stdout=log, stderr=log)

    def complete(self) -> None:
        """Two workers, also after one was killed."""
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < 2:
            worker = self.start("distributed.cli.dask_worker", "--no-nanny", "--no-dashboard", "--nthreads", "1")
            self.processes.append(worker)
            self.workers.append(worker)

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("dask"))
    yield cluster
    cluster.stop()


@pytest.fixture
def client(cluster: Cluster) -> Iterator[Any]:
    cluster.complete()
    with distributed.Client(scheduler_file=str(cluster.file), timeout=600) as client:
        client.wait_for_workers(2, timeout=600)
        yield client


def slow_trips(x: Any, y: Any) -> Any:
    time.sleep(0.0003)
    return toll_trips(x, y)


def test_a_cluster_gives_the_same_answer(client: Any) -> None:
    alone = solve_toll(budget=30)
    assert same(alone, solve_toll(budget=30, f=slow_trips, workers=client))
    assert same(alone, solve_toll(budget=30, f=slow_trips, workers=client.get_executor()))


def test_a_closed_client_is_named(cluster: Cluster) -> None:
    with distributed.Client(scheduler_file=str(cluster.file), timeout=600) as client:
        executor = client.get_executor()
    with pytest.raises(bilevo.ProblemError, match="a Dask client that is closed"):
        solve_toll(workers=client)
    with pytest.raises(bilevo.ProblemError, match="a Dask client that is closed"):
        solve_toll(workers=executor)
    with pytest.raises(bilevo.ProblemError, match="a Dask client that is closed"):
        bilevo.lab.run("bl-cma-es", "tp1", runs=1, store=cluster.file.with_name("runs.db"), workers=client)


class Killer:
    """A callback that kills a worker in the second generation."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.killed = False

    def __call__(self, result: bilevo.Result) -> None:
        if result.nit == 2 and not self.killed:
            self.cluster.workers[0].kill()
            self.cluster.workers[0].wait()
            self.killed = True


def test_a_worker_killed_in_the_middle_changes_nothing(client: Any, cluster: Cluster) -> None:
    killer = Killer(cluster)
    result = solve_toll(budget=60, f=slow_trips, workers=client, callback=killer)
    assert killer.killed and same(solve_toll(budget=60), result)
    assert len(client.scheduler_info()["workers"]) == 1


def slow_follower(x: Any) -> bilevo.Answer:
    time.sleep(0.0003)
    return bilevo.Answer(y=[8 - x[0], 6 - 0.5 * x[1]], f=float(x[0]), info={"cost": 2.5})


def income_of(x: Any, answer: bilevo.Answer) -> float:
    return float(x[0] * answer.y[0] + x[1] * answer.y[1] - answer.info["cost"])


@pytest.mark.filterwarnings("ignore::bilevo.BilevoWarning")
@pytest.mark.parametrize("method", ["auto", "bl-cma-es"])
def test_a_followers_own_solver_on_a_cluster_whose_worker_is_killed(client: Any, cluster: Cluster, method: str) -> None:
    def solve(**options: Any) -> bilevo.Result:
        return bilevo.minimize(
            income_of, follower=slow_follower, bounds_upper=[(0, 8), (0, 12)], maximize="upper",
            method=method, seed=3, budget=60, **options,
        )

    killer = Killer(cluster)
    assert same(solve(), solve(workers=client, callback=killer))
    assert killer.killed
