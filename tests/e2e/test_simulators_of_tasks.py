# SPDX-License-Identifier: Apache-2.0
"""`sandbox: {simulators: true}` gives the simulators' module to the agent and the judge."""

import json
import textwrap

import pytest

TASK = """
name: Drive
description: Write throttle.txt.
metric: {name: Return, direction: maximize}
sandbox: {simulators: true}
"""

SCRIPT_KEYS = """
baseline: echo 0 > throttle.txt
grader: {kind: script, submission: throttle.txt, program: judge.py}
"""

DUEL_KEYS = """
baseline_scores: {Return: 0}
grader: {kind: duel, submission: throttle.py, program: judge.py, functions: [throttle]}
"""

PLAY = """
import json, os
import numpy as np, simulators

def mean_return(throttle):
    envs = simulators.make_vec("MountainCarContinuous", 64, max_episode_steps=200)
    observations, _ = envs.reset(seed=int(os.environ["FUMEHOOD_JUDGE_KEY"], 16))
    total, counting = np.zeros(64), np.ones(64, bool)
    for _ in range(200):
        forces = throttle * np.sign(observations[:, 1] + 1e-9)
        observations, rewards, terminations, truncations, _ = envs.step(forces)
        total += rewards * counting
        counting &= ~(terminations | truncations)
    return total.mean()
"""

SCRIPT = (
    PLAY
    + """
with os.fdopen(3, "w") as out:
    json.dump({"Return": mean_return(float(open("throttle.txt").read()))}, out)
"""
)

DUEL = (
    PLAY
    + """
import duel

def play(player, numbers):
    table = player.table("throttle", 1, lambda move: duel.is_int(move, 11), "0 to 10")
    return {"Return": mean_return(table.moves()[0] / 10)}

duel.judge(play)
"""
)


@pytest.fixture
def put_task(fumehood):
    def put(judge, keys):
        folder = fumehood.folder / "drive"
        folder.mkdir()
        (folder / "task.yaml").write_text(TASK + keys)
        (folder / "judge.py").write_text(judge)

    return put


def play(fumehood, *actions):
    """Answers to the steps of an episode with these actions."""
    lines = [{"op": "reset", "seed": 0}] + [{"op": "step", "action": text} for text in actions]
    done = fumehood("env", "--task", "./drive", input="".join(json.dumps(x) + "\n" for x in lines))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert all("error" not in answer for answer in answers), answers
    return answers[1:]


def test_an_agent_trains_with_it_and_a_judge_scores_with_it(fumehood, put_task):
    put_task(SCRIPT, SCRIPT_KEYS)
    train = textwrap.dedent("""\
        python3 - <<'EOF'
        import simulators
        envs = simulators.make_vec("Breakout", 8)
        print(envs.reset(seed=1)[0].shape, simulators.__file__)
        EOF""")
    steps = play(
        fumehood,
        train,
        "touch simulators/x; rm -rf simulators; ls simulators",
        "echo 0.6 > throttle.txt; validate",
    )
    assert "(8, 10, 10, 4) /home/agent/workspace/simulators/__init__.py" in steps[0]["observation"]
    assert steps[1]["observation"].count("Read-only file system") == 5
    assert "__init__.py\ngames.py\nlibsimulators.so\npolicies.py\n" in steps[1]["observation"]
    assert 95 < steps[2]["info"]["score"]["Return"] < 96
    assert steps[2]["info"]["baseline"]["Return"] == 0


def test_the_judge_of_a_duel_has_it_too(fumehood, put_task):
    put_task(DUEL, DUEL_KEYS)
    steps = play(fumehood, "echo 'def throttle(h): return 6' > throttle.py; validate")
    assert 95 < steps[0]["info"]["score"]["Return"] < 96
