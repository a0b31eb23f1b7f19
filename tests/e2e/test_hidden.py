# SPDX-License-Identifier: Apache-2.0
"""Hidden files stay hidden from agents, also in bound and listed folders."""

import json
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from conftest import TASKS


@pytest.mark.parametrize("what", ["", "grader", "grader/answers.csv", "solution/solve.py", "/"])
def test_a_bind_of_what_is_hidden_is_refused(fumehood, what):
    fumehood("task", "new", "mine")
    source = what if what == "/" else fumehood.folder / "mine" / what
    done = fumehood("run", "--task", "./mine", "--bind", f"{source}:/x", status=2)
    assert "the agent could read hidden files in '/" in done.stderr


def test_a_bind_of_what_is_not_hidden_is_not(fumehood):
    fumehood("task", "new", "mine")
    source = fumehood.folder / "mine" / "starter"
    fumehood("run", "--task", "./mine", "--bind", f"{source}:/x")


@pytest.mark.parametrize("spelt", ["real", "link"])
@pytest.mark.parametrize("what", ["", "judge.key", "data", "titanic-micro/*/answers.csv"])
def test_a_bind_of_the_state(fumehood, spelt, what):
    """A bind of hidden files of the state folder is refused, also by links."""
    real = fumehood.folder / "real"
    real.mkdir()
    (fumehood.folder / "link").symlink_to("real")
    fumehood.env["FUMEHOOD_STATE"] = str(fumehood.folder / spelt)
    words = ("run", "--task", "titanicSurvival:micro", "--model", "baseline")
    fumehood(*words, "--out", fumehood.out)
    (source,) = real.glob(f"**/{what}") if "*" in what else [real / what]
    for path in (source, fumehood.folder / "link" / source.relative_to(real)):
        done = fumehood(*words, "--bind", f"{path}:/x", status=2)
        assert "the agent could read hidden files in '/" in done.stderr
    # An untrusted task's own `bind` must be refused too if it shows hidden files.
    fumehood("task", "new", "mine")
    with (fumehood.folder / "mine/task.yaml").open("a") as out:
        out.write(f"sandbox: {{bind: ['{source}:/x']}}\n")
    done = fumehood("run", "--task", "./mine", "--model", "baseline", status=2)
    assert "the agent could read hidden files in '/" in done.stderr


# --- hidden files beneath a path that agents can read ---------------------------------------------


@pytest.fixture
def seen():
    """A folder that agents see."""
    if os.geteuid() != 0:
        pytest.skip("only root may write in /opt, which sandboxes see")
    folder = Path(tempfile.mkdtemp(prefix="fumehood-test-", dir="/opt"))
    folder.chmod(0o755)
    (folder / "plain").write_text("seen")
    yield folder
    shutil.rmtree(folder)


def looks(fumehood, script, *args) -> str:
    """Observation of a script in the second episode of a `fumehood env`."""
    asked = [{"op": "reset"}, {"op": "reset"}, {"op": "step", "action": script}]
    lines = "".join(json.dumps(line) + "\n" for line in asked)
    done = fumehood("env", *args, input=lines)
    return json.loads(done.stdout.splitlines()[-1])["observation"]


# Run these tests one after the other: `task check` finds equal answers in other tests' new tasks.
NEW_TASKS = pytest.mark.xdist_group("new tasks in /opt")


@NEW_TASKS
def test_the_folder_of_a_task_that_is_named_by_its_path(fumehood, seen):
    fumehood("task", "new", "mine", "--tasks-dir", seen)
    (fumehood.folder / "link").symlink_to(seen / "mine")
    for name in (seen / "mine", "./link"):
        found = looks(fumehood, f"ls {seen}; cat {seen}/mine/grader/* | wc -c", "--task", name)
        assert "mine\nplain\n" in found and "Permission denied" in found and "\n0\n" in found
    assert "ok " in fumehood("task", "check", "--run", seen / "mine").stdout


def test_records(fumehood, seen):
    words = ["--tasks-dir", TASKS, "--task", "rows", "--out", seen / "runs"]
    fumehood("run", *words)
    assert list(seen.glob("runs/*/events.jsonl"))
    found = looks(fumehood, f"ls {seen}; ls -R {seen}/runs", *words)
    assert "plain\nruns\n" in found and "Permission denied" in found and "events" not in found


@NEW_TASKS
def test_records_and_tasks_that_come_while_others_play(fumehood, seen):
    for name in ("a", "b"):
        fumehood("task", "new", name, "--tasks-dir", seen)
    script = f"cat {seen}/plain {seen}/*/grader/* {seen}/runs/*/*; ls {seen}; submit"
    words = ["--task", f"{seen}/a,{seen}/b", "--runs", "2", "--out", seen / "runs", "--json"]
    done = fumehood("run", *words, "--model", fumehood.actions(script))
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [Path(r["task"]).name for r in results] == ["a", "a", "b", "b"]
    for result in results:
        assert result["exit_status"].startswith("submission_not_found")
        observations = [
            step["observation"]
            for step in json.loads(Path(result["trajectory"]).read_text())["trajectory"]
        ]
        assert "seen" in observations[0] and "id," not in observations[0]
        assert '"event"' not in observations[0] and "runs" in observations[0]


def test_what_sandboxes_need_is_not_hidden(fumehood):
    done = fumehood("run", "--task", "battleOfSexes", "--tasks-dir", "/usr", status=2)
    assert "'/usr' can't be hidden from agents" in done.stderr
