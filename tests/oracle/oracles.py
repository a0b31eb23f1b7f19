# SPDX-License-Identifier: Apache-2.0
"""The environments that our simulators have to equal, each behind the same few methods.

lockstep() plays an oracle and our simulator side by side. The simulator is fed the random numbers
that the oracle drew. tests/python/test_simulators_oracles.py does that where the packages are
installed. tests/oracle/record writes the steps down for tests/unit/test_simulators_oracles.c.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

import simulators

CELLS = 65  # free cells of the maze


class Step(NamedTuple):
    """A step of both sides, or the first observation of a simulation (action None)."""

    action: Any
    draws: list[float]
    reward: float
    terminated: bool
    observation: Any  # observation after the step; the episode's last if it ended
    first: Any = None  # first observation of the next episode, if one ended


class Ours:
    """Our simulator, one copy without a limit of steps."""

    def __init__(self, name: str, rules: str, sticky: float) -> None:
        self.envs = simulators.make_vec(
            name, 1, rules, max_episode_steps=0, sticky_action_prob=sticky
        )
        self.envs.reset(seed=0)
        self.feed_function = simulators._library.fh_sim_feed
        self.feed_function.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)

    def feed(self, draws: list[float]) -> None:
        self.fed = np.array(draws, float)
        self.feed_function(self.envs._sim, self.fed.ctypes.data, len(draws))

    def begin(self, draws: list[float]) -> Any:
        self.feed(draws)
        return self.envs.reset()[0][0]

    def step(self, action: Any, draws: list[float]) -> Step:
        self.feed(draws)
        first, rewards, terminated, _, infos = self.envs.step(np.array([action]))
        ended = bool(terminated[0])
        last = infos["final_obs"][0] if ended else first[0]
        return Step(action, draws, rewards[0], ended, last, first[0] if ended else None)


class RecordingRandom:
    """Random numbers for an oracle, which are remembered as numbers in [0, 1)."""

    def __init__(self, seed: int) -> None:
        self.source = np.random.RandomState(seed)
        self.drawn: list[float] = []

    def rand(self) -> float:
        self.drawn.append(self.source.rand())
        return self.drawn[-1]

    def randint(self, limit: int) -> int:
        number = int(self.source.randint(limit))
        self.drawn.append((number + 0.5) / limit)
        return number

    def uniform(self, low: float, high: float) -> float:
        return low + (high - low) * self.rand()

    def take(self) -> list[float]:
        drawn, self.drawn = self.drawn, []
        return drawn


def choose_force(rng: np.random.Generator, observation: Any, count: int) -> np.float32:
    """Reaches the goal, the left wall and forces that are clipped, in stretches of 50 steps."""
    direction = np.sign(observation[1])
    mode = (count // 50) % 4
    if mode == 0:
        return np.float32(rng.normal() * 1.5)
    if mode == 3:
        return np.float32(-1.7 if observation[0] > -0.5 else rng.uniform(-1, 1))
    return np.float32(direction * (1.3 if mode == 1 else 0.9))


def choose_paddle(
    rng: np.random.Generator, observation: Any, n_actions: int, left: int, right: int
) -> int:
    """Follows the ball, so that all bricks are broken sometimes."""
    ball, paddle = (int(observation[:, :, plane].max(0).argmax()) for plane in (1, 0))
    if rng.random() < 0.02:
        return int(rng.integers(n_actions))
    return left if ball < paddle else right if ball > paddle else 0


class GymnasiumCar:
    """gymnasium's MountainCarContinuous-v0."""

    name, rules, sticky, tolerance = "MountainCarContinuous", "gymnasium", 0.0, 0.0
    packages = ("gymnasium", "numpy")

    def __init__(self) -> None:
        from gymnasium.envs.classic_control import continuous_mountain_car as module

        self.env = module.Continuous_MountainCarEnv()
        self.random = self.env.np_random = RecordingRandom(1)

    def begin(self) -> tuple[list[float], Any]:
        observation, _ = self.env.reset()
        return self.random.take(), observation

    def step(self, action: Any, _: Any) -> Step:
        observation, reward, ended, _, _ = self.env.step(np.array([action], np.float32))
        draws, first = self.begin() if ended else ([], None)
        return Step(action, draws, float(reward), bool(ended), observation, first)

    def choose(self, rng: np.random.Generator, observation: Any, count: int) -> Any:
        return choose_force(rng, observation, count)


class MinatarBreakout:
    """MinAtar's breakout."""

    name, rules, tolerance = "Breakout", "minatar", 0.0
    packages = ("MinAtar", "numpy")

    def __init__(self, sticky: float) -> None:
        from minatar import Environment

        self.sticky = sticky
        self.game = Environment("breakout", sticky_action_prob=sticky)
        self.random = self.game.random = self.game.env.random = RecordingRandom(3)

    def begin(self) -> tuple[list[float], Any]:
        self.game.reset()
        return self.random.take(), self.game.state()

    def step(self, action: Any, _: Any) -> Step:
        reward, ended = self.game.act(action)
        observation = self.game.state()
        # Without sticky actions our simulator draws no random numbers.
        draws = self.random.take() if self.sticky else []
        self.random.take()
        more, first = self.begin() if ended else ([], None)
        return Step(action, draws + more, float(reward), bool(ended), observation, first)

    def choose(self, rng: np.random.Generator, observation: Any, _: int) -> Any:
        return choose_paddle(rng, observation, 6, left=1, right=3)


class Gymnax:
    """An environment of gymnax without a limit of steps."""

    sticky, tolerance = 0.0, 0.0
    packages = ("gymnax", "jax", "numpy")

    def __init__(self, env: Any) -> None:
        import jax

        self.jax = jax
        self.env = env
        self.params = env.default_params.replace(max_steps_in_episode=10**9)
        self.key = jax.random.PRNGKey(1)
        self.step_env = jax.jit(self.compute_step)
        self.reset_env = jax.jit(self.compute_reset)

    def compute_step(self, key: Any, state: Any, action: Any) -> Any:
        rest, key = self.jax.random.split(key)
        return rest, self.env.step_env(key, state, action, self.params)

    def compute_reset(self, key: Any) -> Any:
        rest, key = self.jax.random.split(key)
        return rest, self.env.reset_env(key, self.params)

    def begin(self) -> tuple[list[float], Any]:
        self.key, out = self.reset_env(self.key)
        observation, self.state = self.jax.device_get(out)
        return [self.start_draw()], observation

    def step(self, action: Any, ours: Any) -> Step:
        self.follow(ours)
        self.key, out = self.step_env(self.key, self.state, action)
        observation, self.state, reward, ended, _ = self.jax.device_get(out)
        draws = self.step_draws(float(reward))
        more, first = self.begin() if ended else ([], None)
        return Step(action, draws + more, float(reward), bool(ended), observation, first)

    def follow(self, ours: Any) -> None:
        """Takes the state of our simulator, where the two may differ."""

    def start_draw(self) -> float:
        """The random number of the state's reset."""
        raise NotImplementedError

    def step_draws(self, reward: float) -> list[float]:
        """The random numbers of the last step."""
        return []


class GymnaxCar(Gymnax):
    """gymnax's MountainCarContinuous-v0, where each step begins in the state of our simulator."""

    name, rules, tolerance = "MountainCarContinuous", "gymnax", 1e-5

    def __init__(self) -> None:
        from gymnax.environments.classic_control import continuous_mountain_car as module

        super().__init__(module.ContinuousMountainCar())

    def follow(self, ours: Any) -> None:
        self.state = self.state.replace(position=ours[0], velocity=ours[1])

    def start_draw(self) -> float:
        return min(max((float(self.state.position) + 0.6) / 0.2, 0), 1 - 2**-53)

    def choose(self, rng: np.random.Generator, observation: Any, count: int) -> Any:
        return choose_force(rng, observation, count)


class GymnaxBreakout(Gymnax):
    """gymnax's Breakout-MinAtar."""

    name, rules = "Breakout", "gymnax"

    def __init__(self) -> None:
        from gymnax.environments.minatar import breakout as module

        super().__init__(module.MinBreakout())

    def start_draw(self) -> float:
        return 0.25 if int(self.state.ball_x) == 0 else 0.75

    def choose(self, rng: np.random.Generator, observation: Any, _: int) -> Any:
        return choose_paddle(rng, observation, 3, left=1, right=2)


class GymnaxMaze(Gymnax):
    """gymnax's MetaMaze-misc."""

    name, rules = "MetaMaze", "gymnax"

    def __init__(self) -> None:
        from gymnax.environments.misc import meta_maze as module

        super().__init__(module.MetaMaze())
        self.cells = [tuple(cell) for cell in np.array(self.env.coords).tolist()]
        assert len(self.cells) == CELLS

    def draw_of(self, cell: Any) -> float:
        return (self.cells.index(tuple(cell.tolist())) + 0.5) / CELLS

    def start_draw(self) -> float:
        return self.draw_of(self.state.goal)

    def step_draws(self, reward: float) -> list[float]:
        return [self.draw_of(self.state.pos)] if reward > 0 else []

    def choose(self, rng: np.random.Generator, observation: Any, _: int) -> Any:
        """Walks to the goal, which an agent could not see, and into walls sometimes."""
        away = self.state.goal - self.state.pos
        walls = observation[[1, 5, 7, 3]]  # up, right, down, left
        nearer = np.array([away[0] < 0, away[1] > 0, away[0] > 0, away[1] < 0])
        good = np.flatnonzero(nearer & (walls == 0))
        return int(rng.choice(good) if len(good) and rng.random() < 0.8 else rng.integers(4))


ORACLES = {
    "car-gymnasium": GymnasiumCar,
    "car-gymnax": GymnaxCar,
    "breakout-minatar": lambda: MinatarBreakout(0.0),
    "breakout-minatar-sticky": lambda: MinatarBreakout(0.1),
    "breakout-gymnax": GymnaxBreakout,
    "maze-gymnax": GymnaxMaze,
}


def versions(oracle: Any) -> str:
    return ", ".join(f"{package} {version(package)}" for package in oracle.packages)


def differ(a: Any, b: Any, tolerance: float) -> bool:
    if a is None or b is None:
        return a is not b
    return bool(np.abs(np.asarray(a, float) - np.asarray(b, float)).max() > tolerance)


def lockstep(oracle: Any, n: int) -> Iterator[Step]:
    """The oracle's steps. AssertionError: our simulator did something else."""
    rng = np.random.default_rng(2)
    ours = Ours(oracle.name, oracle.rules, oracle.sticky)
    draws, observation = oracle.begin()
    mine = ours.begin(draws)
    assert not differ(mine, observation, oracle.tolerance)
    yield Step(None, draws, 0, False, observation)
    for count in range(n):
        action = oracle.choose(rng, mine, count)
        theirs = oracle.step(action, mine)
        step = ours.step(action, theirs.draws)
        assert step.terminated == theirs.terminated, (count, step, theirs)
        for a, b in (
            (step.reward, theirs.reward),
            (step.observation, theirs.observation),
            (step.first, theirs.first),
        ):
            assert not differ(a, b, oracle.tolerance), (count, step, theirs)
        mine = step.observation if step.first is None else step.first
        yield theirs
