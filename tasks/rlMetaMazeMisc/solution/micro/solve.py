# SPDX-License-Identifier: Apache-2.0
"""A known good answer: a policy gradient with a critic, in short pieces. Writes policy.npz.

The critic predicts the rewards to come, so that an action counts for what it adds. The policy is
improved every 25 steps, and is kept from deciding too early.
"""

import sys

import numpy as np
from baseline import Adam, ScaledMaze, draw_weights, run, softmax
from maze import N_ACTIONS

from simulators import policies

MAZES, UNITS, ROUNDS, PIECE = 128, 24, 480, 25
RATE, DISCOUNT, TRUST, VARIETY = 0.02, 0.97, 0.95, 0.01


def advantages(rewards, ended, critic):
    """How much more came than the critic predicted (generalized advantage estimation)."""
    better, later = np.zeros_like(critic[:-1]), 0.0
    for step in reversed(range(PIECE)):
        going = ~ended[step]
        surprise = rewards[step] + DISCOUNT * critic[step + 1] * going - critic[step]
        later = better[step] = surprise + DISCOUNT * TRUST * going * later
    return better


def direction(chances, actions, better):
    """The direction for the outputs: better actions, various ones, and a critic that is right."""
    scaled = (better - better.mean()) / (better.std() + 1e-6)
    towards = (np.eye(N_ACTIONS)[actions] - chances) * scaled[..., None]
    logs = np.log(chances + 1e-9)
    towards -= VARIETY * chances * (logs - (chances * logs).sum(-1, keepdims=True))
    return np.concatenate([towards, 0.5 * better[..., None]], -1) / better.size


def train(seed, rounds=ROUNDS):
    random = np.random.default_rng(seed)
    maze = ScaledMaze(MAZES, random)
    adam = Adam(draw_weights(random, N_ACTIONS + 1, UNITS))  # the last output is the critic
    inputs = maze.reset(seed)
    for number in range(1, rounds + 1):
        rows = []
        for _ in range(PIECE):
            units, outputs = run(adam.weights, inputs)
            actions = policies.draw_choices(outputs[:, :N_ACTIONS], random)
            found, rewards, ended = maze.step(actions)
            rows.append((inputs, units, outputs, actions, rewards / 10, ended))
            inputs = found
        seen, units, outputs, actions, rewards, ended = map(np.array, zip(*rows, strict=True))
        critic = np.concatenate([outputs[..., -1], run(adam.weights, inputs)[1][None, :, -1]])
        better = advantages(rewards, ended, critic)
        up = direction(softmax(outputs[..., :N_ACTIONS]), actions, better)
        adam.step(seen, units, up, RATE * (1 - 0.9 * number / rounds))
    first, bias, second, last = adam.weights
    maze.save([first, bias, second[:, :N_ACTIONS], last[:N_ACTIONS]])


if __name__ == "__main__":
    train(*map(int, sys.argv[1:] or [0]))
