"""Run by test_mpi.py: mpiexec -n 3 python -m mpi4py.futures mpi_script.py OUT"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from mpi4py.futures import MPIPoolExecutor

import bilevo

OUT = Path(sys.argv[1])


def trips(x: Any, y: Any) -> Any:
    (OUT / f"process-{os.getpid()}").touch()
    while len(list(OUT.glob("process-*"))) < 2:
        time.sleep(0.001)  # until the other one has its share too
    return (y[0] - 8 + x[0]) ** 2 + 0.1 * y[0]


def income(x: Any, y: Any) -> Any:
    return x[0] * y[0]


if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        result = bilevo.minimize(
            income, trips, [(0, 10)], [(0, 10)], maximize="upper", method="bl-cma-es", seed=1, budget=30, workers=executor
        )
    (OUT / "result.json").write_text(json.dumps(result.to_dict()))
