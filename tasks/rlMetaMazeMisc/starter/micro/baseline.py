# SPDX-License-Identifier: Apache-2.0
"""The baseline: a policy gradient on whole episodes. Writes policy.npz.

All five checkpoints are the same policy: `python3 baseline.py [SEED]`.
"""

import sys

import numpy as np
from maze import N_ACTIONS, SHAPE, STEPS, Maze

from simulators import policies

MAZES, UNITS, ROUNDS = 64, 16, 40
RATE, DISCOUNT = 0.01, 0.95


class ScaledMaze(Maze):
    """Observations less their mean, in units of their deviation, while actions are random."""

    def __init__(self, copies, random):
        super().__init__(copies)
        self.mean, self.deviation = np.zeros(SHAPE), np.ones(SHAPE)
        self.reset(0)
        actions = random.integers(N_ACTIONS, size=(STEPS, copies))
        seen = np.concatenate([self.step(row)[0] for row in actions])
        self.mean, self.deviation = seen.mean(0), seen.std(0) + 1e-3

    def observe(self, states):
        return (super().observe(states) - self.mean) / self.deviation

    def save(self, weights):
        """Writes weights for scaled observations, so that they fit plain ones."""
        first, bias, second, last = weights
        first = first / self.deviation[:, None]
        arrays = {
            "0.tanh.weight": first,
            "0.tanh.bias": bias - self.mean @ first,
            "1.linear.weight": second,
            "1.linear.bias": last,
        }
        copies = {name: np.stack([array] * policies.CHECKPOINTS) for name, array in arrays.items()}
        np.savez("policy.npz", **copies)


def softmax(outputs):
    odds = np.exp(outputs - outputs.max(-1, keepdims=True))
    return odds / odds.sum(-1, keepdims=True)


def draw_weights(random, outputs, units=UNITS):
    shapes = (*SHAPE, units), (units,), (units, outputs), (outputs,)
    spreads = 0.5, 0.3, 0.05, 0
    return [random.normal(size=s) * spread for s, spread in zip(shapes, spreads, strict=True)]


class Adam:
    """Moves weights in the direction of better outputs."""

    def __init__(self, weights):
        self.weights, self.number = weights, 0
        self.means, self.squares = ([np.zeros_like(w) for w in weights] for _ in range(2))

    def step(self, inputs, units, up, rate):
        """up: the direction for the outputs, [step, maze, output]."""
        inputs, units, up = (array.reshape(-1, array.shape[-1]) for array in (inputs, units, up))
        below = up @ self.weights[2].T * (1 - units**2)
        self.number += 1
        for i, gradient in enumerate((inputs.T @ below, below.sum(0), units.T @ up, up.sum(0))):
            self.means[i] += 0.1 * (gradient - self.means[i])
            self.squares[i] += 0.01 * (gradient**2 - self.squares[i])
            unbiased = np.sqrt(self.squares[i] / (1 - 0.99**self.number)) + 1e-6
            self.weights[i] += rate * self.means[i] / (1 - 0.9**self.number) / unbiased


def run(weights, inputs):
    """Returns hidden units, and outputs."""
    units = np.tanh(inputs @ weights[0] + weights[1])
    return units, units @ weights[2] + weights[3]


def train(seed, rounds=ROUNDS):
    random = np.random.default_rng(seed)
    maze = ScaledMaze(MAZES, random)
    adam = Adam(draw_weights(random, N_ACTIONS))
    for number in range(rounds):
        inputs, rows = maze.reset(1000 * seed + number), []
        for _ in range(STEPS):
            units, outputs = run(adam.weights, inputs)
            actions = policies.draw_choices(outputs, random)
            found, rewards, _ = maze.step(actions)
            rows.append((inputs, units, outputs, actions, rewards))
            inputs = found
        seen, units, outputs, actions, rewards = map(np.array, zip(*rows, strict=True))
        for step in reversed(range(STEPS - 1)):  # add later rewards to earlier actions
            rewards[step] += DISCOUNT * rewards[step + 1]
        better = rewards - rewards.mean(1, keepdims=True)
        towards = np.eye(N_ACTIONS)[actions] - softmax(outputs)
        adam.step(seen, units, towards * better[..., None] / better.std() / better.size, RATE)
    maze.save(adam.weights)


if __name__ == "__main__":
    train(*map(int, sys.argv[1:] or [0]))
