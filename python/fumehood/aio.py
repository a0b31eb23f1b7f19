# SPDX-License-Identifier: Apache-2.0
"""AsyncEnv: an environment under asyncio."""

import asyncio
from typing import Any

from ._core import Error, Step
from .env import Env, Gym


class AsyncEnv:
    """An environment whose steps are awaited.

        env = await fumehood.AsyncEnv.open("titanicSurvival:micro")
        step = await env.reset(seed=0)
        step = await env.step("ls")
        env.close()

    All environments of a gym belong to one event loop. If a step is cancelled, its command is
    interrupted; the next operation waits until it has ended.
    """

    def __init__(self, env: Env) -> None:
        self.env = env
        env.on_end = self._end
        self._result: asyncio.Future[Step] | None = None  # result of the operation under way
        self._left: asyncio.Future[None] | None = None  # done when a cancelled operation has ended

    @classmethod
    async def open(cls, task: str, *, gym: Gym | None = None, **options: Any) -> "AsyncEnv":
        """Opens an environment in a thread: see Env."""
        return cls(await asyncio.to_thread(Env, task, gym=gym, **options))

    def _end(self, env: Env) -> None:
        result = self._result
        assert result
        self._result = None
        if result.cancelled():
            assert self._left
            self._left.set_result(None)
        try:
            step = env.end()
        except Error as error:
            if not result.cancelled():
                result.set_exception(error)
        else:
            if not result.cancelled():
                result.set_result(step)

    async def _ready(self) -> None:
        """Waits until a cancelled operation has ended. Has the loop serve the gym."""
        while self._left and not self._left.done():
            await asyncio.wait([self._left])
        self.env.gym.serve(asyncio.get_running_loop())

    async def _wait(self) -> Step:
        loop = asyncio.get_running_loop()
        result = self._result = loop.create_future()
        try:
            return await result
        except asyncio.CancelledError:
            self._left = loop.create_future()
            self.env.interrupt()
            raise

    async def reset(self, seed: int = 0) -> Step:
        """Begins a new episode, and ends the last one. Returns its first Step."""
        await self._ready()
        self.env.start_reset(seed)
        return await self._wait()

    async def step(self, action: str, *, timeout_s: float = 0.0, beside_bytes: int = 0) -> Step:
        """Runs an action: see Env.step()."""
        await self._ready()
        self.env.start_step(action, timeout_s=timeout_s, beside_bytes=beside_bytes)
        return await self._wait()

    async def validate(self) -> Step:
        """Scores the submission, as the agent's `validate` does. A step."""
        await self._ready()
        self.env.start_validate()
        return await self._wait()

    async def submit(self) -> Step:
        """Scores the submission and ends the episode. A step."""
        await self._ready()
        self.env.start_submit()
        return await self._wait()

    def close(self) -> None:
        """Ends the episode and frees the environment. An operation under way fails."""
        self.env.close()

    async def __aenter__(self) -> "AsyncEnv":
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.close()
