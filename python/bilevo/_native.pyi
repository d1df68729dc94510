"""The native part; see crates/bilevo-py."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ._answer import Packed
from ._problem import Floats, Level

VERSION: str

class Functions:
    def __new__(
        cls,
        spec: str,
        upper: dict[str, Any],
        lower: dict[str, Any],
        follower: Callable[[Any], Any] | None,
        vectorized: bool,
    ) -> Functions: ...
    def evaluate(
        self, level: Level, x: Floats, y: npt.NDArray[Any]
    ) -> tuple[Floats, npt.NDArray[Any], list[tuple[int, BaseException]]]: ...

class Source:
    def __new__(cls, name: str, dims: tuple[int, int] | None, jobs: int = 1) -> Source: ...
    def spec(self) -> str: ...
    def place(self) -> str: ...
    def hash(self) -> str: ...
    def evaluate(
        self, level: Level, x: Floats, y: Floats
    ) -> tuple[Floats, Floats, list[tuple[int, BaseException]]]: ...

def prove(
    name: str, point: tuple[list[float], list[float]] | None, claim: float, eps: float, time_limit: float
) -> tuple[str, list[str]]: ...

class Run:
    def __new__(
        cls, spec: str, source: str, hash: str, method: str, seed: int, settings: list[tuple[str, str]]
    ) -> Run: ...
    @staticmethod
    def resume(
        path: str,
        spec: str,
        source: str,
        hash: str,
        method: str,
        seed: int | None,
        settings: list[tuple[str, str]],
    ) -> Run: ...
    def table(self) -> tuple[list[str], list[str], int, int]: ...
    def recall(
        self, x: Floats, y: Floats, upper: tuple[Floats, Floats], lower: tuple[Floats, Floats], answers: npt.NDArray[np.bool_]
    ) -> None: ...
    def recall_file(self, path: str) -> None: ...
    def recalled(self) -> None: ...
    def evaluations(self) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats, npt.NDArray[np.bool_]]: ...
    def start_at(self, starts: list[tuple[list[float], list[float] | None]], nearest: bool) -> None: ...
    def ask(self) -> tuple[Level, npt.NDArray[np.uint64], Floats, Any] | None: ...
    def tell(
        self,
        ids: npt.NDArray[np.uint64],
        values: Floats,
        constraints: Floats | None,
        failures: list[tuple[int, str]],
        packed: list[Packed] | None,
    ) -> None: ...
    def go(
        self,
        evaluator: Any,
        *,
        on_generation: Any,
        checkpoint: str | None,
        time_limit: float | None,
        eval_timeout: float | None,
        on_failure: str,
        retries: int,
        audit: bool,
        audit_evals: int | None,
        audit_tolerance: float | None,
        position: str | None,
    ) -> tuple[str, list[tuple[str, int, list[float], list[float], str, BaseException | None]]]: ...
    def report(
        self,
        evaluator: Any,
        path: str,
        result: str,
        evaluations: int | None,
        units: dict[str, str],
        eval_timeout: float | None,
    ) -> None: ...
    def result(self) -> str: ...
    def history(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def max_upper_evals(self) -> int: ...
    def name(self) -> str: ...
    def names(self) -> tuple[list[str], list[str]]: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes) -> Run: ...

def method_name(name: str) -> str: ...
def method_names() -> list[tuple[str, str]]: ...
def method_settings(name: str) -> str: ...
def problem_names() -> list[str]: ...
def lab_run(
    path: str,
    methods: list[str],
    problems: list[str],
    dims: list[tuple[int, int]],
    runs: int,
    first_seed: int,
    settings: list[list[tuple[str, str]]],
    jobs: int,
    send: Any,
    progress: Any,
) -> tuple[str, str | None]: ...
def lab_task(task: str) -> str: ...
def lab_rows(path: str, traces: bool) -> tuple[str, str | None]: ...
def lab_failures(path: str) -> str: ...
