# SPDX-License-Identifier: Apache-2.0
"""The game to train with, wired as data/world.json says: the same as the judge's.

    board = Board(64)                  64 copies
    pictures = board.reset(1)          [64, 10, 10, 4]; the seed decides where the balls start
    pictures, rewards, ended = board.step(actions)

A copy whose episode ends begins the next one in the same step.
"""

import json

import numpy as np

import simulators

with open("data/world.json") as file:
    WORLD = json.load(file)
STEPS = WORLD["steps"]  # steps after which an episode ends
SHAPE = (10, 10, 4)  # shape of an observation
N_ACTIONS = 3


class Board:
    def __init__(self, copies, sticky=0):
        """sticky: the probability that a copy repeats its last action. The judge's never do."""
        self.boards = simulators.make_vec(
            "Breakout", copies, max_episode_steps=STEPS, sticky_action_prob=sticky
        )
        cells = np.arange(400).reshape(SHAPE)  # numbers of the cells in the simulator's own order
        cells = np.rot90(cells[:, ::-1] if WORLD["mirrored"] else cells, WORLD["turns"])
        self.cells = cells[..., WORLD["planes"]].ravel()
        self.bright = np.tile(np.array(WORLD["brightness"], "f"), 100)
        self.dark = np.tile(np.array(WORLD["darkness"], "f"), 100)
        self.actions = np.array(WORLD["actions"])

    def reset(self, seed):
        return self.observe(self.boards.reset(seed=seed)[0])

    def observe(self, states):
        """Wires the simulator's own pictures, [copy, row, column, plane] of bool."""
        found = states.reshape(-1, 400)[:, self.cells]
        return (found * self.bright + self.dark).reshape(-1, *SHAPE)

    def step(self, actions):
        """1 for each brick. The episode ends when the ball is lost."""
        states, rewards, terminations, truncations, _ = self.boards.step(self.actions[actions])
        return self.observe(states), rewards, terminations | truncations
