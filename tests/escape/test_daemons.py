# SPDX-License-Identifier: Apache-2.0
"""Processes that try to outlive their step, episode or owner. They may outlive a step that ends."""

import ctypes
import os
import secrets
import signal
import time
from pathlib import Path

import pytest
from conftest import GONE_S, WALL, parents

DEAF = "trap '' {1..64}; while :; do exec -a MARK sleep 600; done"
DAEMONS = [
    "exec -a MARK sleep 600 &",
    "(exec -a MARK sleep 600 &)",
    f"setsid bash -c '{DEAF}' &",
    f"(setsid bash -c '({DEAF}) &' &)",
    f"nohup bash -c '{DEAF}' >/dev/null 2>&1 & disown -a",
    "exec -a MARK sleep 600 & until grep -q MARK /proc/$!/cmdline; do :; done; kill -STOP $!",
    "coproc exec -a MARK sleep 600",
    "python3 -c 'import os; os.fork() or os.setsid() or os.fork() or "
    'os.execv("/bin/sleep", ["MARK", "600"])\'',
]


def living(mark: str) -> list[int]:
    """Processes of this machine whose command line begins with this word."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() == path.read_bytes().split(b"\0")[0]:
                found.append(int(path.parent.name))
        except OSError:
            pass
    return found


def comes_to(number: int, mark: str) -> bool:
    end = time.monotonic() + GONE_S
    while len(living(mark)) != number:
        assert time.monotonic() < end, living(mark)
        time.sleep(0.005)
    return True


def init_of(pid: int) -> int:
    """PID 1 of the sandbox of a process."""
    while (
        Path(f"/proc/{pid}/status").read_text().partition("NSpid:")[2].split("\n")[0].split()[-1]
        != "1"
    ):
        pid = parents()[pid]
    return pid


@pytest.fixture
def mark() -> str:
    return "daemon" + secrets.token_hex(8)


@pytest.mark.parametrize("daemon", DAEMONS)
def test_ends_with_its_episode(agent, mark, daemon):
    agent.step(daemon.replace("MARK", mark))
    assert comes_to(1, mark) and agent.sh("echo next") == "next\n" and len(living(mark)) == 1
    agent.reset()
    assert comes_to(0, mark)


@pytest.mark.parametrize("daemon", DAEMONS)
def test_ends_with_a_step_that_is_ended(agent, mark, daemon):
    """A timeout ends all processes that the step began, also orphans. Older jobs stay."""
    agent.sh(f"exec -a {mark}-older sleep 600 & true")
    assert comes_to(1, f"{mark}-older")
    agent.step(daemon.replace("MARK", mark) + "\nsleep 600", timeout_s=0.3)
    assert comes_to(0, mark) and len(living(f"{mark}-older")) == 1


def test_ends_with_its_owner(begin, mark):
    """The kernel ends all processes of an episode when its owner is killed."""
    episode = begin()
    for daemon in DAEMONS:
        episode.step(daemon.replace("MARK", mark))
    assert comes_to(len(DAEMONS), mark)
    os.kill(episode.pid, signal.SIGKILL)
    assert comes_to(0, mark)
    episode.end(-signal.SIGKILL)


PTRACE_SEIZE = 0x4206


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.parametrize("ended", ["killed", "closed"])
def test_ends_before_its_nursery(begin, mark, ended):
    """The nursery lives until the kernel has ended its sandboxes, also if it takes more than 10 s.

    A traced process stays until its tracer waits for it, and its PID 1 stays with it.
    """
    episode = begin()
    episode.step(DAEMONS[0].replace("MARK", mark))
    assert comes_to(1, mark)
    (pid,) = living(mark)
    init = init_of(pid)
    nursery = parents()[init]
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.ptrace(PTRACE_SEIZE, pid, None, None) == 0, os.strerror(ctypes.get_errno())
    if ended == "killed":
        os.kill(episode.pid, signal.SIGKILL)
    else:
        episode.end()
    assert comes_to(0, mark)  # a zombie has no command line
    time.sleep(12)
    assert state(pid) == "Z" and state(init) != "Z" and state(nursery) != "Z"
    assert os.waitpid(pid, WALL)[1] == signal.SIGKILL
    if ended == "killed":
        episode.end(-signal.SIGKILL)


def test_ends_with_its_init(begin, mark):
    """The next step reports that the sandbox is gone. The next episode works."""
    episode = begin()
    episode.step(DAEMONS[3].replace("MARK", mark))
    assert comes_to(1, mark)
    os.kill(init_of(living(mark)[0]), signal.SIGKILL)
    assert comes_to(0, mark)
    answer = episode.step("echo on")
    assert answer["info"]["outcome"] == "sandbox_gone" and answer["terminated"]
    episode.reset()
    assert episode.sh("echo on") == "on\n"


def test_orphans_without_end(agent, neighbour):
    """PID 1 reaps a flood of orphans, and still serves requests."""
    agent.sh("cp right.csv submission.csv; (while :; do (true & true &) ; done) & sleep 0.1")
    for _ in range(5):
        assert agent.step("validate")["info"]["score"] == {"accuracy": 1.0}
    neighbour.check()
    agent.sh("sleep 600", "timeout", timeout_s=0.1)
    agent.reset()
