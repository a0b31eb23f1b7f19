# SPDX-License-Identifier: Apache-2.0
"""The games of MLGym's tasks, by gymnax's rules and with the steps that MLGym counts.

    game = Game("MetaMaze", 64)           64 copies
    observations = game.reset(1)          the seed decides what is random
    observations, rewards, ended = game.step(actions)

A copy whose episode ends begins the next one in the same step.
"""

from __future__ import annotations

from typing import Any

import simulators

STEPS = {"Breakout": 999, "MetaMaze": 199, "MountainCarContinuous": 200}


class Game:
    """Copies of a game.

    n_actions: an action is a whole number below it; 0: an action is a force.
    n_outputs: numbers by which a policy gives a distribution of actions. They are logits of the
    actions, or mean and logarithm of the standard deviation of the force.
    """

    def __init__(self, name: str, copies: int) -> None:
        self.steps = STEPS[name]  # after which an episode ends
        self.envs = simulators.make_vec(name, copies, max_episode_steps=self.steps)
        self.n_actions = getattr(self.envs.single_action_space, "n", 0)
        self.n_outputs = self.n_actions or 2
        self.shape = self.envs.single_observation_space.shape
        self.dtype = self.envs.single_observation_space.dtype

    def reset(self, seed: int) -> Any:
        return self.envs.reset(seed=seed)[0]

    def step(self, actions: Any) -> tuple[Any, Any, Any]:
        observations, rewards, terminations, truncations, _ = self.envs.step(actions)
        return observations, rewards, terminations | truncations
