# SPDX-License-Identifier: Apache-2.0
"""Descriptors that the owner inherited, and descriptors opened again by /proc/PID/fd."""

import os

import pytest
from conftest import ATTACK, Episode

LIST = "import os; print(*(f for f in range(4096) if os.path.exists(f'/proc/self/fd/{f}')))"


@pytest.fixture
def leaked(tmp_path):
    """Descriptors that a careless parent of the owner left open: a secret, the root, a pipe."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    fds = [os.open(secret, os.O_RDWR), os.open("/", os.O_RDONLY | os.O_DIRECTORY), *os.pipe()]
    for fd in fds:
        os.set_inheritable(fd, True)
    yield fds
    for fd in fds:
        os.close(fd)


def test_descriptors_that_the_owner_was_left(fumehood, leaked, inside, neighbour):
    done = fumehood("sandbox", "exec", "--", "python3", "-c", LIST, pass_fds=leaked)
    assert done.stdout.split() == ["0", "1", "2"]
    done = fumehood("sandbox", "exec", "--", "bash", "-c", "echo /proc/$$/fd/*", pass_fds=leaked)
    held = {path.rpartition("/")[2] for path in done.stdout.split()}
    assert {"0", "1", "2"} <= held <= {"0", "1", "2", "3"}  # 3 is the listing's own
    episode = Episode(fumehood, "prey", "--bind", f"{inside}:{ATTACK}", pass_fds=leaked)
    held = episode.tried(f"enable -f {ATTACK}/builtin_memory.so memory; memory")
    assert not set(held) & {str(fd) for fd in leaked} and not {"folder", "socket"} & set(
        held.values()
    )
    assert episode.sh(f"python3 -c '{LIST.replace(chr(39), chr(34))}'").split() == ["0", "1", "2"]
    episode.end()


ANEW = [
    ("exec 9</proc/$$/fd/250", "Permission denied"),
    ("exec 9>/proc/$$/fd/250", "Permission denied"),
    ("echo 1 >/proc/$$/fd/253", "Operation not permitted"),
    ("exec 9>>/proc/$$/exe", "Permission denied"),
    ("exec 9>>/proc/self/exe", "Permission denied"),
    ("exec 9>/proc/1/fd/3", "Permission denied"),
    ("cat /proc/$$/fd/250", "Permission denied"),
    ("cat /proc/1/fd/3", "Permission denied"),
    ("echo x >&3", "Bad file descriptor"),
    ("(echo x >/proc/self/fd/250)", "Permission denied"),
]


@pytest.mark.parametrize("action,error", ANEW)
def test_descriptors_that_are_opened_anew(agent, action, error):
    answer = agent.step(action)
    assert answer["info"]["exit_code"] != 0 and error in answer["observation"]
    assert "integrity" not in answer["info"]


def test_requests_in_a_flood(agent):
    """A flood of requests counts as one. The agent can't read or remove the pipe of requests."""
    agent.sh("cp right.csv submission.csv")
    answer = agent.step("head -c 1M /dev/zero >/run/fumehood/validate; validate & validate; wait")
    assert answer["info"]["score"] == {"accuracy": 1.0}
    assert "Permission denied" in agent.sh("cat /run/fumehood/validate 2>&1; true")
    assert "Permission denied" in agent.sh("rm /run/fumehood/submit 2>&1; true")
    assert agent.step("validate")["info"]["score"] == {"accuracy": 1.0}
