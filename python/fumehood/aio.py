# SPDX-License-Identifier: Apache-2.0
"""AsyncEnv: an environment under asyncio."""

import asyncio
from typing import TYPE_CHECKING, Any, SupportsIndex

from . import _core
from ._core import ClosedError, Error, Step
from .env import Env, EnvOptions, Gym, default_gym

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncEnv:
    """An environment whose steps are awaited.

        env = await fumehood.AsyncEnv.open("titanicSurvival:micro")
        step = await env.reset(seed=0)
        step = await env.step("ls")
        env.close()

    All environments of a gym belong to one event loop. If a step is cancelled, its command is
    interrupted; the next operation waits until it has ended. If the loop ends, another one may go
    on.
    """

    def __init__(self, env: Env) -> None:
        self.env = env
        env.on_end = self._end
        # The result of the operation under way. It is cancelled if nobody waits for it any more.
        self._result: asyncio.Future[Any] | None = None
        self._left: asyncio.Future[None] | None = None  # done when that operation has ended

    @classmethod
    async def open(
        cls, task: str, *, gym: Gym | None = None, **options: "Unpack[EnvOptions]"
    ) -> "AsyncEnv":
        """Opens an environment: see Env. If this is cancelled, the opening is left at once."""
        env = Env.__new__(Env)
        env.gym = gym or default_gym()
        self = cls(env)
        env.gym.serve(asyncio.get_running_loop())
        env.start_open(env.gym, task, **options)
        try:
            await self._wait()
        except BaseException:
            self.close()
            raise
        return self

    def _end(self, env: Env) -> None:
        try:
            self._settle(env.end())
        except Error as error:
            self._settle(error)

    def _settle(self, outcome: Step | bytes | None | Error) -> None:
        """Gives the outcome of the operation under way to the tasks that wait for it."""
        result, left = self._result, self._left
        self._result = self._left = None
        if result and _is_open(result):
            if isinstance(outcome, Error):
                result.set_exception(outcome)
            else:
                result.set_result(outcome)
        if left and _is_open(left):
            left.set_result(None)

    async def _ready(self) -> None:
        """Waits until a cancelled operation has ended. Has the loop serve the gym."""
        loop = asyncio.get_running_loop()
        self.env.gym.serve(loop)
        while self._result and (self._result.done() or self._result.get_loop() is not loop):
            if self._result.get_loop() is not loop:
                self.env.interrupt()  # the other loop has ended
            if self._left is None or self._left.get_loop() is not loop:
                self._left = loop.create_future()
            await asyncio.wait([self._left])

    async def _wait(self) -> Any:
        result = self._result = asyncio.get_running_loop().create_future()
        try:
            return await result
        except asyncio.CancelledError:
            if self._result is result:  # else it has ended meanwhile
                self.env.interrupt()
            raise

    async def _step(self) -> Step:
        step: Step = await self._wait()
        return step

    async def reset(self, seed: SupportsIndex = 0, *, judge_salt: SupportsIndex = 0) -> Step:
        """Begins a new episode, and ends the last one. Returns its first Step."""
        await self._ready()
        self.env.start_reset(seed, judge_salt=judge_salt)
        return await self._step()

    async def step(self, action: str, *, timeout_s: float = 0.0, beside_bytes: int = 0) -> Step:
        """Runs an action: see Env.step()."""
        await self._ready()
        self.env.start_step(action, timeout_s=timeout_s, beside_bytes=beside_bytes)
        return await self._step()

    async def validate(self) -> Step:
        """Scores the submission, as the agent's `validate` does. A step."""
        await self._ready()
        self.env.start_validate()
        return await self._step()

    async def submit(self) -> Step:
        """Scores the submission and ends the episode. A step."""
        await self._ready()
        self.env.start_submit()
        return await self._step()

    async def aside(self, command: str, *, timeout_s: float = 0.0) -> Step:
        """Runs a command that is not a step: see Env.aside()."""
        await self._ready()
        _core.aside(self.env, command, timeout_s, True)
        return await self._step()

    async def put_file(self, path: str, data: bytes, mode: int = 0) -> None:
        """Writes a file into the episode's sandbox: see Env.put_file()."""
        await self._ready()
        _core.put_file(self.env, path, data, mode, True)
        await self._wait()

    async def get_file(self, path: str, *, max_bytes: int = 0) -> bytes:
        """Reads a file of the episode's sandbox: see Env.get_file()."""
        await self._ready()
        _core.get_file(self.env, path, max_bytes, True)
        data: bytes = await self._wait()
        return data

    def interrupt(self) -> None:
        """Ends the running command or scoring, as Env.interrupt() does. Any thread may call it."""
        self.env.interrupt()

    def close(self) -> None:
        """Ends the episode and frees the environment. An operation under way fails."""
        self.env.close()
        self._settle(ClosedError("the environment was closed"))

    async def __aenter__(self) -> "AsyncEnv":
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.close()


def _is_open(future: asyncio.Future[Any]) -> bool:
    """Whether somebody may still wait for the future."""
    return not future.done() and not future.get_loop().is_closed()
