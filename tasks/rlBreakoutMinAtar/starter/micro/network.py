# SPDX-License-Identifier: Apache-2.0
"""A network with a layer of hidden units, as policy.npz has it, and its training."""

import numpy as np

from simulators import policies


def softmax(outputs):
    odds = np.exp(outputs - outputs.max(-1, keepdims=True))
    return odds / odds.sum(-1, keepdims=True)


class Network:
    """`examples` are observations, by which inputs are scaled."""

    def __init__(self, random, examples, units, outputs):
        self.mean, self.deviation = examples.mean(0), examples.std(0) + 1e-3
        inputs = examples.shape[-1]
        self.weights = [
            (random.normal(size=(inputs, units)) / np.sqrt(inputs)).astype("f"),
            (random.normal(size=units) * 0.3).astype("f"),
            (random.normal(size=(units, outputs)) * 0.05).astype("f"),
            np.zeros(outputs, "f"),
        ]
        self.means, self.squares = ([np.zeros_like(w) for w in self.weights] for _ in range(2))
        self.number = 0

    def run(self, observations):
        """Returns scaled inputs, hidden units and outputs."""
        inputs = ((observations - self.mean) / self.deviation).astype("f")
        units = np.tanh(inputs @ self.weights[0] + self.weights[1])
        return inputs, units, units @ self.weights[2] + self.weights[3]

    def improve(self, inputs, units, pull, rate):
        """A step of Adam, in the direction of `pull` for the outputs."""
        inputs, units, pull = (a.reshape(-1, a.shape[-1]) for a in (inputs, units, pull))
        pull = (pull / len(pull)).astype("f")
        below = pull @ self.weights[2].T * (1 - units**2)
        self.number += 1
        for i, gradient in enumerate((inputs.T @ below, below.sum(0), units.T @ pull, pull.sum(0))):
            self.means[i] += 0.1 * (gradient - self.means[i])
            self.squares[i] += 0.01 * (gradient**2 - self.squares[i])
            unbiased = np.sqrt(self.squares[i] / (1 - 0.99**self.number)) + 1e-7
            self.weights[i] += rate * self.means[i] / (1 - 0.9**self.number) / unbiased

    def save(self):
        """Writes policy.npz, with weights for plain observations. All checkpoints are the same."""
        first, bias, second, last = self.weights
        first = first / self.deviation[:, None]
        arrays = {
            "0.tanh.weight": first,
            "0.tanh.bias": bias - self.mean @ first,
            "1.linear.weight": second,
            "1.linear.bias": last,
        }
        copies = {name: np.stack([array] * policies.CHECKPOINTS) for name, array in arrays.items()}
        np.savez("policy.npz", **copies)


def look_around(game, random, steps=20):
    """What the sensors show while actions are random."""
    game.reset(0)
    actions = random.integers(game.n_actions, size=(steps, game.envs.num_envs))
    return np.concatenate([game.step(row)[0] for row in actions])
