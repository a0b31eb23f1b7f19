# SPDX-License-Identifier: Apache-2.0
"""Odd files in a workspace, when it is scored and when it is removed.

A submission has to be a regular file, and no part of its path a link. Else it is not scored, and
the step says why.
"""

import pytest
from conftest import ATTACK

RIGHT = "cp right.csv submission.csv"
BIND = 'import socket; socket.socket(socket.AF_UNIX).bind("submission.csv")'
LINK = "is, or lies behind, a symbolic link"
MISSING = "There is no file"

# For each case: commands that make the submission, words of the observation, and whether it counts
# as tampering.
SUBMITTED = [
    ("ln -s right.csv submission.csv", LINK, True),
    ("ln -s /etc/passwd submission.csv", LINK, True),
    ("ln -s /proc/1/environ submission.csv", LINK, True),
    ("ln -s /proc/self/fd/0 submission.csv", LINK, True),
    ("ln -s submission.csv submission.csv", LINK, True),
    ("cp right.csv /dev/shm/s; ln -s /dev/shm/s submission.csv", LINK, True),
    ("mkfifo submission.csv", "is a named pipe", True),
    ("mkfifo submission.csv; (echo id,sum >submission.csv &)", "is a named pipe", True),
    ("mkdir submission.csv", "is a folder", True),
    (f"python3 -c '{BIND}'", "is a socket", True),
    (f"{RIGHT}; cd ..; mv workspace w; ln -s w workspace", LINK, True),
    (f"{RIGHT}; cd ..; mv workspace w; ln -s /etc workspace", LINK, True),
    (f"{RIGHT}; cd ..; mv workspace w; ln -s /proc/self/cwd/w workspace", LINK, True),
    (f"{RIGHT}; cd ..; mv workspace w; mkfifo workspace", MISSING, False),
    (f"{RIGHT}; cd ..; mv workspace w; cp w/right.csv workspace", MISSING, False),
    (f"{RIGHT}; cd ..; rm -rf workspace", MISSING, False),
    ("ln /run/fumehood/submit submission.csv", MISSING, False),
    ("ln /etc/passwd submission.csv", MISSING, False),
    ("truncate -s 1T submission.csv", "more than the 67108864 that are allowed", False),
    ("truncate -s 64M submission.csv", "a NUL byte", False),
    ("head -c 30M /dev/zero >submission.csv", "a NUL byte", False),
    ("head -c 30M /dev/urandom >submission.csv", "a NUL byte", False),
    (": >submission.csv", "empty", False),
]

SCORED = [
    "ln right.csv submission.csv",
    f"{RIGHT}; chmod 000 submission.csv . ..",
    f"{RIGHT}; exec 9<>submission.csv; flock 9; sleep 60 & true",
    f"python3 {ATTACK}/deep.py; {RIGHT}",
]


@pytest.mark.parametrize("action,told,tampering", SUBMITTED)
def test_a_submission_that_is_none(agent, action, told, tampering):
    agent.step(action)
    answer = agent.step("validate")
    info = answer["info"]
    assert "score" not in info and info["outcome"] == "ok"
    assert "Not scored: " in answer["observation"] and told in answer["observation"]
    assert ("integrity" in info) == tampering
    agent.sh("rm -rf ~/workspace 2>/dev/null; mkdir -p ~/workspace; cd ~/workspace")
    agent.sh(
        "echo 'id,sum' >submission.csv; echo '1,400571' >>submission.csv; echo '2,4' >>submission.csv"
    )
    assert agent.step("validate")["info"]["score"] == {"accuracy": 1.0}


@pytest.mark.parametrize("action", SCORED)
def test_a_submission_that_is_odd(agent, action):
    agent.step(action)
    assert agent.step("cd ~/workspace; validate")["info"]["score"] == {"accuracy": 1.0}


SWAPS = [
    "mv submission.csv a; ln -s /etc/passwd submission.csv; rm submission.csv; mv a submission.csv",
    "mv ~/workspace ~/w; ln -s /etc ~/workspace; rm ~/workspace; mv ~/w ~/workspace",
    ": >submission.csv; cat right.csv >submission.csv; echo 3,3 >>submission.csv",
]


@pytest.mark.parametrize("swap", SWAPS)
def test_a_submission_that_is_swapped(agent, swap):
    """A submission that changes is scored as it was at one moment, or not at all."""
    agent.sh(f"{RIGHT}; cp right.csv ~/saved; (while :; do {swap}; done) >/dev/null 2>&1 &")
    told = []
    while len(told) < 20 or (len(set(told)) < 2 and len(told) < 1000):
        info = agent.step("validate")["info"]
        assert info.get("score", {"accuracy": 1.0}) == {"accuracy": 1.0}, info
        assert "score" in info or info["grade_error"], info
        told.append(info.get("grade_error"))
    assert len(set(told)) > 1


LEFT = [
    f"python3 {ATTACK}/deep.py",
    "for i in {1..3000}; do : >f$i; done; mkdir e; touch e/{1..999}",
    "mkdir $'\\xff\\n\\e[31m' && cd $'\\xff\\n\\e[31m' && touch -- -rf '*' $'\\x01'",
    "mkdir -p a/b; touch a/b/c; chmod 000 a/b a; chmod 000 ~ ~/workspace",
    "mkfifo p; ln -s / root; ln -s p q; cp rows.csv r; ln r s; truncate -s 1T big",
    "mkdir d; cd d; rm -rf ../d; exec 9>~/gone; rm ~/gone; sleep 60 >&9 &",
]


@pytest.mark.parametrize("variant", ["prey", "prey:disk"])
def test_what_is_left_is_removed(begin, fumehood, variant):
    """A reset and the end remove all files of an episode. They don't follow links."""
    episode = begin(variant)
    for left in LEFT:
        episode.step(left)
        episode.reset()
        assert episode.sh("cd; find . -path ./attack -prune -o -type f -print | sort") == (
            "./workspace/none.csv\n./workspace/right.csv\n./workspace/rows.csv\n"
        )
    episode.step("; ".join(f"(cd ~/workspace; {left})" for left in LEFT))
    episode.end()
    folders = fumehood.state / "episodes"
    assert not folders.exists() or list(folders.iterdir()) == []
