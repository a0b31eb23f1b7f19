# SPDX-License-Identifier: Apache-2.0
"""Gym and Env, with the gym that a process has by default."""

import asyncio
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, SupportsIndex, TypedDict

from . import _core

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Gym(_core.Gym):
    """Shared by environments: helper processes, loaded tasks, baselines.

    Args (keywords):
        tasks_dir: folder of more tasks, looked up first.
        state_dir: folder for baselines, data and keys; by default $FUMEHOOD_STATE or the user's.
        mlgym_root: a checkout of MLGym, whose tasks come first.
        gpus: number of GPUs to lease until the gym is closed.

    Threads may play environments of their own at once. But what is started (EnvPool, AsyncEnv) is
    for a single thread. A fork opens its own gym.
    """

    _loop: asyncio.AbstractEventLoop | None = None
    _is_due = False  # the loop calls _look() soon

    def serve(self, loop: asyncio.AbstractEventLoop) -> None:
        """Has an event loop call dispatch() when what was started just now has ended."""
        if self._loop is not loop:
            if self._loop and self._loop.is_running():
                raise RuntimeError("another event loop serves this gym: open one for this loop")
            self._loop, self._is_due = loop, False
            loop.add_reader(self.fileno(), self._look)
        if not self._is_due:
            self._is_due = True
            loop.call_soon(self._look)

    def _look(self) -> None:
        """Looks until nothing more has ended: only then does the descriptor become readable."""
        self._is_due = False
        if self._loop and self.dispatch(0.0):
            self.serve(self._loop)

    def close(self) -> None:
        """Closes the gym. Close its environments first."""
        if self._loop and not self._loop.is_closed() and not self.closed:
            self._loop.remove_reader(self.fileno())
        self._loop = None
        super().close()

    def dispatch(self, timeout_s: float = -1.0) -> int:
        """Waits for started operations and calls `on_end` of each environment that ended one.

        Returns their number, 0 after timeout_s seconds. A negative timeout_s waits without limit.
        """
        ended = self.wait(timeout_s)
        for env in ended:
            assert isinstance(env, Env)
            if env.on_end:
                env.on_end(env)
        return len(ended)


class _Default:
    """The gym of this process. A fork forgets it, and the lock that a thread may have held."""

    def forget(self) -> None:
        self.gym: Gym | None = None
        self.lock = threading.Lock()


_default = _Default()
_default.forget()
os.register_at_fork(after_in_child=_default.forget)


def default_gym() -> Gym:
    """Returns the gym of this process, opened at the first call. A fork gets its own."""
    with _default.lock:
        if _default.gym is None or _default.gym.closed:
            _default.gym = Gym()
        return _default.gym


class EnvOptions(TypedDict, total=False):
    """Options of Env: docs/env.md tells of each."""

    variant: str | None
    reward: Literal["delta", "improvement", "none"]
    max_steps: SupportsIndex
    binds: Sequence[tuple[str, str]] | None
    python: str | None
    memory: bool
    memory_file: str | None
    web_hosts: str | None
    judge_salt: SupportsIndex
    max_text_bytes: SupportsIndex
    gpus: SupportsIndex
    data_seed: SupportsIndex
    output_bytes: SupportsIndex
    variables: Mapping[str, str] | None


class Env(_core.Env):
    """An agent's task as an episode of steps.

    Args:
        task: id of a task, "T" or "T:VARIANT".
        gym: what environments share; None takes `default_gym()`.
        options: variant, reward ("delta", "improvement" or "none"), max_steps, binds (pairs of
            source and target), python (folder of a Python environment), memory, memory_file,
            web_hosts, judge_salt, max_text_bytes, output_bytes (most bytes of a step's output
            that its observation shows), gpus, data_seed, variables (a dict for the episode's
            shells). docs/env.md tells of each.

    Opening blocks while the task's data is made and its baseline is scored, the first time on a
    machine. Threads may each play an environment. Any thread may call `interrupt()` and `close()`.
    Garbage collection closes an environment, too.
    """

    on_end: Callable[["Env"], None] | None = None  # called by Gym.dispatch()

    def __init__(
        self, task: str, *, gym: Gym | None = None, **options: "Unpack[EnvOptions]"
    ) -> None:
        self.gym = gym or default_gym()
        super().__init__(self.gym, task, **options)

    def aside(self, command: str, *, timeout_s: float = 0.0) -> _core.Step:
        """Runs a command in the episode's shell that is not a step: not counted or recorded.

        Needs a reset. Ctrl-C interrupts it. timeout_s: 0 is the task's short timeout.
        """
        step: _core.Step = _core.aside(self, command, timeout_s, False)
        return step

    def put_file(self, path: str, data: bytes, mode: int = 0) -> None:
        """Writes a file into the episode's sandbox.

        path: relative to the workspace, or absolute beneath /home/agent or /tmp.
        mode: permissions; 0 is 0o644.
        """
        _core.put_file(self, path, data, mode, False)

    def get_file(self, path: str, *, max_bytes: int = 0) -> bytes:
        """Reads a regular file of the episode's sandbox.

        path: as for put_file(). max_bytes: most bytes that the file may have; 0 is 1 GiB.
        MissingError: there is no such file. InputError: it is no regular file, or too large.
        """
        data: bytes = _core.get_file(self, path, max_bytes, False)
        return data
