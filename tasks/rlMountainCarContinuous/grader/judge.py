# SPDX-License-Identifier: Apache-2.0
"""Judges weights of policies: `judge.py EPISODES` lets each checkpoint play so many episodes.

It reads arrays of numbers from the agent, and loads no code. Its workspace has policy.npz, and
data/world.json as the task has it, whatever the agent did to its own.
"""

from __future__ import annotations

import json
import os
import sys

LACKS_NUMPY = "policies can't be scored here: this machine's python3 has no numpy"


def score() -> dict[str, float | str]:
    from simulators.games import open_world

    from simulators import policies

    try:
        game = open_world(policies.CHECKPOINTS * int(sys.argv[1]))
        policy = policies.load("policy.npz", game.shape, *game.limits, n_actions=game.n_actions)
        seed = int(os.environ["FUMEHOOD_JUDGE_KEY"], 16)
        returns = policies.play(policy, game, seed, game.steps)
    except policies.Unfit as fault:
        return {"error": str(fault)}
    return {"Reward Mean": float(returns.mean()), "Reward Std": float(returns.std())}


if __name__ == "__main__":
    try:
        report = score()
    except ModuleNotFoundError as missing:
        if missing.name != "numpy":
            raise
        report = {"error": LACKS_NUMPY}
    with open(3, "w") as results:
        json.dump(report, results)
