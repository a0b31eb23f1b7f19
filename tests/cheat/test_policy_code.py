# SPDX-License-Identifier: Apache-2.0
"""Policies of a car that are code (`full`), and that do something else than to drive it."""

import base64

import pytest
from conftest import OURS, copy_task

pytest.importorskip("numpy")

HONEST = (OURS / "rlMountainCarContinuous/solution/full/policy.py").read_text()
PACK = "python3 -m zipfile -c policy.zip policy.py"
CALL = "honest = Policy.__call__\ndef call(self, seen):\n    %s\nPolicy.__call__ = call\n"

# For each trick: code behind the honest policy, the sentence for the agent, and whether tampering
# is recorded.
REFUSED = {
    "a wrong shape": (
        CALL % "return honest(self, seen)[:, 0]",
        "policy.zip: Policy() returned the shape [64], expected [64, 2]",
        False,
    ),
    "no array": (CALL % "return 0.5", "policy.zip: Policy() returned float, expected", False),
    "NaN": (CALL % "return honest(self, seen) * np.nan", "a number that is not from -1e+09", False),
    "huge": (CALL % "return honest(self, seen) * 1e8", "a force that is not from -1e+06", False),
    "an exception": (CALL % "return 1 / 0", "policy.py line 15: ZeroDivisionError", False),
    "no class": ("del Policy\n", "policy.py has no function Policy", False),
    "ends": ("import os\nos._exit(3)\n", "The player exited with status 3.", False),
    "hangs": ("while True: pass\n", "no answer within 3 s", False),
    "an answer in excess": (
        "import os\n" + CALL % "os.write(4, b'true\\ntrue\\n'); return honest(self, seen)",
        "more than one answer came to one question",
        True,
    ),
    "a report": (
        "import os\nos.write(4, b'{\"Reward Mean\": 99}\\n')\nos._exit(0)\n",
        "not an output for each episode",
        True,
    ),
}

# It writes over all that it shares with the judge, all the time.
SCRIBBLE = """
import mmap, threading
shared = mmap.mmap(5, 0)

def scribble():
    while True:
        shared[:40960] = bytes(40960)

threading.Thread(target=scribble, daemon=True).start()
"""
CLOSE = (
    "import os\nfor fd in range(5, 64):\n    try: os.ftruncate(fd, 0)\n    except OSError: pass\n"
)


@pytest.fixture
def agent(begin, tmp_path):
    changes = {
        "task.yaml": ("baseline: python3 baseline.py MountainCarContinuous", f"baseline: {PACK}"),
        "grader/judge_code.py": ("SECONDS = 120", "SECONDS = 3\nsys.argv[2] = '64'"),
    }
    copy = copy_task(tmp_path, "rlMountainCarContinuous", changes)
    (copy / "starter/full/policy.py").write_text(HONEST)
    return begin("rlMountainCarContinuous:full", f"{copy}:full")


def validate(agent, text):
    agent.put("policy.py", HONEST + text)
    assert agent.sh(PACK) == ""
    return agent.validate()


def test_what_is_refused(agent):
    for trick, (text, told, tampering) in REFUSED.items():
        answer = validate(agent, text)
        assert "score" not in answer["info"] and told in answer["observation"], (trick, answer)
        assert ("integrity" in answer["info"]) == tampering, (trick, answer)
    agent.sh("echo no >policy.zip")
    assert "policy.zip: it is not a zip file" in agent.validate()["observation"]
    assert validate(agent, CLOSE)["info"]["score"]["Reward Mean"] == pytest.approx(95.55, abs=0.2)


def test_writing_over_shared_memory_gains_nothing(agent):
    """The judge has the game, and copies each output once."""
    score = validate(agent, SCRIBBLE)["info"]["score"]["Reward Mean"]
    assert score < 95.9


# --- the other games ------------------------------------------------------------------------------

# For each task: its game, the number of its actions, and the scores that random actions may have.
OTHERS = {
    "rlBreakoutMinAtar": ("Breakout", 3, (0.1, 1)),
    "rlMetaMazeMisc": ("MetaMaze", 4, (4, 12)),
}
RANDOM = """
import numpy as np
class Policy:
    def __init__(self, checkpoint, episodes):
        pass
    def __call__(self, seen):
        return np.zeros((len(seen), %d), np.float32)
"""


@pytest.fixture(params=OTHERS)
def other(request, begin, tmp_path):
    """An episode of another game, whose baseline draws actions at random."""
    game, actions, _ = OTHERS[request.param]
    policy = base64.b64encode((RANDOM % actions).encode()).decode()
    baseline = f"baseline: echo {policy} | base64 -d >policy.py; {PACK}"
    change = (f"baseline: python3 baseline.py {game}", baseline)
    copy = copy_task(tmp_path, request.param, {"task.yaml": change})
    text = (copy / "task.yaml").read_text()
    (copy / "task.yaml").write_text(text.replace(f'[{game}, "1280"]', f'[{game}, "64"]'))
    return begin(f"{request.param}:full", f"{copy}:full")


def test_what_is_refused_in_other_games(other):
    _, actions, (least, most) = OTHERS[other.game.task.partition(":")[0]]
    for trick in ("a wrong shape", "no array", "NaN", "an answer in excess", "a report", "ends"):
        text, told, tampering = REFUSED[trick]
        other.put("policy.py", RANDOM % actions + text)
        answer = other.step(f"{PACK}; validate")
        told = told.replace("[64, 2]", f"[64, {actions}]")
        assert "score" not in answer["info"] and told in answer["observation"], (trick, answer)
        assert ("integrity" in answer["info"]) == tampering, (trick, answer)
    other.put("policy.py", RANDOM % actions)
    score = other.step(f"{PACK}; validate")["info"]["score"]["Reward Mean"]
    assert least < score < most
