"""Real MPI: one process that runs the engine, two that evaluate."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import solve_toll

pytest.importorskip("mpi4py")


def mpiexec() -> list[str]:
    """The command that starts processes of MPI: the system's, or one that pip installed here."""
    here = Path(sys.executable).parent
    found = shutil.which("mpiexec") or shutil.which("mpiexec", path=str(here))
    if found is None:
        pytest.skip("no mpiexec here")
    about = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    # Open MPI runs neither as root nor with more processes than processors unless it is told to.
    return [found, *(["--allow-run-as-root", "--oversubscribe"] if re.search("Open ?(MPI|RTE)", about) else [])]


def test_processes_of_mpi_give_the_same_answer(tmp_path: Path) -> None:
    script = Path(__file__).with_name("mpi_script.py")
    command = [*mpiexec(), "-n", "3", sys.executable, "-m", "mpi4py.futures", str(script), str(tmp_path)]
    subprocess.run(command, check=True, timeout=600)
    result = json.loads((tmp_path / "result.json").read_text())
    expected = solve_toll(budget=30).to_dict()
    assert {k: v for k, v in result.items() if "seconds" not in k} == {
        k: v for k, v in expected.items() if "seconds" not in k
    }
    assert len(list(tmp_path.glob("process-*"))) == 2, "the work was shared"
