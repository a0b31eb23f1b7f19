# SPDX-License-Identifier: Apache-2.0
"""The baseline: a policy gradient. Writes policy.npz: `python3 baseline.py [SEED]`."""

import os
import sys

import numpy as np
from network import Network, look_around, softmax
from simulators.games import open_world

from simulators import policies

COPIES, UNITS, ROUNDS, STEPS = 64, 24, 50, 50
RATE, DISCOUNT = 0.01, 0.95


def play(game, network, random, observations):
    """STEPS steps of each copy. Returns the next observations, and what the training needs."""
    rows = []
    for _ in range(STEPS):
        inputs, units, outputs = network.run(observations)
        actions = policies.draw_choices(outputs, random)
        observations, rewards, ended = game.step(actions)
        rows.append((inputs, units, softmax(outputs), actions, rewards, ended))
    return observations, [np.array(column) for column in zip(*rows, strict=True)]


def advantages(rewards, ended):
    """How much better the later rewards were than those of the other copies."""
    returns, later = np.zeros_like(rewards), 0.0
    for step in reversed(range(STEPS)):
        later = returns[step] = rewards[step] + DISCOUNT * later * ~ended[step]
    better = returns - returns.mean(1, keepdims=True)
    return better / (better.std() + 1e-6)


def train(seed, rounds=ROUNDS):
    random = np.random.default_rng(seed)
    game = open_world(COPIES)
    network = Network(random, look_around(game, random), UNITS, game.n_actions)
    observations = game.reset(seed)
    for _ in range(rounds):
        observations, rows = play(game, network, random, observations)
        inputs, units, chances, actions, rewards, ended = rows
        better = advantages(rewards, ended)[..., None]
        network.improve(inputs, units, (np.eye(game.n_actions)[actions] - chances) * better, RATE)
    network.save()


if __name__ == "__main__":
    train(*map(int, sys.argv[1:] or [os.environ.get("FUMEHOOD_TRAINING_SEED", "0")]))
