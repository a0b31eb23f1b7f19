# SPDX-License-Identifier: Apache-2.0
"""The maze to train in, wired as data/world.json says: the same as the judge's.

    maze = Maze(64)                  64 copies
    observations = maze.reset(1)     [64, 15]; the seed decides where the goals are
    observations, rewards, ended = maze.step(actions)

A copy whose episode ends begins the next one in the same step.
"""

import json

import numpy as np

import simulators

STEPS = 199  # steps after which an episode ends
SHAPE = (15,)  # shape of an observation
N_ACTIONS = 4


class Maze:
    def __init__(self, copies):
        with open("data/world.json") as file:
            world = json.load(file)
        self.sensors, self.actions = np.array(world["sensors"]), np.array(world["actions"])
        self.bright = np.array(world["brightness"], "f")
        self.dark = np.array(world["darkness"], "f")
        self.mazes = simulators.make_vec("MetaMaze", copies, max_episode_steps=STEPS)

    def reset(self, seed):
        return self.observe(self.mazes.reset(seed=seed)[0])

    def observe(self, states):
        return states[:, self.sensors] * self.bright + self.dark

    def step(self, actions):
        """10 whenever the goal is reached. That moves the agent to a random cell."""
        states, rewards, terminations, truncations, _ = self.mazes.step(self.actions[actions])
        return self.observe(states), rewards, terminations | truncations
