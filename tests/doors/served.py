# SPDX-License-Identifier: Apache-2.0
"""A `fumehood serve` for the tests of doors."""

import contextlib
import os
import subprocess
from pathlib import Path

TASKS = Path(__file__).resolve().parents[1] / "tasks"
TOKEN = "a-token-of-the-tests"
WORDS = ["serve", "--tasks-dir", str(TASKS), "--task", "rows", "--max-steps", "1000"]


@contextlib.contextmanager
def served(folder, *words, token=False):
    """Runs a server in the folder, and gives its port."""
    env = os.environ | {"FUMEHOOD_STATE": str(folder / "state"), "FUMEHOOD_TOKEN": TOKEN}
    extra = ["--listen", ":0", *words, *([] if token else ["--no-token"])]
    child = subprocess.Popen(
        [os.environ["FUMEHOOD"], *WORDS, *extra], env=env, stdout=subprocess.PIPE, text=True
    )
    try:
        yield int(child.stdout.readline().rpartition(":")[2])
    finally:
        child.terminate()
        assert child.wait(60) == 0
        child.stdout.close()
