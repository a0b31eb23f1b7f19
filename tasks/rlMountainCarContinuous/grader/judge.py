# SPDX-License-Identifier: Apache-2.0
"""Judges rlMountainCarContinuous: `judge.py EPISODES` lets each checkpoint play so many episodes.

It reads arrays of numbers from the agent, and loads no code. The workspace has the task's own
files, and policy.npz. So car.py is the starter's, whatever the agent did to its own.
"""

from __future__ import annotations

import json
import os
import sys

MOST_WEIGHTS = 25_000
LACKS_NUMPY = "policies can't be scored here: this machine's python3 has no numpy"


def score() -> dict[str, float | str]:
    sys.path.append(os.getcwd())
    import car

    from simulators import policies

    try:
        policy = policies.load("policy.npz", (2,), MOST_WEIGHTS)
        copies = car.Car(policies.CHECKPOINTS * int(sys.argv[1]))
        seed = int(os.environ["FUMEHOOD_JUDGE_KEY"], 16)
        returns = policies.play(policy, copies, seed, car.STEPS)
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
