# SPDX-License-Identifier: Apache-2.0
"""Untrusted tasks and data sets, which try to learn what other tasks hide.

Their judges, and the programs that make their data, may tell an agent all that they get. So they
must not get a key that other tasks use.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import OURS

PREPARE = OURS / "titanicSurvival/prepare.py"
MAKING = OURS.parent / "datasets/making.py"
MICRO = (OURS.parent / "datasets/titanic-micro.yaml").read_text()
BARE = MICRO.replace(", hidden: true", "")
TELL = "import os; open('key', 'w').write(os.environ['FUMEHOOD_DATA_KEY'])\n"
TELLS = "name: x\ndescription: x\nmake: {program: tell.py}\nfiles: [{path: key}]\n"

TASK = """
name: Strange
description: x
metric: {name: Score, direction: maximize}
baseline: "true"
grader: {kind: script, submission: answer.txt, program: judge.py}
"""
JUDGE = """
import json, os
key = int(os.environ["FUMEHOOD_JUDGE_KEY"][:12], 16)
os.write(3, json.dumps({"Score": key}).encode())
"""


class Machine:
    """A machine with an empty state folder, and a folder of an untrusted task."""

    def __init__(self, program: str, folder: Path):
        self.program = program
        self.root = folder / "root"
        self.data = folder / "state/data"
        self.env = {**os.environ, "FUMEHOOD_STATE": str(self.data.parent)}

    def put(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def put_task(self, more: str, folder: str = "tasks") -> Path:
        self.put(f"{folder}/strange/task.yaml", TASK + more)
        self.put(f"{folder}/strange/judge.py", JUDGE)
        self.put(f"{folder}/strange/starter/answer.txt", "x")
        return self.root / folder / "strange"

    def __call__(self, task, *actions: str) -> subprocess.CompletedProcess:
        lines = [{"op": "reset", "seed": 1}, *({"op": "step", "action": a} for a in actions)]
        return subprocess.run(
            [self.program, "env", "--task", task, "--judge-salt", "1"],
            input="".join(json.dumps(line) + "\n" for line in lines),
            env=self.env,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    def last(self, task, *actions: str) -> dict:
        done = self(task, *actions)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def answers(self) -> str:
        """Hidden answers of titanicSurvival:micro on this machine."""
        self.last("titanicSurvival:micro")
        (path,) = self.data.glob("titanic-micro/*/answers.csv")
        return path.read_text()


@pytest.fixture
def machine(program, tmp_path) -> Machine:
    return Machine(program, tmp_path)


# --- data that programs of tasks make -------------------------------------------------------------


def test_the_key_of_another_program(machine, tmp_path):
    """An untrusted program gets another key. With it, our program makes other answers."""
    task = machine.put_task("dataset_configs: [titanic-micro]\nstarter_code: [starter/]\n")
    machine.put("datasets/titanic-micro.yaml", TELLS)
    machine.put("tell.py", TELL)
    key = machine.last(task, "cat data/key")["observation"]
    assert len(key) == 64
    subprocess.run(
        [sys.executable, PREPARE, "micro", tmp_path / "forged"],
        env={**os.environ, "FUMEHOOD_DATA_KEY": key, "PYTHONPATH": str(MAKING.parent)},
        check=True,
    )
    forged = (tmp_path / "forged/answers.csv").read_text().splitlines()
    truth = machine.answers().splitlines()
    assert len(forged) == len(truth) and forged != truth


@pytest.mark.parametrize("declared", [None, MICRO, BARE], ids=["ours", "copy", "unhidden"])
def test_our_own_program(machine, declared):
    """Our program makes other answers for an untrusted task, whatever declares the data set."""
    task = machine.put_task(
        "dataset_configs: [titanic-micro]\nstarter_code: [starter/, 'titanic-micro:answers.csv']\n"
    )
    if declared:
        machine.put("datasets/titanic-micro.yaml", declared)
        machine.put("tasks/titanicSurvival/prepare.py", PREPARE.read_text())
        machine.put("datasets/making.py", MAKING.read_text())
    seen = machine.last(task, "cat answers.csv")["observation"].splitlines()
    truth = machine.answers().splitlines()
    assert len(seen) == len(truth) and seen != truth


# --- data that the user downloaded ----------------------------------------------------------------


@pytest.mark.parametrize("declared", ["", "[{path: answers.csv}]", "[{path: ., target: all}]"])
def test_data_that_the_user_put_there_for_others(machine, declared):
    place = machine.data / "titanic"
    place.mkdir(parents=True)
    for name in ("train", "test", "sample_submission", "answers"):
        (place / f"{name}.csv").write_text("PassengerId,Survived\n1,1\n")
    task = machine.put_task("dataset_configs: [titanic]\nstarter_code: [starter/]\n")
    if declared:
        machine.put("datasets/titanic.yaml", f"name: x\ndescription: x\nfiles: {declared}\n")
    done = machine(task)
    assert done.returncode != 0
    assert "data set 'titanic' lacks " in done.stderr and f" in {place}@" in done.stderr


# --- judges of untrusted tasks --------------------------------------------------------------------


def test_the_key_of_another_judge(machine):
    """Another judge gets another key, with the same task name, seed, salt and actions."""
    more = "starter_code: [starter/]\n"
    tasks = [
        machine.put_task(more),
        machine.put_task(more, "copy"),
        machine.put_task(more, "other"),
    ]
    machine.put("other/strange/judge.py", JUDGE + "# and more\n")
    scores = [machine.last(task, "validate")["info"]["score"]["Score"] for task in tasks]
    assert scores[0] == scores[1] != scores[2]
