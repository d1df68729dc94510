"""Real MPI: one process that runs the engine, two that evaluate."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import solve_toll

pytest.importorskip("mpi4py")


@pytest.mark.skipif(shutil.which("mpiexec") is None, reason="no mpiexec here")
def test_processes_of_mpi_give_the_same_answer(tmp_path: Path) -> None:
    script = Path(__file__).with_name("mpi_script.py")
    # The options let the test run as root and with more processes than processors.
    command = ["mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", "3"]
    command += [sys.executable, "-m", "mpi4py.futures", str(script), str(tmp_path)]
    subprocess.run(command, check=True, timeout=120)
    result = json.loads((tmp_path / "result.json").read_text())
    expected = solve_toll(budget=30).to_dict()
    assert {k: v for k, v in result.items() if "seconds" not in k} == {
        k: v for k, v in expected.items() if "seconds" not in k
    }
    assert len(list(tmp_path.glob("process-*"))) == 2, "the work was shared"
