# SPDX-License-Identifier: Apache-2.0
"""A known good answer: a table that sees the board teaches a network that sees the sensors.

Q-learning fills the table: what each action is worth for a place of the ball, its last place and a
place of the paddle. Writes policy.npz.
"""

import os
import sys

import numpy as np
from imitate import imitate
from network import softmax
from simulators.games import open_world

TABLE_ROUNDS, BOARDS, TABLE_RATE, CARELESS = 1500, 512, 0.3, 0.05
DISCOUNT, LOSS = 0.97, 5.0  # of later rewards; the cost of a lost ball
ROUNDS, UNITS, RATE = 1000, 100, 0.01
SHARPNESS, CARE = 10.0, 3.0  # actions whose worths differ by CARE or more count most


def read_boards(boards):
    """A number for ball, last place of the ball relative to it, and paddle."""
    planes = boards.reshape(-1, 100, 4)
    ball, trail = planes[..., 1].argmax(1), planes[..., 2].argmax(1)
    across, down = np.sign(ball % 10 - trail % 10), np.sign(ball // 10 - trail // 10)
    return (ball * 10 + planes[:, 90:, 0].argmax(1)) * 9 + 3 * across + down + 4


def learn_table(seed, rounds):
    """Q-learning: the worth of each action, [state, action]."""
    random = np.random.default_rng(seed)
    game = open_world(BOARDS)
    table = np.zeros((9000, game.n_actions))
    worths = table.reshape(-1)  # a view of the same numbers
    game.reset(seed)
    places = read_boards(game.plain())
    for _ in range(rounds):
        actions = table[places].argmax(1)
        tries = random.random(BOARDS) < CARELESS
        actions[tries] = random.integers(game.n_actions, size=tries.sum())
        played = places * game.n_actions + actions
        _, rewards, ended = game.step(actions)
        lost = ended & (rewards == 0)
        places = read_boards(game.plain())
        found = rewards - LOSS * lost + DISCOUNT * table[places].max(1) * ~lost
        played, which, counts = np.unique(played, return_inverse=True, return_counts=True)
        worths[played] += TABLE_RATE * (np.bincount(which, found) / counts - worths[played])
    return table


def solve(seed, table_rounds=TABLE_ROUNDS, rounds=ROUNDS):
    table = learn_table(seed, table_rounds)
    chances = softmax(SHARPNESS * table)
    counts = np.minimum(np.ptp(table, axis=1) / CARE, 1)

    def teacher(boards):
        places = read_boards(boards)
        return chances[places], counts[places]

    imitate(teacher, seed, UNITS, rounds, RATE)


if __name__ == "__main__":
    solve(*map(int, sys.argv[1:] or [os.environ.get("FUMEHOOD_TRAINING_SEED", "0")]))
