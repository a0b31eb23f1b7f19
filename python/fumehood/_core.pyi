# SPDX-License-Identifier: Apache-2.0
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Literal, NamedTuple

from typing_extensions import Self  # noqa: UP035 (Python 3.10)

__version__: str

class Error(Exception):
    kind: str
    errno: int

class InputError(Error, ValueError): ...
class StateError(Error, RuntimeError): ...
class ClosedError(StateError): ...
class MissingError(Error, LookupError): ...
class BusyError(Error): ...
class MachineError(Error, OSError): ...  # type: ignore[misc]
class InternalError(Error): ...

class Step(NamedTuple):
    observation: str
    reward: float
    terminated: bool
    truncated: bool
    step: int
    exit_code: int | None
    outcome: str
    duration_s: float
    cpu_s: float | None
    memory_peak_bytes: int | None
    written_bytes: int | None
    open_file: str
    working_dir: str
    state: str | None
    score: dict[str, float] | None
    baseline: dict[str, float] | None
    best: dict[str, float] | None
    grade_error: str | None
    integrity: str | None
    state_error: str | None
    exit_status: str | None
    judge_salt: int
    restarted: bool
    data_seed: int
    final: bool
    validated: dict[str, float] | None
    gap: float | None

def tasks(
    *, tasks_dir: str | None = None, state_dir: str | None = None, mlgym_root: str | None = None
) -> list[dict[str, Any]]: ...
def describe(
    task: str,
    *,
    variant: str | None = None,
    tasks_dir: str | None = None,
    state_dir: str | None = None,
    mlgym_root: str | None = None,
    data_seed: int = 0,
) -> list[dict[str, Any]]: ...

class Gym:
    def __init__(
        self,
        *,
        tasks_dir: str | None = None,
        state_dir: str | None = None,
        mlgym_root: str | None = None,
        gpus: int = 0,
    ) -> None: ...
    @property
    def warning(self) -> str | None: ...
    @property
    def closed(self) -> bool: ...
    def hide(self, folder: str, /) -> None: ...
    def step_many(
        self, envs: list[Any], actions: list[str], *, timeout_s: float = 0.0
    ) -> list[Step]: ...
    def reset_many(self, envs: list[Any], seeds: list[int]) -> list[Step]: ...
    def wait(self, timeout_s: float = -1.0, /) -> list[Env]: ...
    def fileno(self) -> int: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None: ...

class Env:
    def __init__(
        self,
        gym: Gym,
        task: str,
        *,
        variant: str | None = None,
        reward: Literal["delta", "improvement", "none"] = "delta",
        max_steps: int = 0,
        binds: Sequence[tuple[str, str]] | None = None,
        python: str | None = None,
        memory: bool = False,
        memory_file: str | None = None,
        web_hosts: str | None = None,
        judge_salt: int = 0,
        max_text_bytes: int = 0,
        gpus: int = 0,
        data_seed: int = 0,
    ) -> None: ...
    @property
    def info(self) -> dict[str, Any]: ...
    @property
    def warning(self) -> str | None: ...
    @property
    def closed(self) -> bool: ...
    def reset(self, seed: int = 0) -> Step: ...
    def step(self, action: str, *, timeout_s: float = 0.0) -> Step: ...
    def validate(self) -> Step: ...
    def submit(self) -> Step: ...
    def interrupt(self) -> None: ...
    def start_reset(self, seed: int = 0) -> None: ...
    def start_step(self, action: str, *, timeout_s: float = 0.0) -> None: ...
    def start_validate(self) -> None: ...
    def start_submit(self) -> None: ...
    def end(self) -> Step: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None: ...
