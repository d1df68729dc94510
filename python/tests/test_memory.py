"""Many runs in one process do not make it grow."""

from __future__ import annotations

import gc
import itertools
from pathlib import Path
from typing import Any

import pytest
from conftest import solve_toll, toll_trips

import bilevo


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_a_thousand_runs_do_not_grow_the_process() -> None:
    calls = itertools.count()

    def fails_now_and_then(x: Any, y: Any) -> Any:
        if next(calls) % 7 == 3:
            raise ValueError("now and then")
        return toll_trips(x, y)

    def one(seed: int) -> None:
        method = ("cr-bl-cma-es", "tlea-de", "auto")[seed % 3]
        if seed % 10 == 0:
            opt = bilevo.Optimizer("smd1", method=method, seed=seed, budget=20)
            opt.ask()
            bilevo.Optimizer.from_bytes(opt.to_bytes())
        elif seed % 10 == 1:
            with pytest.warns(bilevo.BilevoWarning):
                solve_toll(f=fails_now_and_then, seed=seed, budget=20, method=method)
        else:
            solve_toll(seed=seed, budget=20, method=method, callback=lambda result: False)

    for seed in range(100):
        one(seed)
    gc.collect()
    before = resident()
    for seed in range(1000):
        one(seed)
    gc.collect()
    assert resident() - before < 4 * 2**20
