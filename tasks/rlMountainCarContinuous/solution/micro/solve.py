# SPDX-License-Identifier: Apache-2.0
"""A known good answer: the cross-entropy method, which needs no random forces. Writes policy.npz.

It draws the weights of whole policies, plays with them, and draws closer to the best ones. A car
whose policy hardly changes swings as long as it needs. Some runs learn to stand still, so there are
more runs than checkpoints, and the best of them are kept.
"""

import os
import sys

import numpy as np
from drivers import N_WEIGHTS, returns, save, unpack
from simulators.policies import CHECKPOINTS

RUNS, ROUNDS, POLICIES, BEST, CARS = 10, 30, 96, 10, 4
SPREAD, WIDENING = 1.5, 0.1  # spread of the first weights; what early rounds add to it
TRIALS = 64  # cars that compare the results of runs


def search(seed, runs, rounds):
    """Returns the weights that each run found, [run, number], and their worth."""
    random = np.random.default_rng(seed)
    n = N_WEIGHTS
    mean, spread = np.zeros((runs, n)), np.full((runs, n), SPREAD)
    for number in range(rounds):
        drawn = mean[:, None] + spread[:, None] * random.normal(size=(runs, POLICIES, n))
        worth = returns(drawn.reshape(-1, n), CARS, 1000 * seed + number).reshape(runs, -1)
        best = np.take_along_axis(drawn, np.argsort(-worth)[:, :BEST, None], 1)
        mean, spread = best.mean(1), best.std(1) + WIDENING * (1 - number / rounds)
    worth = returns(best.reshape(-1, n), TRIALS, 1000 * seed + rounds).reshape(runs, BEST)
    return best[range(runs), worth.argmax(1)], worth.max(1)


def solve(seed, runs=RUNS, rounds=ROUNDS):
    found, worth = search(seed, runs, rounds)
    save(unpack(found[np.argsort(-worth)[:CHECKPOINTS]]))


if __name__ == "__main__":
    solve(*map(int, sys.argv[1:] or [os.environ.get("FUMEHOOD_TRAINING_SEED", "0")]))
