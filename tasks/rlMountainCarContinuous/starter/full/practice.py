# SPDX-License-Identifier: Apache-2.0
"""Scores policy.zip as the judge does, in fewer episodes: `python3 practice.py GAME [SEED]`."""

import sys
import tempfile
import zipfile

import numpy as np
from simulators.games import Game

from simulators import policies

EPISODES = 64  # of a checkpoint


class Local:
    """The policies of policy.zip, in this process."""

    def __init__(self, n_actions):
        folder = tempfile.mkdtemp()
        with zipfile.ZipFile("policy.zip") as packed:
            packed.extractall(folder)
        sys.path.insert(0, folder)
        sys.modules.pop("policy", None)
        from policy import Policy

        self.n_actions = n_actions
        self.policies = [Policy(number, EPISODES) for number in range(policies.CHECKPOINTS)]

    def begin(self):
        pass

    def act(self, observations, random):
        found = [policy(seen) for policy, seen in zip(self.policies, observations, strict=True)]
        outputs = np.stack([o.cpu().numpy() if hasattr(o, "cpu") else o for o in found])
        return policies.draw_actions(outputs.astype(float), self.n_actions, random)


def main(name, seed="0"):
    game = Game(name, policies.CHECKPOINTS * EPISODES)
    returns = policies.play(Local(game.n_actions), game, int(seed), game.steps)
    print("mean of each checkpoint:", *returns.mean(1).round(2))
    print(f"Reward Mean {returns.mean():.2f}, Reward Std {returns.std():.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
