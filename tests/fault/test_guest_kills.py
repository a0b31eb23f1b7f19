# SPDX-License-Identifier: Apache-2.0
"""Kills processes beneath an owner, at any point of a reset, a step or a scoring.

The owner has to answer with a result or an error. Scores have to be right, and the next reset has
to work.
"""

import contextlib
import os
import signal
import time

import pytest
from conftest import OTHER_KILLS, Process, counts, descendants

# For each task: a command that makes a valid submission, the metric, and the lowest and highest
# score.
TASKS = {
    "sums": ("cp right.csv submission.csv", "accuracy", 1.0, 1.0),
    "lines": ("true", "lines", 2.0, 2.0),
    "coins": ("true", "Score", 0.2, 0.8),
}
PHASES = ["reset", "step", "validate", "submit"]  # graders run in the last two phases
RESETS_EACH = 10  # resets that are tried with each owner
LONGEST_S = 0.04  # longest delay of a kill: a reset or a scoring takes about as long


def victims_among(owner: int) -> dict[str, list[Process]]:
    """Processes of an owner by kind. Parents tell most kinds, because names are set late."""
    table = descendants(owner)
    below = {p.pid: [q for q in table if q.parent == p.pid] for p in table}
    nursery = [p for p in table if p.parent == owner]
    made = [q for p in nursery for q in below[p.pid]]
    first = [p for p in made if p.name == "init"]
    inside = [q for p in first for q in below[p.pid]]
    return {
        "nursery": nursery,
        "cradle": [p for p in made if p.name == "fh-nursery"],
        "PID 1": first,
        "shell": [p for p in inside if p.name == "bash"],
        "program": [p for p in inside if p.name != "bash"],
    }


def kill_one(owner: int, kind: str, limit_s: float, dice) -> bool:
    """Kills a process of a kind after a random delay. Waits up to limit_s for one to exist."""
    time.sleep(dice.random() * LONGEST_S)
    end = time.monotonic() + limit_s
    while True:
        found = victims_among(owner)[kind]
        if found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(dice.choice(found).pid, signal.SIGKILL)
            return True
        if time.monotonic() > end:
            return False


def is_clear(answer: dict, task: str) -> bool:
    if "error" in answer:
        return len(answer["error"]["message"]) > 10
    info = answer["info"]
    _, metric, low, high = TASKS[task]
    if "score" in info:
        return low <= info["score"][metric] <= high
    return bool(answer["observation"])


def try_once(door, task: str, kind: str, phase: str, dice) -> None:
    right = TASKS[task][0]
    if phase != "reset":
        assert "observation" in door.ask(op="reset")
    if phase == "reset":
        door.send(op="reset")
    elif phase == "step":
        door.send(op="step", action="for i in {1..20}; do sleep .001; done; echo done")
    else:
        door.send(op="step", action=f"{right}; {phase}")
    killed = kill_one(door.pid, kind, 0.05 if kind == "program" else 0, dice)
    answer = door.answer()
    assert is_clear(answer, task), answer
    again = door.ask(op="reset")
    assert "observation" in again, again
    assert door.step("echo on")["observation"] == "on\n"
    scored = door.step(f"{right}; submit")
    assert scored["info"].get("exit_status") == "submitted" and is_clear(scored, task), scored
    counts[f"{kind} killed in {phase}" if killed else f"no {kind} to kill in {phase}"] += 1


@pytest.mark.parametrize("kind", ["nursery", "cradle", "PID 1", "shell", "program"])
def test_kills(fumehood, kind, dice):
    left = max(OTHER_KILLS, RESETS_EACH)
    while left > 0:
        task = dice.choice(list(TASKS))
        door = fumehood.door(task)
        for _ in range(RESETS_EACH):
            phase = dice.choice(PHASES[2 * (kind == "program") :])
            try:
                try_once(door, task, kind, phase, dice)
            except AssertionError as error:
                raise AssertionError(f"{task}, {kind}, {phase}: {error}") from error
        left -= RESETS_EACH
        assert door.end() == 0
        fumehood.clear()
