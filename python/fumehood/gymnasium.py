# SPDX-License-Identifier: Apache-2.0
"""Fumehood's tasks as Gymnasium environments.

    import gymnasium

    env = gymnasium.make("fumehood.gymnasium:fumehood/titanicSurvival-micro")
    observation, info = env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step("ls")

Importing this module registers every task: "fumehood/T" for a task's default variant, and
"fumehood/T-VARIANT" for each other. `gymnasium.make_vec(id, num_envs=64)` steps all environments of
a vector at once.
"""

from collections.abc import Iterable, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex

import gymnasium
import numpy as np
from gymnasium.error import CustomSpaceError
from gymnasium.spaces import Text, Tuple
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import create_shared_memory
from numpy.typing import NDArray

from ._core import Step
from .env import Env, EnvOptions, Gym
from .pool import EnvPool
from .tasks import tasks

if TYPE_CHECKING:
    from typing_extensions import Unpack

ACTION_MAX = 1 << 20  # FH_ACTION_BYTES_MAX
OBSERVATION_MAX = 1 << 26
HARMLESS = ("ls", "pwd")


class Prose(Text):
    """All texts without NUL of at most max_length bytes. A sample is a harmless command."""

    def __init__(self, max_length: int, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(max_length, min_length=0, seed=seed)

    def contains(self, x: Any) -> bool:
        """Returns whether x is a str that Env.step() takes: without NUL and lone surrogates."""
        if not isinstance(x, str) or "\0" in x:
            return False
        try:
            return len(x.encode()) <= int(self.max_length)
        except UnicodeEncodeError:
            return False

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Returns a command that changes nothing, drawn at random."""
        return HARMLESS[int(self.np_random.integers(len(HARMLESS)))]

    def __repr__(self) -> str:
        return f"Prose({self.max_length})"


@create_shared_memory.register(Prose)
def _(space: Prose, *_: Any, **__: Any) -> None:
    raise CustomSpaceError(
        "texts have no shared memory: give vector_kwargs={'shared_memory': False}"
    )


INFO_FIELDS = (
    "step",
    "exit_code",
    "outcome",
    "open_file",
    "working_dir",
    "score",
    "baseline",
    "best",
    "grade_error",
    "integrity",
    "exit_status",
    "restarted",
)


def _info(step: Step) -> dict[str, Any]:
    """Returns what a step tells beside its reward, without members that are None.

    Measured times and sizes are left out, because Gymnasium wants equal infos of equal episodes:
    see FumehoodEnv.last.
    """
    values = ((name, getattr(step, name)) for name in INFO_FIELDS)
    return {name: value for name, value in values if value is not None}


class FumehoodEnv(gymnasium.Env[str, str]):
    """A task as a Gymnasium environment: actions are shell commands, observations their output.

    Args:
        task: id of a task, "T" or "T:VARIANT".
        render_mode: None, or "ansi": render() returns the last action and what it printed.
        gym: what environments share; None takes the process' default.
        options: as for fumehood.Env.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(
        self,
        task: str,
        render_mode: str | None = None,
        gym: Gym | None = None,
        **options: "Unpack[EnvOptions]",
    ) -> None:
        self.env = Env(task, gym=gym, **options)
        self.render_mode = render_mode
        self.action_space = Prose(ACTION_MAX)
        self.observation_space = Prose(OBSERVATION_MAX)
        self.last: Step | None = None
        self._action = ""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begins an episode. Without a seed, one is drawn from `np_random`."""
        super().reset(seed=seed)
        if seed is None:
            seed = int(self.np_random.integers(1 << 53))
        self._action = ""
        self.last = self.env.reset(seed)
        return self.last.observation, _info(self.last)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Runs a shell command."""
        self._action = action
        step = self.last = self.env.step(action)
        return step.observation, step.reward, step.terminated, step.truncated, _info(step)

    def render(self) -> str | None:
        """Returns the last action and its observation, if render_mode is "ansi"."""
        if self.render_mode != "ansi" or not self.last:
            return None
        return (
            f"$ {self._action}\n{self.last.observation}" if self._action else self.last.observation
        )

    def close(self) -> None:
        """Ends the episode."""
        self.env.close()


class FumehoodVectorEnv(VectorEnv):
    """A vector of environments that one thread steps at once.

    autoreset_mode: see Gymnasium. With "Disabled", reset(options={"reset_mask": mask}) resets those
    that have ended.
    """

    def __init__(
        self,
        task: str,
        num_envs: int = 1,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        gym: Gym | None = None,
        **options: "Unpack[EnvOptions]",
    ) -> None:
        super().__init__()
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": ["ansi"], "autoreset_mode": self.autoreset_mode}
        self.single_action_space = Prose(ACTION_MAX)
        self.single_observation_space = Prose(OBSERVATION_MAX)
        self.action_space = Tuple([self.single_action_space] * num_envs)
        self.observation_space = Tuple([self.single_observation_space] * num_envs)
        self.pool = EnvPool(task, num_envs, gym=gym, **options)
        self.last: list[Step | None] = [None] * num_envs
        # Each environment draws the seeds of its resets itself, as in Gymnasium's own vectors.
        self._random = [np.random.default_rng() for _ in range(num_envs)]
        self._actions = [""] * num_envs

    def _draw_seed(self, i: int) -> int:
        return int(self._random[i].integers(1 << 53))

    def _ended(self, i: int) -> bool:
        step = self.last[i]
        return step is not None and (step.terminated or step.truncated)

    def _play(self, actions: Sequence[str | None], seeds: Sequence[int | None]) -> list[int]:
        """Steps or resets the environments that have an action or a seed. Returns their indices."""
        steps = [i for i, action in enumerate(actions) if action is not None]
        resets = [i for i, seed in enumerate(seeds) if seed is not None]
        try:
            self.pool.send([actions[i] or "" for i in steps], steps)
            self.pool.send_resets([seeds[i] or 0 for i in resets], resets)
            for i in steps + resets:
                self._actions[i] = actions[i] or ""
            left = len(steps) + len(resets)
            while left:
                for i, step in self.pool.recv():
                    self.last[i] = step
                    left -= 1
        except BaseException:
            self.pool.drain()
            raise
        return sorted(steps + resets)

    def _observations(self) -> tuple[str, ...]:
        return tuple(step.observation if step else "" for step in self.last)

    def reset(
        self,
        *,
        seed: SupportsIndex | Iterable[SupportsIndex | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[tuple[str, ...], dict[str, Any]]:
        """Resets all environments, or those of options["reset_mask"]."""
        self.pool.drain()  # a second Ctrl-C may have left something
        if seed is None or not isinstance(seed, Iterable):
            super().reset(seed=seed)
            given = [None if seed is None else index(seed) + i for i in range(self.num_envs)]
        else:
            given = [None if one is None else index(one) for one in seed]
        if len(given) != self.num_envs:
            raise ValueError(f"{self.num_envs} environments, but {len(given)} seeds")
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, dtype=np.bool_))
        seeds: list[int | None] = [None] * self.num_envs
        for i in np.flatnonzero(mask).tolist():
            one = given[i]
            if one is not None:
                self._random[i] = np.random.default_rng(one)
            seeds[i] = self._draw_seed(i) if one is None else one
        infos: dict[str, Any] = {}
        for i in self._play([None] * self.num_envs, seeds):
            infos = self._add_step(infos, i)
        return self._observations(), infos

    def _add_step(self, infos: dict[str, Any], i: int) -> dict[str, Any]:
        step = self.last[i]
        assert step
        added: dict[str, Any] = self._add_info(infos, _info(step), i)
        return added

    def step(
        self, actions: Sequence[str]
    ) -> tuple[
        tuple[str, ...],
        NDArray[np.float64],
        NDArray[np.bool_],
        NDArray[np.bool_],
        dict[str, Any],
    ]:
        """Runs an action in each environment, and resets those that the autoreset mode names.

        ResetNeeded: an environment was never reset. ValueError: not an action for each.
        """
        n = self.num_envs
        if isinstance(actions, str) or len(actions) != n:
            raise ValueError(f"expected a list of {n} actions, one for each environment")
        if any(step is None for step in self.last):
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        over = [self._ended(i) for i in range(n)]
        if any(over) and self.autoreset_mode is not AutoresetMode.NEXT_STEP:
            raise gymnasium.error.ResetNeeded("episodes have ended: reset them first")
        self._play(
            [None if over[i] else actions[i] for i in range(n)],
            [self._draw_seed(i) if over[i] else None for i in range(n)],
        )
        played = [step for step in self.last if step]
        rewards = np.array([step.reward for step in played], dtype=np.float64)
        terminations = np.array([step.terminated for step in played], dtype=np.bool_)
        truncations = np.array([step.truncated for step in played], dtype=np.bool_)
        infos: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            infos = self._reset_ended(infos)
        for i in range(n):
            infos = self._add_step(infos, i)
        return self._observations(), rewards, terminations, truncations, infos

    def _reset_ended(self, infos: dict[str, Any]) -> dict[str, Any]:
        """Resets episodes that ended in this step. Their last Steps go into infos."""
        for i, step in enumerate(self.last):
            if step and self._ended(i):
                final = {"final_obs": step.observation, "final_info": _info(step)}
                infos = self._add_info(infos, final, i)
        self._play(
            [None] * self.num_envs,
            [self._draw_seed(i) if self._ended(i) else None for i in range(self.num_envs)],
        )
        return infos

    def render(self) -> tuple[str, ...] | None:
        """Returns each environment's last action and observation, if render_mode is "ansi"."""
        if self.render_mode != "ansi":
            return None
        return tuple(
            f"$ {action}\n{text}" if action else text
            for action, text in zip(self._actions, self._observations(), strict=True)
        )

    def close_extras(self, **kwargs: Any) -> None:
        """Ends all episodes."""
        self.pool.close()


def register() -> None:
    """Registers every task that is not registered yet."""
    for task in tasks():
        _register(f"fumehood/{task.id}", task.id)
        for variant, _ in task.variants:
            _register(f"fumehood/{task.id}-{variant}", f"{task.id}:{variant}")


def _register(name: str, task: str) -> None:
    if name not in gymnasium.registry:
        gymnasium.register(
            name,
            entry_point="fumehood.gymnasium:FumehoodEnv",
            vector_entry_point="fumehood.gymnasium:FumehoodVectorEnv",
            kwargs={"task": task},
        )


register()
