# SPDX-License-Identifier: Apache-2.0
"""The baseline: the best of policies drawn at random. Writes policy.npz.

`python3 baseline.py [SEED [POLICIES]]`.
"""

import os
import sys

import numpy as np
from drivers import N_WEIGHTS, returns, save, unpack
from simulators.policies import CHECKPOINTS

POLICIES, SPREAD, CARS = 100, 0.5, 4


def draw(seed, policies=POLICIES, spread=SPREAD):
    """The best policies of so many, [policy, number]."""
    drawn = spread * np.random.default_rng(seed).normal(size=(policies, N_WEIGHTS))
    return drawn[np.argsort(-returns(drawn, CARS, seed))[:CHECKPOINTS]]


if __name__ == "__main__":
    seed = sys.argv[1:] or [os.environ.get("FUMEHOOD_TRAINING_SEED", "0")]
    save(unpack(draw(*map(int, seed))), log_std=0)
