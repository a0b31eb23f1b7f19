# SPDX-License-Identifier: Apache-2.0
"""The step of the policy that plays a rollout."""

import os
import re
from collections.abc import Callable
from pathlib import Path

BROADCASTS_DIR = "outputs/run_default/broadcasts"

PolicyStep = int | Callable[[], int] | None


def newest_broadcast(folder: str | os.PathLike[str] = BROADCASTS_DIR) -> int:
    """Returns the number of the newest weights that a trainer put into a folder; 0 if none.

    Weights of step N lie in the folder `step_N`. If any of these folders has the marker STABLE,
    the others are still being written and don't count.
    """
    steps: dict[int, bool] = {}
    for path in Path(folder).glob("step_*"):
        if number := re.fullmatch(r"step_(\d+)", path.name):
            steps[int(number[1])] = (path / "STABLE").exists()
    stable = [step for step, marked in steps.items() if marked]
    return max(stable or steps, default=0)


def policy_step_now(given: PolicyStep, folder: str | os.PathLike[str]) -> int:
    """Returns the caller's policy step, or else the newest broadcast's."""
    if given is None:
        return newest_broadcast(folder)
    return given() if callable(given) else given
