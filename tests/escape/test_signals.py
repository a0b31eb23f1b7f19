# SPDX-License-Identifier: Apache-2.0
"""Signals, and what else reaches a process by its number: the owner, the nursery, PID 1, graders."""

import contextlib
import os
from pathlib import Path

import pytest
from conftest import ATTACK, beneath, parents

WAYS = [
    "kill",
    "kill-group",
    "stop",
    "tgkill",
    "queue",
    "pidfd",
    "owner",
    "limit",
    "nice",
    "idle",
    "pin",
    "io",
    "pages",
]


def state_of(pid: int) -> tuple:
    """What an attack would have changed."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    limits = Path(f"/proc/{pid}/limits").read_text()
    cpus = os.sched_getaffinity(pid)
    return fields[0] in "TtZX", fields[16], fields[19], fields[38], limits, cpus


def those_of(owner: int) -> list[int]:
    """An owner, its nursery, and all that is in sandboxes; the nursery's other children come and go."""
    found = []
    for pid in beneath(owner):
        with contextlib.suppress(OSError):
            name = Path(f"/proc/{pid}/comm").read_text()
            if name != "fh-nursery\n" or parents().get(pid) == owner:
                found.append(pid)
    return [owner, *found]


def test_processes_of_the_machine(agent, neighbour):
    """By the numbers that they have outside: here they name nobody."""
    victims = [os.getpid(), *those_of(agent.pid), *those_of(neighbour.pid)]
    assert len(victims) >= 10
    before = [state_of(pid) for pid in victims]
    unknown = [str(p) for p in victims if agent.step(f"[ -e /proc/{p} ]")["info"]["exit_code"] == 1]
    tried = agent.tried(f"{ATTACK}/signals {' '.join(unknown)}")
    assert tried == {f"{way}:{pid}": "ESRCH" for pid in unknown for way in WAYS}
    assert [state_of(pid) for pid in victims] == before
    assert len(unknown) == len(victims) or min(victims) < 1000


def test_init(agent):
    tried = agent.tried(f"{ATTACK}/signals 1")
    assert tried == {f"{way}:1": "EPERM" for way in WAYS} | {"owner:1": "done"}  # it sends nothing


def test_a_killer_while_graded(agent):
    """It kills all that it may, for ever; the grader is out of its sight, and gives what is due."""
    agent.sh("cp right.csv submission.csv")
    infos = (agent.step(f"python3 {ATTACK}/killer.py; sleep 60")["info"] for _ in range(10))
    killed = [next(infos), next(infos), next(infos)]
    assert {info["outcome"] for info in killed} == {"shell_restarted"}
    assert {info["exit_code"] for info in killed} == {137}
    assert {"accuracy": 1.0} in [info.get("score") for info in killed]
    agent.reset()


KILLER = """
import os, signal
if os.fork() == 0:
    os.setsid()
    while True:
        for pid in (1, os.getppid(), -1):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
def row_strategy(history):
    return 0
"""


def test_a_killer_while_it_is_judged(begin):
    """Code of the agent's that runs to be judged kills what it finds: itself, and not its judge."""
    episode = begin("battleOfSexes")
    episode.sh(f"cat >strategy.py <<'END'\n{KILLER}\nEND")
    answer = episode.step("validate")
    assert "score" not in answer["info"] and "Not scored: " in answer["observation"]
    episode.sh("echo 'def row_strategy(history): return 0' >strategy.py")
    assert episode.step("validate")["info"]["score"]


@pytest.mark.parametrize("signal,outcome", [("STOP", "timeout"), ("KILL", "ok")])
def test_a_child_of_the_shell(agent, signal, outcome):
    """One that is stopped keeps it waiting until the step's time is over."""
    agent.sh(f"sleep 60 & kill -{signal} $!; wait $!", outcome, timeout_s=0.3)
