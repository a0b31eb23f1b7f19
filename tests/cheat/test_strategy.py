# SPDX-License-Identifier: Apache-2.0
"""Strategies that do other things than play.

A strategy can reach its own process alone. It gets the score of its moves, or none. Tricks that no
honest strategy plays are recorded as `integrity`.
"""

import pytest
from conftest import DUELS_OR_LONG

# Code to put before an honest strategy. It must not change the score.
HARMLESS = {
    "random": "import random\nrandom.getrandbits = random.choice = lambda *a: 0\nrandom.seed = print\n",
    # Replace the built-in sum(). The strategy keeps the real one for itself.
    "builtins": "import builtins\nkept = sum\nbuiltins.sum = lambda *a: 10**9\nsum = kept\n",
    "modules": "import sys\nfor m in ('duel', 'judge', 'numbers', 'hashlib'): sys.modules[m] = None\n",
    "frames": (
        "import sys\nf = sys._getframe()\nwhile f:\n"
        "    for k, v in list(f.f_locals.items()) + list(f.f_globals.items()):\n"
        "        if 'right' in k or 'score' in k.lower(): raise SystemError(k)\n    f = f.f_back\n"
    ),
    "objects": (
        "import gc\nfor o in gc.get_objects():\n"
        "    if type(o).__name__ in ('Numbers', 'Table') and hasattr(o, '_key'): raise SystemError(o)\n"
    ),
    "environment": (
        "import os\nif any('KEY' in k for k in os.environ): raise SystemError('a key')\n"
    ),
    "files": (
        "import os\nfor f in ('/grader/judge.py', '/grader/duel.py', '/grader/right.txt'):\n"
        "    if os.path.exists(f): raise SystemError(f)\n"
        "try: open('/grader/player.py', 'a'); raise SystemError('opened')\nexcept OSError: pass\n"
    ),
    "processes": (
        "import os\nfor p in os.listdir('/proc'):\n"
        "    if p.isdigit() and int(p) not in (1, os.getpid()) and 'porter' not in "
        "open(f'/proc/{p}/comm').read():\n"
        "        raise SystemError('another process')\n"
    ),
    "descriptors": (
        "import os\nif sorted(map(int, os.listdir('/proc/self/fd')))[:5] != [0, 1, 2, 3, 4]:\n"
        "    raise SystemError(os.listdir('/proc/self/fd'))\n"
        "if any(os.path.exists(f'/proc/self/fd/{i}') for i in range(6, 99)): raise SystemError('more')\n"
    ),
    "fork": "import os\nif os.fork() == 0:\n    import time; time.sleep(1); os._exit(0)\n",
    "thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(99,), daemon=True).start()\n",
    "signals": "import signal\nfor n in (2, 15): signal.signal(n, signal.SIG_IGN)\n",
    "a line to the log": "print({'Score': 9.99})\n",
}

# Code that a strategy runs to find out how many games the judge plays at once.
GAMES = (
    "import sys; f = sys._getframe()\n"
    "    while not hasattr(f.f_locals.get('self'), 'games'): f = f.f_back\n"
    "    games = f.f_locals['self'].games"
)

# For each trick: code to append to an honest strategy, part of the error message, and whether
# tampering is recorded. The strategy's function is named `guess`.
FAULTS = {
    "out of turn": (
        f"import json, os\nhonest = guess\ndef guess(*h):\n    {GAMES}\n"
        "    os.write(4, (json.dumps([honest(*h)] * games) + '\\n').encode() * 2)\n    return honest(*h)\n",
        "answer",
        True,
    ),
    "in front": ("import os\nos.write(4, b'[]\\n')\n", "", True),
    "a forged score": (
        "import os\ndef guess(*h):\n    os.write(4, b'{\"Score\": 9.99}\\n')\n    return 0\n",
        "round 1: guess: ",
        True,
    ),
    "too many moves": (
        "import json\ndumps = json.dumps\n"
        "json.dumps = lambda v, **k: dumps(v * 2 if isinstance(v, list) else v)\n",
        "round 1: guess: ",
        True,
    ),
    "broken text": (
        "import os\ndef guess(*h):\n    os.write(4, b'\\xff\\xfe\\n')\n    return 0\n",
        "",
        True,
    ),
    "deep": (
        "import os\ndef guess(*h):\n    os.write(4, b'[' * 60000 + b'\\n')\n    return 0\n",
        "",
        True,
    ),
    "enormous": (
        "import os\ndef guess(*h):\n    while 1: os.write(4, b'0' * 65536)\n",
        "longer than",
        True,
    ),
    "not a number": (
        f"import os\ndef guess(*h):\n    {GAMES}\n"
        "    os.write(4, b'[' + b'NaN,' * (games - 1) + b'NaN]\\n')\n    os._exit(0)\n",
        "guess returned nan",
        False,
    ),
    "no move": ("def guess(*h):\n    return -1\n", "returned -1, expected ", False),
    "a liar": (
        "class One(int):\n    def __eq__(self, other): return True\n    __hash__ = int.__hash__\n"
        "def guess(*h):\n    return One(777)\n",
        "returned 777",
        False,
    ),
    "late": ("import time\ndef guess(*h):\n    time.sleep(60)\n", "no answer within 8 s", False),
    "an end": ("import os\ndef guess(*h):\n    os._exit(0)\n", "ended instead of answering", False),
    "an exit": ("def guess(*h):\n    raise SystemExit(0)\n", "raised SystemExit", False),
    "another program": (
        "import os\ndef guess(*h):\n    os.execvp('echo', ['echo', '[0]'])\n",
        "ended instead of answering",
        False,
    ),
    "closed": ("import os\ndef guess(*h):\n    os.close(4)\n    return 0\n", "", False),
    "killed": (
        "import os\ndef guess(*h):\n    os.kill(os.getpid(), 9)\n",
        "ended by signal 9",
        False,
    ),
}


@pytest.mark.parametrize("trick", HARMLESS)
@pytest.mark.parametrize("task", DUELS_OR_LONG)
def test_harmless(begin, task, trick):
    agent = begin(task)
    path = agent.game.file
    agent.sh(f"cp {path} honest.py")
    agent.put("trick.py", HARMLESS[trick])
    agent.sh(f"cat trick.py honest.py >{path}")
    answer = agent.validate()
    agent.assert_honest(answer)
    assert "integrity" not in answer["info"]


@pytest.mark.parametrize("trick", FAULTS)
@pytest.mark.parametrize("task", DUELS_OR_LONG)
def test_fault(begin, task, trick):
    if trick == "late" and task != "duel":
        pytest.skip("only that judge is impatient: others wait for half a minute")
    agent = begin(task)
    path, function = agent.game.file, agent.game.function
    text, told, tampering = FAULTS[trick]
    agent.sh(f"cp {path} honest.py")
    agent.put("trick.py", text.replace("guess", function))
    agent.sh(f"cat honest.py trick.py >{path}")
    answer = agent.validate()
    info = answer["info"]
    assert "score" not in info and answer["reward"] == 0, answer
    assert "Not scored: " in answer["observation"], answer
    assert told.replace("guess", function) in answer["observation"], answer
    assert ("integrity" in info) == tampering, answer
    if tampering:
        assert any(info["integrity"] in str(event) for event in agent.recorded())
    agent.sh(f"cp honest.py {path}")
    agent.assert_honest(agent.validate())
