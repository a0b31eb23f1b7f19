# SPDX-License-Identifier: Apache-2.0
"""Signals and other calls that name a pid, aimed at the owner, the nursery, PID 1 and graders."""

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
    """State of a process that an attack could change."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    limits = Path(f"/proc/{pid}/limits").read_text()
    cpus = os.sched_getaffinity(pid)
    return fields[0] in "TtZX", fields[16], fields[19], fields[38], limits, cpus


def those_of(owner: int) -> list[int]:
    """An owner, its nursery, and all processes in sandboxes.

    The nursery's other children are left out, because they come and go.
    """
    found = []
    for pid in beneath(owner):
        with contextlib.suppress(OSError):
            name = Path(f"/proc/{pid}/comm").read_text()
            if name != "fh-nursery\n" or parents().get(pid) == owner:
                found.append(pid)
    return [owner, *found]


def test_processes_of_the_machine(agent, neighbour):
    """Attacks processes by the pids that they have outside, which name nobody in the sandbox."""
    victims = [os.getpid(), *those_of(agent.pid), *those_of(neighbour.pid)]
    assert len(victims) >= 10
    before = [state_of(pid) for pid in victims]
    unknown = [str(p) for p in victims if agent.step(f"[ -e /proc/{p} ]")["info"]["exit_code"] == 1]
    tried = agent.tried(f"{ATTACK}/signals {' '.join(unknown)}")
    # move_pages() gives EPERM instead of ESRCH, because it is refused before the kernel looks for
    # the process.
    errors = dict.fromkeys(WAYS, "ESRCH") | {"pages": "EPERM"}
    assert tried == {f"{way}:{pid}": errors[way] for pid in unknown for way in WAYS}
    assert [state_of(pid) for pid in victims] == before
    assert len(unknown) == len(victims) or min(victims) < 1000


def test_init(agent):
    tried = agent.tried(f"{ATTACK}/signals 1")
    # F_SETOWN may succeed for PID 1, because it sends no signal by itself.
    assert tried == {f"{way}:1": "EPERM" for way in WAYS} | {"owner:1": "done"}


def test_a_killer_while_graded(agent):
    """A process kills all that it can during a grading. The grader is not affected."""
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
    """A player kills all processes that it finds. It ends itself, but not its judge."""
    episode = begin("battleOfSexes")
    episode.sh(f"cat >strategy.py <<'END'\n{KILLER}\nEND")
    answer = episode.step("validate")
    assert "score" not in answer["info"] and "Not scored: " in answer["observation"]
    episode.sh("echo 'def row_strategy(history): return 0' >strategy.py")
    assert episode.step("validate")["info"]["score"]


@pytest.mark.parametrize("signal,outcome", [("STOP", "timeout"), ("KILL", "ok")])
def test_a_child_of_the_shell(agent, signal, outcome):
    """A stopped child makes the shell wait until the timeout. A killed one does not."""
    agent.sh(f"sleep 60 & kill -{signal} $!; wait $!", outcome, timeout_s=0.3)
