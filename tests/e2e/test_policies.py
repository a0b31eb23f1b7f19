# SPDX-License-Identifier: Apache-2.0
"""rlMountainCarContinuous: messages about wrong policy files, and an attack that has no effect."""

import json
from pathlib import Path

WRITE = """python3 - <<'EOF'
import os
import numpy as np

class Attack:
    def __reduce__(self):
        return os.system, ("echo 99 > score",)

arrays = {"0.linear.weight": np.zeros((5, 2, 1)), "0.linear.bias": np.zeros((5, 1))}
arrays["log_std"] = np.full(5, -20.0)
arrays |= %s
np.savez("policy.npz", **arrays)
EOF
validate"""

TOLD = {
    "rm -f policy.npz; validate": (
        "There is no file /home/agent/workspace/policy.npz, and only that file is scored"
    ),
    ": > policy.npz; validate": "policy.npz: it is empty; write it with numpy.savez",
    "truncate -s 2M policy.npz; validate": "policy.npz",
    WRITE % "{'log_std': np.zeros(3)}": "policy.npz: 'log_std' has the shape [3]; expected [5]",
    WRITE % "{'log_std': np.full(5, np.nan)}": (
        "policy.npz: 'log_std' has NaN or infinity; write finite numbers"
    ),
    WRITE % "{'log_std': np.array([Attack()] * 5)}": (
        "policy.npz: 'log_std' holds objects; write numbers: an array whose rows have one length"
    ),
    # Breaking the agent's copy of the simulator changes no score: the judge has its own. This
    # policy stands still.
    "echo 'raise SystemExit' > drivers.py; rm -f data/world.json\n"
    + WRITE % "{}": "'Reward Mean': ",
}


def test_what_an_agent_is_told(fumehood):
    played = fumehood.actions(*TOLD, "submit")
    (result,) = fumehood.run_json("--task", "rlMountainCarContinuous", "--model", played)
    assert -1e-6 < result["best"]["Reward Mean"] <= 0
    steps = json.loads(Path(result["trajectory"]).read_text())["trajectory"]
    for step, sentence in zip(steps, TOLD.values(), strict=False):
        assert sentence in step["observation"], step
