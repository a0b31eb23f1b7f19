# SPDX-License-Identifier: Apache-2.0
"""Many runs: models with tasks, what is there already, what broke, and the spread of scores."""

import json
import shutil

import pytest
from conftest import TASKS
from test_agent import act, serve  # noqa: F401


def run(fumehood, *args, status=0):
    done = fumehood("run", "--tasks-dir", TASKS, "--out", fumehood.out, *args, status=status)
    return done.stdout, done.stderr


def results(fumehood, *args, status=0):
    out, _ = run(fumehood, "--json", "-q", *args, status=status)
    return [json.loads(line) for line in out.splitlines()]


def test_each_model_plays_each_task(fumehood):
    found = results(
        fumehood,
        "--task",
        "titanic:micro,battleOfSexes",
        "--model",
        "baseline,demo",
        "--runs",
        2,
        "--jobs",
        4,
    )
    assert [(r["task"], r["model"], r["seed"]) for r in found] == [
        (task, model, seed)
        for task in ("titanic", "battleOfSexes")
        for model in ("baseline", "demo")
        for seed in (0, 1)
    ]


def test_a_wrong_model_among_others_is_refused_before_anything_runs(fumehood):
    _, err = run(fumehood, "--task", "rows", "--model", "baseline,parrot", status=2)
    assert "no model 'parrot'" in err and not fumehood.out.exists()


def test_all_tasks(fumehood):
    found = results(fumehood, "--task", "all", "--model", "baseline")
    assert {"battleOfSexes", "titanic", "rows"} <= {r["task"] for r in found}


def test_what_is_there_is_not_done_again(fumehood):
    args = ("--task", "titanic:micro", "--model", "baseline,demo", "--skip-existing")
    assert len(results(fumehood, *args, "--runs", 2)) == 4
    assert results(fumehood, *args, "--runs", 2) == []
    more = results(fumehood, *args, "--runs", 3)
    assert [(r["model"], r["seed"]) for r in more] == [("baseline", 2), ("demo", 2)]
    shutil.rmtree(next(fumehood.out.glob("demo__*_run_1")))
    assert [r["model"] for r in results(fumehood, *args, "--runs", 3)] == ["demo"]
    assert len(results(fumehood, *args, "--suffix", "new", "--runs", 1)) == 2


@pytest.fixture
def broken(fumehood):
    """A task whose baseline can't be played, so that its episodes break."""
    folder = fumehood.folder / "tasks"
    shutil.copytree(TASKS / "rows", folder / "broken")
    path = folder / "broken" / "task.yaml"
    lines = [x for x in path.read_text().splitlines() if not x.startswith(("baseline", "id:"))]
    path.write_text("\n".join([*lines, "baseline: echo again >&2; exit 3", ""]))
    return folder


def test_what_broke_is_begun_again(fumehood, broken):
    args = ("run", "--task", "broken", "--tasks-dir", broken, "--out", fumehood.out)
    once = fumehood(*args, status=1).stderr
    assert "once more" not in once
    thrice = fumehood(*args, "--retry-failed", 2, status=1)
    assert thrice.stderr.count("once more: ") == 2
    assert json.loads(fumehood(*args, "--json", "-q", "--retry-failed", 1, status=1).stdout)[
        "error"
    ]


def test_spread(fumehood, serve):  # noqa: F811
    server = serve([act("ls"), act("submit")])
    prices = fumehood.folder / "prices.json"
    prices.write_text('{"m": {"input": 100, "output": 0}}')
    fumehood.env["OPENAI_API_KEY"] = "k"
    out, _ = run(
        fumehood,
        *(
            "--task",
            "rows",
            "--model",
            "baseline,openai:m",
            "--runs",
            2,
            "--url",
            server.url + "/v1",
        ),
        *("--prices", prices),
    )
    lines = [line.split() for line in out.splitlines()]
    at = lines.index(["Task", "Model", "Runs", "Baseline", "Mean", "Std", "Best", "Cost"])
    assert lines[at + 1][:3] == ["rows", "baseline", "2"]
    assert lines[at + 2][1] == "openai:m" and lines[at + 2][-1] == "$0.0400"
    assert "Model" not in run(fumehood, "--task", "rows")[0]
