# SPDX-License-Identifier: Apache-2.0
"""fumehood task check --run of several tasks: --all and --jobs."""

import json
import os
import signal
import subprocess
import sys

import pytest
from conftest import ROOT, beneath, until

LONG_S = 1800  # for all tasks, also on a busy machine


@pytest.fixture
def mine(fumehood):
    """A task that works, in a folder of tasks."""
    (fumehood.folder / "mine").mkdir()
    fumehood("task", "new", "good", "--tasks-dir", "mine")
    return fumehood.folder / "mine"


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def reports(done) -> dict:
    return {report["task"]: report for report in map(json.loads, done.stdout.splitlines())}


def test_several_give_a_table_and_what_is_wrong(fumehood, mine):
    fumehood("task", "new", "bad", "--tasks-dir", "mine")
    change(mine / "bad" / "task.yaml", "command: python3 solve.py", "command: exit 3")
    words = ("task", "check", "--run", "--tasks-dir", "mine", "bad", "good", "no")
    done = fumehood(*words, "--jobs", 2, status=2)
    head, bad, good, no, _, *problems = done.stdout.splitlines()
    assert head.split() == ["task", "result", "metric", "baseline", "solution", "seconds"]
    assert bad.split()[:3] == ["bad", "FAIL", "accuracy"] and good.split()[1] == "ok"
    assert no.split()[:2] == ["no", "FAIL"]
    assert head.index("result") == bad.index("FAIL") == good.index("ok")
    assert problems[0] == "FAIL bad" and "the solution: `exit 3` ended" in "".join(problems)
    assert "no task 'no'" in problems[-1]
    assert fumehood(*words[:-1], "--jobs", 2, status=1).stdout


def test_json_comes_in_the_order_of_the_tasks(fumehood, mine):
    fumehood("task", "new", "other", "--tasks-dir", "mine", "--grader", "duel")
    words = ("task", "check", "--run", "--tasks-dir", "mine", "other", "good", "-j2", "--json")
    found = reports(fumehood(*words))
    assert list(found) == ["other", "good"]
    for report in found.values():
        assert report["ok"] and report["problems"] == [] and report["duration_s"] >= 0
        played = report["played"]
        assert played["solution"][played["metric"]] != played["baseline"][played["metric"]]


def test_all_takes_every_task_and_leaves_out_what_lacks_data(fumehood, copy):
    """A checkout of MLGym with few tasks, so that this is quick."""
    rows = copy / "configs" / "tasks"
    for name in ("coin", "model", "noSuchClass", "noSuchData", "words"):
        (rows / f"{name}.yaml").unlink()
    (rows / "less.yaml").write_text((rows / "rows.yaml").read_text().replace("rows", "less"))
    (copy / "configs" / "datasets" / "less.yaml").write_text(
        (copy / "configs" / "datasets" / "rows.yaml").read_text().replace("rows", "less")
    )
    done = fumehood("task", "check", "--run", "--all", "--mlgym-root", copy, "--json")
    found = reports(done)
    assert list(found) == ["less:full", "rows:full"]
    assert "task show less:full" in found["less:full"]["left_out"]
    assert "left_out" not in found["rows:full"] and "played" in found["rows:full"]
    table = fumehood("task", "check", "--run", "--all", "--mlgym-root", copy).stdout.splitlines()
    assert table[1].split()[:3] == ["less:full", "left", "out"] and len(table) == 3


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--all --run titanic", "--all checks every task: give it or 'titanic'"),
        ("--all", "--all goes with --run"),
        ("--jobs 2 titanic", "--jobs goes with --run"),
        ("--run", "give a task, or --all"),
        ("--run --jobs 0 titanic", "--jobs wants a whole number from 1 to"),
    ],
)
def test_misuse(fumehood, words, complaint):
    assert complaint in fumehood("task", "check", *words.split(), status=2).stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_checks(fumehood, mine, number):
    mark = f"sleep 10{os.getpid()}"
    change(mine / "good" / "task.yaml", "command: python3 solve.py", f"command: {mark}")
    child = fumehood.start(
        *("task", "check", "--run", "--tasks-dir", "mine", "--jobs", "2", "good", "good"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    asleep = mark.replace(" ", "\0")
    until(lambda: beneath(child.pid, asleep), "the solution runs")
    processes = list(children(child.pid))
    assert len(processes) == 2
    child.send_signal(number)
    out, _ = child.communicate()
    assert child.returncode == 128 + number and out == ""
    assert not any(os.path.exists(f"/proc/{pid}") for pid in processes)


def children(pid: int):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return map(int, file.read().split())


@pytest.mark.long
def test_all_our_tasks_hold(fumehood):
    """The default variant of each task that is installed: `micro`, and the games."""
    listed = fumehood("task", "list", "--json").stdout.splitlines()
    names = [json.loads(line)["task"] for line in listed]
    assert len(names) >= 10 and (ROOT / "tasks" / names[0]).is_dir()
    child = fumehood.start(
        *("task", "check", "--run", "--jobs", "2", "--json", *names),
        stdout=subprocess.PIPE,
        text=True,
    )
    out, _ = child.communicate(timeout=LONG_S)
    sys.stdout.write(out)
    found = [json.loads(line) for line in out.splitlines()]
    assert [report["task"] for report in found] == names
    assert [report["task"] for report in found if not report["ok"]] == []
    assert child.returncode == 0
