# SPDX-License-Identifier: Apache-2.0
"""A known good answer: a policy that sees the maze teaches one that sees the sensors.

The teacher learns by a policy gradient with a critic, in short pieces. The critic predicts the
rewards to come, so that an action counts for what it adds. At first various actions are worth more
than good ones. Otherwise some teachers would soon walk in small circles. Writes policy.npz.
"""

import os
import sys

import numpy as np
from imitate import imitate
from network import Network, softmax
from simulators.games import open_world

from simulators import policies

MAZES, PIECE, TEACHER_UNITS, TEACHER_ROUNDS, TEACHER_RATE = 128, 25, 24, 700, 0.02
DISCOUNT, TRUST, VARIETY = 0.97, 0.95, 0.05
UNITS, ROUNDS, RATE = 30, 1500, 0.02


def advantages(rewards, ended, critic):
    """How much more came than the critic predicted (generalized advantage estimation)."""
    better, later = np.zeros_like(critic[:-1]), 0.0
    for step in reversed(range(PIECE)):
        going = ~ended[step]
        surprise = rewards[step] + DISCOUNT * critic[step + 1] * going - critic[step]
        later = better[step] = surprise + DISCOUNT * TRUST * going * later
    return better


def direction(chances, actions, better, variety):
    """The direction for the outputs: better actions, various ones, and a critic that is right."""
    scaled = (better - better.mean()) / (better.std() + 1e-6)
    towards = (np.eye(chances.shape[-1])[actions] - chances) * scaled[..., None]
    logs = np.log(chances + 1e-9)
    towards -= variety * chances * (logs - (chances * logs).sum(-1, keepdims=True))
    return np.concatenate([towards, 0.5 * better[..., None]], -1)


def train_teacher(seed, rounds):
    random = np.random.default_rng(seed)
    game = open_world(MAZES)
    n = game.n_actions
    seen = []
    game.reset(seed)
    for _ in range(game.steps):
        game.step(random.integers(n, size=MAZES))
        seen.append(game.plain())
    network = Network(random, np.concatenate(seen), TEACHER_UNITS, n + 1)  # the last: the critic
    for number in range(rounds):
        rows = []
        for _ in range(PIECE):
            inputs, units, outputs = network.run(game.plain())
            actions = policies.draw_choices(outputs[:, :n], random)
            _, rewards, ended = game.step(actions)
            rows.append((inputs, units, outputs, actions, rewards / 10, ended))
        inputs, units, outputs, actions, rewards, ended = map(np.array, zip(*rows, strict=True))
        critic = np.concatenate([outputs[..., -1], network.run(game.plain())[2][None, :, -1]])
        better = advantages(rewards, ended, critic)
        left = 1 - number / rounds
        up = direction(softmax(outputs[..., :n]), actions, better, VARIETY * left)
        network.improve(inputs, units, up, TEACHER_RATE * (0.1 + 0.9 * left))
    return network


def solve(seed, teacher_rounds=TEACHER_ROUNDS, rounds=ROUNDS):
    network = train_teacher(seed, teacher_rounds)

    def teacher(mazes):
        return softmax(network.run(mazes)[2][:, :-1]), np.ones(len(mazes))

    imitate(teacher, seed, UNITS, rounds, RATE)


if __name__ == "__main__":
    solve(*map(int, sys.argv[1:] or [os.environ.get("FUMEHOOD_TRAINING_SEED", "0")]))
