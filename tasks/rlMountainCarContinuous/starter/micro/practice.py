# SPDX-License-Identifier: Apache-2.0
"""Scores policy.npz as the judge does, with other random numbers.

`python3 practice.py [SEED [EPISODES]]`. Each checkpoint plays so many episodes, by default 64.
"""

import sys

from simulators.games import open_world

from simulators import policies

if __name__ == "__main__":
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    episodes = int(sys.argv[2]) if len(sys.argv) > 2 else 64
    game = open_world(policies.CHECKPOINTS * episodes)
    policy = policies.load("policy.npz", game.shape, *game.limits, n_actions=game.n_actions)
    returns = policies.play(policy, game, seed, game.steps)
    print("mean of each checkpoint:", *returns.mean(1).round(2))
    print(f"Reward Mean {returns.mean():.2f}, Reward Std {returns.std():.2f}")
