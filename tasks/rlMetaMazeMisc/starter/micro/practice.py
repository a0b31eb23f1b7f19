# SPDX-License-Identifier: Apache-2.0
"""Scores policy.npz as the judge does, with other random numbers: `python3 practice.py [SEED]`."""

import sys

from maze import N_ACTIONS, SHAPE, STEPS, Maze

from simulators import policies

if __name__ == "__main__":
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    policy = policies.load("policy.npz", SHAPE, 65_000, N_ACTIONS, most_products=10_000)
    returns = policies.play(policy, Maze(policies.CHECKPOINTS * 64), seed, STEPS)
    print("mean of each checkpoint:", *returns.mean(1).round(1))
    print(f"Reward Mean {returns.mean():.2f}, Reward Std {returns.std():.2f}")
