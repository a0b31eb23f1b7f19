# SPDX-License-Identifier: Apache-2.0
"""Small networks that drive: their weights are one row of numbers each."""

import numpy as np
from simulators.games import open_world

UNITS = 8
SHAPES = ((2, UNITS), (1, UNITS), (UNITS, 1), (1, 1))
N_WEIGHTS = sum(rows * columns for rows, columns in SHAPES)


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
    car = open_world(len(flat) * cars)
    observations = car.reset(seed)
    sums, driving = np.zeros(len(observations)), np.ones(len(observations), bool)
    for _ in range(car.steps):
        units = np.tanh(observations.reshape(-1, cars, 2) @ weights[0] + weights[1])
        observations, rewards, ended = car.step((units @ weights[2] + weights[3]).ravel())
        sums += rewards * driving
        driving &= ~ended
    return sums.reshape(-1, cars).mean(1)


def save(weights, log_std=-10):
    """Writes policy.npz. Each array of `weights` is [policy, row, column]."""
    np.savez(
        "policy.npz",
        **{
            "0.tanh.weight": weights[0],
            "0.tanh.bias": weights[1][:, 0],
            "1.linear.weight": weights[2],
            "1.linear.bias": weights[3][:, 0],
            "log_std": np.full(len(weights[0]), float(log_std)),
        },
    )
