# SPDX-License-Identifier: Apache-2.0
"""EnvPool: many environments, stepped at once by one thread."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import index
from typing import TYPE_CHECKING, SupportsIndex

from ._core import ClosedError, Error, InputError, Step
from .env import Env, EnvOptions, Gym, default_gym

if TYPE_CHECKING:
    from typing_extensions import Unpack


class EnvPool:
    """Environments that one thread steps at once, together or as each ends.

    Args:
        task: id of a task for all environments, or a list with one for each.
        num_envs: number of environments; with a list of tasks, its length.
        gym: what environments share; None takes `default_gym()`.
        options: as for Env.

    An environment is named by its index, 0 to num_envs - 1. `step_many` waits for all of its
    environments. `send` and `recv` don't: recv returns the environments that have ended.
    """

    def __init__(
        self,
        task: str | Sequence[str],
        num_envs: int = 1,
        *,
        gym: Gym | None = None,
        **options: "Unpack[EnvOptions]",
    ) -> None:
        if num_envs < 0:
            raise InputError(f"num_envs should be 0 or more, not {num_envs}")
        tasks = [task] * num_envs if isinstance(task, str) else list(task)
        self.gym = gym or default_gym()
        self.envs: list[Env] = []
        self._indices: dict[Env, int] = {}
        self._ended: deque[int] = deque()
        self._is_closed = False
        try:
            for i, name in enumerate(tasks):
                env = Env(name, gym=self.gym, **options)
                env.on_end = self._note
                self._indices[env] = i
                self.envs.append(env)
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self.envs)

    def _note(self, env: Env) -> None:
        self._ended.append(self._indices[env])

    def _chosen(self, ids: Iterable[int] | None) -> list[int]:
        return list(range(len(self.envs))) if ids is None else list(ids)

    def reset_many(
        self,
        seeds: SupportsIndex | Iterable[SupportsIndex] = 0,
        ids: Iterable[int] | None = None,
    ) -> list[Step]:
        """Begins a new episode in each environment of `ids` (None: all), all at once.

        seeds: a seed for each; an int s gives s, s + 1, ... Returns the first Steps, in order.
        """
        chosen = self._chosen(ids)
        if not isinstance(seeds, Iterable):
            first = index(seeds)
            seeds = range(first, first + len(chosen))
        return self.gym.reset_many([self.envs[i] for i in chosen], list(seeds))

    def step_many(
        self, actions: Sequence[str], ids: Iterable[int] | None = None, *, timeout_s: float = 0.0
    ) -> list[Step]:
        """Runs an action in each environment of `ids` (None: all). Returns the Steps, in order.

        If an action can't run, its error is raised, and none runs.
        """
        envs = [self.envs[i] for i in self._chosen(ids)]
        return self.gym.step_many(envs, _listed(actions), timeout_s=timeout_s)

    def send(
        self, actions: Sequence[str], ids: Iterable[int] | None = None, *, timeout_s: float = 0.0
    ) -> None:
        """Starts a step in each environment of `ids` (None: all), for recv().

        If an action can't run, its error is raised, and nothing is started.
        ClosedError: the pool is closed, or another thread closes it meanwhile.
        """
        pairs = list(zip(self._chosen(ids), _listed(actions), strict=True))
        for i, action in pairs:
            self.envs[i].check_step(action, timeout_s)
        self._send(
            [(i, partial(self.envs[i].start_step, a, timeout_s=timeout_s)) for i, a in pairs]
        )

    def send_resets(self, seeds: Iterable[SupportsIndex], ids: Iterable[int] | None = None) -> None:
        """Starts a reset in each environment of `ids` (None: all), for recv()."""
        pairs = zip(self._chosen(ids), seeds, strict=True)
        self._send([(i, partial(self.envs[i].start_reset, seed)) for i, seed in pairs])

    def _send(self, starts: list[tuple[int, Callable[[], None]]]) -> None:
        """Starts operations. If one fails, none is left under way."""
        sent: list[int] = []
        try:
            for i, start in starts:
                start()
                sent.append(i)
        except BaseException:
            self.drain(sent)
            raise

    def recv(self, timeout_s: float = -1.0) -> list[tuple[int, Step]]:
        """Waits until something that was sent has ended. Returns pairs (index, Step).

        The list is empty after timeout_s seconds, which a negative one never reaches. If Ctrl-C
        ends the waiting, all that was sent is interrupted, and its Steps are dropped.
        ClosedError: the pool is closed, or another thread closes it meanwhile.
        """
        ended = []
        try:
            if not self._ended and not self._is_closed:
                self.gym.dispatch(timeout_s)
            while self._ended:
                i = self._ended.popleft()
                ended.append((i, self.envs[i].end()))
        except Error:
            if not self._is_closed:
                raise
        except BaseException:
            self.drain()
            raise
        if self._is_closed:
            raise ClosedError("the pool is closed")
        return ended

    def drain(self, ids: Iterable[int] | None = None) -> None:
        """Interrupts what was sent, and drops its Steps. The next operations wait for its end."""
        for i in self._chosen(ids):
            self.envs[i].abandon()
        self._ended = deque(i for i in self._ended if self.envs[i].started)

    def close(self) -> None:
        """Ends all episodes and frees the environments. Any thread may call it."""
        self._is_closed = True
        for env in self.envs:
            env.close()

    def __enter__(self) -> "EnvPool":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _listed(actions: Sequence[str]) -> list[str]:
    if isinstance(actions, str):
        raise TypeError("expected a list with an action for each environment, not a str")
    return list(actions)
