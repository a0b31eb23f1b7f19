# SPDX-License-Identifier: Apache-2.0
"""Opening a task may take as long as its baseline. Other episodes and Ctrl-C don't wait for it."""

import json
import shutil
import signal
import subprocess
import uuid

import pytest
from conftest import PATIENCE_S, TASKS, until
from test_signals import alive_with


class Slow:
    """A task whose baseline waits until `go` has text. `mark` is in the baseline's command line."""

    def __init__(self, fumehood):
        self.fumehood = fumehood
        self.mark = "mark-" + str(uuid.uuid4())
        self.go = fumehood.folder / "go"
        self.go.touch()
        self.tasks = fumehood.folder / "tasks"
        shutil.copytree(TASKS / "rows", self.tasks / "rows")
        shutil.copytree(TASKS / "rows", self.tasks / "slow")
        wait = f"until [ -s /data/go ]; do (exec -a {self.mark} sleep 0.2); done"
        text = (TASKS / "rows" / "task.yaml").read_text().partition("variants:")[0]
        text = text.replace("id: rows", "id: slow").replace("20s", "1h")
        text = text.replace("baseline: ", f"baseline: {wait}; ").replace(
            "limits:", f'sandbox: {{bind: ["{self.go}:/data/go"]}}\nlimits:'
        )
        (self.tasks / "slow" / "task.yaml").write_text(text)

    def start(self, *words):
        words = ["run", "--tasks-dir", self.tasks, "--out", self.fumehood.out, *words]
        return self.fumehood.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def is_played(self) -> bool:
        return alive_with(self.mark) > 0

    def ended(self, task: str) -> list:
        """Seeds of a task's ended runs, in the order of their folders."""
        seeds = []
        for log in sorted(self.fumehood.out.glob(f"*{task}*/events.jsonl")):
            lines = log.read_text().rpartition("\n")[0].splitlines()  # the last may be incomplete
            events = [json.loads(line) for line in lines]
            if events and events[-1]["event"] == "end":
                seeds.append(events[1]["seed"])
        return seeds


@pytest.fixture
def slow(fumehood):
    return Slow(fumehood)


def test_neighbours_play_on(slow):
    run = slow.start("--task", "slow,rows", "--runs", "3", "--jobs", "6", "--model", "baseline")
    until(lambda: len(slow.ended("rows")) == 3, "the others end")
    until(slow.is_played, "the baseline is played")
    assert not list(slow.fumehood.out.glob("*slow*"))
    slow.go.write_text("go\n")
    out, err = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, (out, err)
    assert slow.ended("slow") == slow.ended("rows") == [0, 1, 2]


def test_ctrl_c_waits_for_no_baseline(slow):
    run = slow.start("--task", "slow", "--model", "baseline", "--json")
    until(slow.is_played, "the baseline is played")
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 130
    told = json.loads(out)
    assert told["exit_status"] == "early_exit" and told["trajectory"] is None
    until(lambda: not slow.is_played(), "nothing is left of the baseline")


def test_ctrl_c_waits_for_no_other_process(slow):
    first = slow.start("--task", "slow", "--model", "baseline")
    until(slow.is_played, "the baseline is played")
    second = slow.start("--task", "slow,rows", "--jobs", "2", "--model", "baseline")
    until(lambda: slow.ended("rows"), "its neighbour ends")
    second.send_signal(signal.SIGINT)
    second.communicate(timeout=PATIENCE_S)
    assert second.returncode == 130
    slow.go.write_text("go\n")
    first.communicate(timeout=PATIENCE_S)
    assert first.returncode == 0


def test_neighbours_wait_for_no_data(slow):
    """Also neighbours that are opened while another task's data is made."""
    task = slow.tasks / "slow"
    (task / "datasets").mkdir()
    (task / "datasets" / "more.yaml").write_text(
        "name: More\ndescription: x\nmake: {program: make.py}\nfiles: [{path: more.csv}]\n"
    )
    (task / "make.py").write_text(
        "import time\n"
        "while not open(__file__).read().endswith('# go\\n'):\n"
        "    time.sleep(0.2)\n"
        "open('more.csv', 'w').write('1')\n"
    )
    text = (TASKS / "rows" / "task.yaml").read_text().replace("id: rows", "id: slow")
    (task / "task.yaml").write_text(text + "dataset_configs: [more]\n")
    run = slow.start("--task", "slow,rows", "--runs", "2", "--jobs", "3", "--model", "baseline")
    until(lambda: slow.ended("rows") == [0, 1], "the other task's runs end")
    assert not list(slow.fumehood.out.glob("*slow*"))
    with (task / "make.py").open("a") as out:
        out.write("# go\n")
    out, err = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, (out, err)
    assert slow.ended("slow") == [0, 1]
