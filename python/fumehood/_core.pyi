# SPDX-License-Identifier: Apache-2.0
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, NamedTuple, SupportsIndex

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
    grading_s: float
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

def aside(env: Env, command: str, timeout_s: float, /) -> Step: ...
def put_file(env: Env, path: str, data: bytes, mode: int, /) -> None: ...
def get_file(env: Env, path: str, max_bytes: int, /) -> bytes: ...
def start_aside(env: Env, command: str, timeout_s: float, /) -> None: ...
def start_put_file(env: Env, path: str, data: bytes, mode: int, /) -> None: ...
def start_get_file(env: Env, path: str, max_bytes: int, /) -> None: ...
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
    data_seed: SupportsIndex = 0,
) -> list[dict[str, Any]]: ...
def parse_reply(parser: str, text: str, /) -> tuple[str, str]: ...
def read_record(path: str, /) -> tuple[str, str, str | None]: ...

class Gym:
    def __init__(
        self,
        *,
        tasks_dir: str | None = None,
        state_dir: str | None = None,
        mlgym_root: str | None = None,
        gpus: SupportsIndex = 0,
    ) -> None: ...
    @property
    def warning(self) -> str | None: ...
    @property
    def closed(self) -> bool: ...
    def hide(self, folder: str, /) -> None: ...
    def step_many(
        self, envs: list[Any], actions: list[str], *, timeout_s: float = 0.0
    ) -> list[Step]: ...
    def reset_many(self, envs: list[Any], seeds: list[SupportsIndex]) -> list[Step]: ...
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
        max_steps: SupportsIndex = 0,
        binds: Sequence[tuple[str, str]] | None = None,
        python: str | None = None,
        memory: bool = False,
        memory_file: str | None = None,
        web_hosts: str | None = None,
        judge_salt: SupportsIndex = 0,
        max_text_bytes: SupportsIndex = 0,
        gpus: SupportsIndex = 0,
        data_seed: SupportsIndex = 0,
        output_bytes: SupportsIndex = 0,
        variables: Mapping[str, str] | None = None,
    ) -> None: ...
    @property
    def info(self) -> dict[str, Any]: ...
    @property
    def warning(self) -> str | None: ...
    @property
    def closed(self) -> bool: ...
    @property
    def started(self) -> bool: ...
    def reset(self, seed: SupportsIndex = 0, *, judge_salt: SupportsIndex = 0) -> Step: ...
    def step(self, action: str, *, timeout_s: float = 0.0, beside_bytes: int = 0) -> Step: ...
    def validate(self) -> Step: ...
    def submit(self) -> Step: ...
    def interrupt(self) -> None: ...
    def start_open(
        self,
        gym: Gym,
        task: str,
        *,
        variant: str | None = None,
        reward: Literal["delta", "improvement", "none"] = "delta",
        max_steps: SupportsIndex = 0,
        binds: Sequence[tuple[str, str]] | None = None,
        python: str | None = None,
        memory: bool = False,
        memory_file: str | None = None,
        web_hosts: str | None = None,
        judge_salt: SupportsIndex = 0,
        max_text_bytes: SupportsIndex = 0,
        gpus: SupportsIndex = 0,
        data_seed: SupportsIndex = 0,
        output_bytes: SupportsIndex = 0,
        variables: Mapping[str, str] | None = None,
    ) -> None: ...
    def start_reset(self, seed: SupportsIndex = 0, *, judge_salt: SupportsIndex = 0) -> None: ...
    def start_step(self, action: str, *, timeout_s: float = 0.0, beside_bytes: int = 0) -> None: ...
    def check_step(self, action: str, timeout_s: float, /) -> None: ...
    def start_validate(self) -> None: ...
    def start_submit(self) -> None: ...
    def end(self) -> Any: ...  # Step, bytes or None
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None: ...

class Agent:
    def __init__(
        self,
        config: str | None = None,
        *,
        mlgym_root: str | None = None,
        aliases: str | None = None,
        original_tools: bool = False,
    ) -> None: ...
    @property
    def info(self) -> dict[str, Any]: ...
    def set_up(self, env: Env, /) -> None: ...

class Chat:
    def __init__(self, agent: Agent, env: Env, recorder: Recorder | None = None) -> None: ...
    def observe(self, step: Step, /) -> None: ...
    def json(self) -> str: ...
    def history_json(self) -> str: ...
    def reply_text(self, text: bytes, /) -> tuple[Any, ...]: ...
    def reply_json(self, json: str, /) -> tuple[Any, ...]: ...
    def act(self, action: str, text: str | None = None, /) -> tuple[Any, ...]: ...
    def close(self) -> None: ...

class Recorder:
    def __init__(
        self,
        env: Env,
        seed: SupportsIndex = 0,
        *,
        out: str | None = None,
        model: str | None = None,
        agent: Agent | None = None,
        temperature: float = 0.0,
        top_p: float = 0.0,
        suffix: str | None = None,
        policy_step: SupportsIndex | None = None,
    ) -> None: ...
    @property
    def folder(self) -> str: ...
    @property
    def traj(self) -> str: ...
    def reset(self, step: Step, /) -> None: ...
    def step(
        self,
        action: str,
        step: Step,
        response: str | None,
        thought: str | None,
        numbers: str | None,
        /,
    ) -> None: ...
    def end(
        self,
        exit_status: str | None,
        error: str | None,
        numbers: str | None,
        calls: int,
        tokens_sent: int,
        tokens_received: int,
        cost: float,
        /,
    ) -> None: ...
    def close(self) -> None: ...
