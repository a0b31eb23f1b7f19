# SPDX-License-Identifier: Apache-2.0
"""The baseline: a policy gradient on the pictures as they are. Writes policy.npz.

All five checkpoints are the same policy: `python3 baseline.py [SEED]`.
"""

import sys

import numpy as np
from board import N_ACTIONS, Board

from simulators import policies

BOARDS, UNITS, ROUNDS, STEPS = 64, 16, 60, 32
RATE, DISCOUNT = 0.003, 0.95


def play(board, weights, random, pictures):
    """STEPS steps of each board: pictures, chances of actions, actions, rewards, ends."""
    rows = []
    for _ in range(STEPS):
        inputs = pictures.reshape(BOARDS, -1)
        outputs = np.maximum(inputs @ weights[0] + weights[1], 0) @ weights[2] + weights[3]
        actions = policies.draw_choices(outputs, random)
        pictures, rewards, ended = board.step(actions)
        odds = np.exp(outputs - outputs.max(1, keepdims=True))
        rows.append((inputs, odds / odds.sum(1, keepdims=True), actions, rewards, ended))
    return pictures, [np.array(column) for column in zip(*rows, strict=True)]


def advantages(rewards, ended):
    """How much better the later rewards were than those of the other boards."""
    returns, later = np.zeros_like(rewards), 0.0
    for step in reversed(range(STEPS)):
        later = returns[step] = rewards[step] + DISCOUNT * later * ~ended[step]
    better = returns - returns.mean(1, keepdims=True)
    return better / (better.std() + 1e-6)


def gradients(weights, inputs, chances, actions, better):
    """The direction in which better actions become more probable."""
    inputs = inputs.reshape(-1, inputs.shape[-1])
    pull = ((np.eye(N_ACTIONS, dtype="f")[actions] - chances) * better[..., None]).astype("f")
    pull = pull.reshape(-1, N_ACTIONS) / len(inputs)
    units = np.maximum(inputs @ weights[0] + weights[1], 0)
    below = pull @ weights[2].T * (units > 0)
    return [inputs.T @ below, below.sum(0), units.T @ pull, pull.sum(0)]


def train(seed, rounds=ROUNDS):
    random = np.random.default_rng(seed)
    weights = [
        random.normal(size=(400, UNITS)).astype("f") * 0.05,
        np.zeros(UNITS, "f"),
        random.normal(size=(UNITS, N_ACTIONS)).astype("f") * 0.1,
        np.zeros(N_ACTIONS, "f"),
    ]
    means, squares = ([np.zeros_like(w) for w in weights] for _ in range(2))
    board = Board(BOARDS)
    pictures = board.reset(seed)
    for number in range(1, rounds + 1):
        pictures, (inputs, chances, actions, rewards, ended) = play(
            board, weights, random, pictures
        )
        found = gradients(weights, inputs, chances, actions, advantages(rewards, ended))
        for i, gradient in enumerate(found):  # update the weights by Adam
            means[i] += 0.1 * (gradient - means[i])
            squares[i] += 0.01 * (gradient**2 - squares[i])
            unbiased = np.sqrt(squares[i] / (1 - 0.99**number)) + 1e-8
            weights[i] += RATE * means[i] / (1 - 0.9**number) / unbiased
    return weights


def save(weights):
    names = ("0.relu.weight", "0.relu.bias", "1.linear.weight", "1.linear.bias")
    copies = [np.stack([array] * policies.CHECKPOINTS) for array in weights]
    np.savez("policy.npz", **dict(zip(names, copies, strict=True)))


if __name__ == "__main__":
    save(train(*map(int, sys.argv[1:2] or [0])))
