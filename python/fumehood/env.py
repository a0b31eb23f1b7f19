# SPDX-License-Identifier: Apache-2.0
"""Gym and Env, with the gym that a process has by default."""

import asyncio
import os
import threading
from collections.abc import Callable
from typing import Any

from . import _core

_default = threading.local()  # the default gym of a thread, and the process that opened it


class Gym(_core.Gym):
    """Shared by environments: helper processes, loaded tasks, baselines.

    Args (keywords):
        tasks_dir: folder of more tasks, looked up first.
        state_dir: folder for baselines, data and keys; by default $FUMEHOOD_STATE or the user's.
        mlgym_root: a checkout of MLGym, whose tasks come first.
        gpus: number of GPUs to lease until the gym is closed.

    Only a single thread at a time may play its environments. So threads that step at once have a
    gym each. A fork may open its own.
    """

    _loop: asyncio.AbstractEventLoop | None = None

    def serve(self, loop: asyncio.AbstractEventLoop) -> None:
        """Has an event loop call dispatch() whenever started operations may have ended."""
        if self._loop is not loop:
            self._loop = loop
            loop.add_reader(self.fileno(), self.dispatch, 0.0)

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


def default_gym() -> Gym:
    """Returns the gym of this thread, opened at the first call. A fork gets its own."""
    gym: Gym | None = getattr(_default, "gym", None)
    if gym is None or gym.closed or _default.pid != os.getpid():
        gym = _default.gym = Gym()
        _default.pid = os.getpid()
    return gym


class Env(_core.Env):
    """An agent's task as an episode of steps.

    Args:
        task: id of a task, "T" or "T:VARIANT".
        gym: what environments share; None takes `default_gym()`.
        options: variant, reward ("delta", "improvement" or "none"), max_steps, binds (pairs of
            source and target), python (folder of a Python environment), memory, memory_file,
            web_hosts, judge_salt, max_text_bytes, gpus, data_seed. docs/env.md tells of each.

    Opening blocks while the task's data is made and its baseline is scored, the first time on a
    machine. Only a single thread at a time may play the environments of a gym, at once by EnvPool.
    Any thread may call `interrupt()`.
    Garbage collection closes an environment, too.
    """

    on_end: Callable[["Env"], None] | None = None  # called by Gym.dispatch()

    def __init__(self, task: str, *, gym: Gym | None = None, **options: Any) -> None:
        self.gym = gym or default_gym()
        super().__init__(self.gym, task, **options)

    def aside(self, command: str, *, timeout_s: float = 0.0) -> _core.Step:
        """Runs a command in the episode's shell that is no step: not counted, recorded or scored.

        Needs a reset. Ctrl-C waits for it. timeout_s: 0 is the task's short timeout.
        """
        return _core.aside(self, command, timeout_s)

    def put_file(self, path: str, data: bytes, mode: int = 0) -> None:
        """Writes a file into the episode's sandbox.

        path: relative to the workspace, or absolute beneath /home/agent or /tmp.
        mode: permissions; 0 is 0o644.
        """
        _core.put_file(self, path, data, mode)
