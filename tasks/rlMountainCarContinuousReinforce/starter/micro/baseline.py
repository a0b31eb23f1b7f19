# SPDX-License-Identifier: Apache-2.0
"""The baseline: a policy gradient for five policies at once. Writes policy.npz.

Independent random forces seldom get the car up the hill. `python3 baseline.py SEED STEPS` holds each
random force for so many steps.
"""

import os
import sys

import numpy as np
from drivers import save
from simulators.games import open_world

POLICIES, UNITS, CARS = 5, 16, 32
ROUNDS, RATE, DISCOUNT = 20, 0.03, 0.99


def play(car, weights, random, seed, hold):
    """One episode of each car: observations, random parts of forces, rewards, and who still drives."""
    observations = car.reset(seed)
    driving = np.ones((POLICIES, CARS), bool)
    rows = []
    for step in range(car.steps):
        inputs = observations.reshape(POLICIES, CARS, 2)
        if step % hold == 0:
            noise = random.normal(size=(POLICIES, CARS))
        means = np.tanh(inputs @ weights[0] + weights[1]) @ weights[2] + weights[3]
        observations, rewards, ended = car.step((means[..., 0] + noise).ravel())
        rows.append((inputs, noise, rewards.reshape(driving.shape) * driving, driving.copy()))
        driving &= ~ended.reshape(driving.shape)
    return [np.array(column) for column in zip(*rows, strict=True)]


def advantages(rewards, driving):
    """How much better the rest of an episode was than that of other episodes of the policy."""
    returns, later = np.zeros_like(rewards), 0.0
    for step in reversed(range(len(rewards))):
        later = returns[step] = rewards[step] + DISCOUNT * later
    mean = returns.sum((0, 2), where=driving, keepdims=True) / driving.sum((0, 2), keepdims=True)
    better = (returns - mean) * driving
    return better / (better.std((0, 2), keepdims=True) + 1e-6)


def gradients(weights, inputs, noise, better):
    """The direction in which better forces become more probable."""
    inputs = np.moveaxis(inputs, 0, 1).reshape(POLICIES, -1, 2)
    pull = np.moveaxis(better * noise, 0, 1).reshape(POLICIES, -1, 1) / better[:, 0].size
    units = np.tanh(inputs @ weights[0] + weights[1])
    below = pull * weights[2].swapaxes(1, 2) * (1 - units * units)
    return [
        inputs.swapaxes(1, 2) @ below,
        below.sum(1, keepdims=True),
        units.swapaxes(1, 2) @ pull,
        pull.sum(1, keepdims=True),
    ]


def train(seed, hold=1):
    random = np.random.default_rng(seed)
    weights = [
        random.normal(size=(POLICIES, 2, UNITS)) * 0.7,
        np.zeros((POLICIES, 1, UNITS)),
        random.normal(size=(POLICIES, UNITS, 1)) * 0.1,
        np.zeros((POLICIES, 1, 1)),
    ]
    means, squares = ([np.zeros_like(w) for w in weights] for _ in range(2))
    car = open_world(POLICIES * CARS)
    for number in range(1, ROUNDS + 1):
        inputs, noise, rewards, driving = play(car, weights, random, 1000 * seed + number, hold)
        found = gradients(weights, inputs, noise, advantages(rewards, driving))
        for i, gradient in enumerate(found):  # update the weights by Adam
            means[i] += 0.1 * (gradient - means[i])
            squares[i] += 0.01 * (gradient**2 - squares[i])
            unbiased = np.sqrt(squares[i] / (1 - 0.99**number)) + 1e-8
            weights[i] += RATE * means[i] / (1 - 0.9**number) / unbiased
    return weights


if __name__ == "__main__":
    seed = sys.argv[1:] or [os.environ.get("FUMEHOOD_TRAINING_SEED", "0")]
    save(train(*map(int, seed)), log_std=0)
