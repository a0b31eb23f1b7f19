# SPDX-License-Identifier: Apache-2.0
"""A known good answer: the cross-entropy method, which needs no random forces. Writes policy.npz.

It draws the weights of whole policies, plays with them, and draws closer to the best ones. A car
whose policy hardly changes swings as long as it needs. Some runs learn to stand still, so there are
more runs than checkpoints, and the best of them are kept.
"""

import sys

import numpy as np
from car import STEPS, Car
from simulators.policies import CHECKPOINTS

RUNS, ROUNDS, POLICIES, BEST, CARS = 8, 20, 96, 10, 4
UNITS = 8
SHAPES = ((2, UNITS), (1, UNITS), (UNITS, 1), (1, 1))
SPREAD, WIDENING = 1.5, 0.1  # spread of the first weights; what early rounds add to it
TRIALS = 64  # cars that compare the results of runs


def unpack(flat):
    """The arrays of weights of each policy: flat is [policy, number]."""
    arrays, at = [], 0
    for rows, columns in SHAPES:
        arrays.append(flat[:, at : at + rows * columns].reshape(-1, rows, columns))
        at += rows * columns
    return arrays


def returns(flat, cars, seed):
    """The mean sum of rewards of each policy, without random forces."""
    weights = unpack(flat)
    car = Car(len(flat) * cars)
    observations = car.reset(seed)
    sums, driving = np.zeros(len(observations)), np.ones(len(observations), bool)
    for _ in range(STEPS):
        units = np.tanh(observations.reshape(-1, cars, 2) @ weights[0] + weights[1])
        observations, rewards, ended = car.step((units @ weights[2] + weights[3]).ravel())
        sums += rewards * driving
        driving &= ~ended
    return sums.reshape(-1, cars).mean(1)


def search(seed, runs=RUNS, rounds=ROUNDS):
    """Returns the weights that each run found, [run, number], and their worth."""
    random = np.random.default_rng(seed)
    n = sum(rows * columns for rows, columns in SHAPES)
    mean, spread = np.zeros((runs, n)), np.full((runs, n), SPREAD)
    for number in range(rounds):
        drawn = mean[:, None] + spread[:, None] * random.normal(size=(runs, POLICIES, n))
        worth = returns(drawn.reshape(-1, n), CARS, 1000 * seed + number).reshape(runs, -1)
        best = np.take_along_axis(drawn, np.argsort(-worth)[:, :BEST, None], 1)
        mean, spread = best.mean(1), best.std(1) + WIDENING * (1 - number / rounds)
    worth = returns(best.reshape(-1, n), TRIALS, 1000 * seed + rounds).reshape(runs, BEST)
    return best[range(runs), worth.argmax(1)], worth.max(1)


def save(flat):
    weights = unpack(flat)
    np.savez(
        "policy.npz",
        **{
            "0.tanh.weight": weights[0],
            "0.tanh.bias": weights[1][:, 0],
            "1.linear.weight": weights[2],
            "1.linear.bias": weights[3][:, 0],
            "log_std": np.full(CHECKPOINTS, -10.0),
        },
    )


if __name__ == "__main__":
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    found, worth = search(seed)
    save(found[np.argsort(-worth)[:CHECKPOINTS]])
