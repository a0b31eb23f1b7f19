# SPDX-License-Identifier: Apache-2.0
"""The games of MLGym's tasks, by gymnax's rules.

    game = Game("MetaMaze", 64)           64 copies
    game = open_world(64)                 those of data/world.json, behind its wiring
    observations = game.reset(1)          the seed decides what is random
    observations, rewards, ended = game.step(actions)

A copy whose episode ends begins the next one in the same step.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import simulators

# number of steps that MLGym counts
STEPS = {"Breakout": 999, "MetaMaze": 199, "MountainCarContinuous": 200}


# limits of a policy as weights: numbers of all checkpoints, and multiplications for an action
LIMITS = {
    "Breakout": (65_000, 10_000),
    "MetaMaze": (5_000, 640),
    "MountainCarContinuous": (400, 80),
}


class Game:
    """Copies of a game.

    steps: number after which an episode ends.
    limits: most_weights and most_products of policies.load().
    n_actions: an action is a whole number below it; 0: an action is a force.
    n_outputs: numbers by which a policy gives a distribution of actions. They are logits of the
    actions, or mean and logarithm of the standard deviation of the force.
    """

    def __init__(
        self, name: str, copies: int, steps: int | None = None, wiring: int | None = None
    ) -> None:
        self.steps = STEPS[name] if steps is None else steps
        self.envs = simulators.make_vec(name, copies, max_episode_steps=self.steps, wiring=wiring)
        self.limits = LIMITS[name]
        self.n_actions = getattr(self.envs.single_action_space, "n", 0)
        self.n_outputs = self.n_actions or 2
        self.shape = self.envs.single_observation_space.shape
        self.dtype = self.envs.single_observation_space.dtype

    def reset(self, seed: int) -> Any:
        return self.envs.reset(seed=seed)[0]

    def step(self, actions: Any) -> tuple[Any, Any, Any]:
        observations, rewards, terminations, truncations, _ = self.envs.step(actions)
        return observations, rewards, terminations | truncations

    def plain(self) -> Any:
        """Observations without the sensors. A policy that is judged doesn't see them."""
        return self.envs.plain()


def open_world(copies: int, folder: str | Path = ".") -> Game:
    """The game to train with, of data/world.json: the same as the judge's."""
    world = json.loads(Path(folder, "data/world.json").read_text())
    return Game(world["game"], copies, world["steps"], world["wiring"])
