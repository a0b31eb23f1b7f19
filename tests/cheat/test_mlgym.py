# SPDX-License-Identifier: Apache-2.0
"""Graders of MLGym's, of the classes in which the evaluator runs what the agent wrote.

In the original the agent's shell, files and functions take part in scoring. Here the evaluator and all that
is its own lie read-only over a copy of the agent's files, in a sandbox that the agent has never been in. What
the agent's code does to the evaluator from within its process is the one thing that nobody can see:
docs/graders.md says so.
"""

import pytest
from conftest import IN_PROCESS

FORGED = 'print("{" + chr(34) + "Score" + chr(34) + ": 99}", flush=True)\n'
EVALUATOR = 'import json\nprint(json.dumps({"Score": 99, "val_loss": 0}))\n'
TASKS = [game.task for game in IN_PROCESS]

# What the agent puts into its workspace, to be there instead of what scores it.
REPLACED = {
    "the evaluator": "chmod u+w evaluate.py; mv forged.py evaluate.py",
    "a link to another": "rm -f evaluate.py; ln -s forged.py evaluate.py",
    "a folder": "rm -f evaluate.py; mkdir evaluate.py; mv forged.py evaluate.py/__main__.py",
    "nothing": "rm -f evaluate.py",
    "a function": "python() { echo '{\"Score\": 99}'; }; python3() { python; }; evaluate() { python; }",
    "the python": "mkdir -p ~/bin; printf '#!/bin/sh\\necho 99\\n' | tee ~/bin/python ~/bin/python3 "
    ">/dev/null; chmod +x ~/bin/*; PATH=~/bin:$PATH",
    "the opponent": "printf 'FALLEN = [0] * 10\\n' >target.py",
    "a compiled one": "mkdir -p __pycache__; python3 -c 'import py_compile; "
    'py_compile.compile("forged.py", "__pycache__/target.cpython-311.pyc")\'',
    "the workspace": "cd ..; mv workspace other; mkdir workspace; cp other/forged.py "
    "workspace/evaluate.py; cp -r other/src other/*.yaml other/strategy.py workspace/; cd workspace",
    "a link to the workspace": "cd ..; mv workspace other; ln -s other workspace; cd other",
    "a start-up file": "d=~/.local/lib/python3.11/site-packages; mkdir -p $d; "
    "cp forged.py $d/usercustomize.py",
    "a pyvenv.cfg": "mkdir -p ~/miniconda3/envs/mlgym_generic; "
    "echo 'home = /tmp' >~/miniconda3/envs/mlgym_generic/pyvenv.cfg",
    "tar's options": "touch -- --checkpoint=1 '--checkpoint-action=exec=sh x' x",
}

# Of a strategy, and whether it is seen.
WITHIN = {
    "a score and out": (FORGED + "import os\nos._exit(0)\n", True),
    "a score and an exit": (FORGED + "raise SystemExit\n", True),
    "a score and another program": (FORGED + "import os\nos.execvp('true', ['true'])\n", True),
    "a score beside": (FORGED + "def guess(seen):\n    return 0\n", False),
    "killed": ("import os\nos.kill(os.getpid(), 9)\n", False),
    "all killed": ("import os\nos.kill(-1, 9)\n", False),
    "the one above": (
        "import os\nopen(f'/proc/{os.getppid()}/fd/3', 'w').write('{\"Score\": 99}')\n",
        False,
    ),
    "a descriptor": ("import os\nos.write(3, b'{\"Score\": 99}')\n", False),
    "a forged file": ("open('evaluate.py', 'w').write('print(99)')\n", False),
    "not a number": ("import json\njson.dumps = lambda v: '{\"Score\": NaN}'\n", False),
}


@pytest.mark.parametrize("what", REPLACED)
@pytest.mark.parametrize("task", TASKS)
def test_replaced(begin, task, what):
    agent = begin(task)
    agent.sh(agent.game.honest)
    agent.put("forged.py", EVALUATOR)
    agent.step(REPLACED[what])
    answer = agent.validate()
    if (
        what == "a link to the workspace" and task == "model"
    ):  # what it leads to is not the workspace
        assert "no .yaml file" in answer["observation"], answer
    else:
        agent.assert_honest(answer)


@pytest.mark.parametrize("trick", WITHIN)
def test_within(begin, trick):
    text, seen = WITHIN[trick]
    agent = begin("coin")
    agent.put("strategy.py", text)
    answer = agent.validate()
    info = answer["info"]
    assert "score" not in info and answer["reward"] == 0, answer
    assert "Not scored: " in answer["observation"], answer
    assert ("integrity" in info) == seen, answer
    agent.put("strategy.py", "def guess(seen):\n    return 0\n")
    agent.assert_honest(agent.validate())


def test_while_it_is_copied(begin):
    """A job that goes on changing files may spoil the agent's own score, and no more."""
    agent = begin("coin")
    agent.sh(
        "(while :; do cp strategy.py s; mv s strategy.py; ln -sf /etc/passwd evaluate.py; "
        "mkdir -p deep/er; touch deep/er/x; rm -rf deep; done) >/dev/null 2>&1 & sleep 0.05"
    )
    for _ in range(5):
        answer = agent.validate()
        if "score" in answer["info"]:
            agent.assert_honest(answer)


def test_a_copy_that_never_ends(begin):
    """The pipe may be kept open from outside; scoring ends with its time (20 s in this task)."""
    agent = begin("coin")
    agent.sh(
        "(while :; do for p in $(pgrep -x tar); do exec 9>/proc/$p/fd/1; done; done) "
        ">/dev/null 2>&1 & sleep 0.05"
    )
    answer = agent.validate()
    if "score" in answer["info"]:
        agent.assert_honest(answer)
    else:
        assert "Not scored" in answer["observation"]
    agent.sh("kill -9 $! ; wait $! 2>/dev/null; echo; ")
    agent.assert_honest(agent.validate())


def test_another_program_s_data(begin):
    """Nor are data, or answers among them, what the agent puts there."""
    agent = begin("rows")
    agent.sh("cp sample_submission.csv submission.csv")
    agent.sh("chmod -R u+w data; rm -rf data/truth.csv; cp sample_submission.csv data/truth.csv")
    agent.sh("cp submission.csv data/numbers.csv")
    agent.assert_honest(agent.validate())
