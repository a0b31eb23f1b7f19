# SPDX-License-Identifier: Apache-2.0
"""Output for programs: the exit status of each kind of error, and the lines of --json."""

import json
import os

import pytest
from conftest import TASKS

BAD = [
    "run",
    "run --no-such-option",
    "run --task none",
    "run --task tasks/rows --model none",
    "run --task tasks/rows --model actions:none",
    "run --task tasks/rows --agent none",
    "run --task tasks/rows --bind none",
    "run --task tasks/rows --python none",
    "run --task tasks/rows --gpus x",
    "run --resume none",
    "env",
    "env --task none",
    "env --task tasks/rows --bind none",
    "show none",
    "show --step 999 record",
    "replay none",
    "replay --task none record",
    "export none",
    "task list --tasks-dir none",
    "task show none",
    "task check none",
    "task check --python none tasks/rows",
    "task new a/b",
    "config docs none",
    "bench --only none",
    "help none",
    "help --man tasks/rows/task.yaml",
    "none",
    "sandbox none",
]


@pytest.fixture
def here(fumehood):
    (fumehood.folder / "tasks").symlink_to(TASKS)
    actions = fumehood.actions("ls", "submit")
    (done,) = fumehood.run_json("--task", "rows", "--model", actions)
    os.symlink(os.path.dirname(done["trajectory"]), fumehood.folder / "record")
    return fumehood


def test_bad_input_is_2(here):
    for words in BAD:
        done = here(*words.split(), status=None, input="")
        assert done.returncode == 2, (words, done.stderr)
        assert any(s.startswith("fumehood: ") for s in done.stderr.splitlines()), done.stderr
        # env tells its client too.
        told = '{"error":{"code":"not_opened",' if words.startswith("env --task") else ""
        assert done.stdout.startswith(told) and bool(told) == bool(done.stdout), words


def test_missing_data_is_1(here):
    """Missing data is not a fault of the task or the command line, so that the exit status is 1."""
    for words in ("run --model baseline --task", "env --task", "task check", "task check --run"):
        done = here(*words.split(), "tasks/large", status=1, input="")
        told = done.stderr if words.startswith("env") else done.stdout + done.stderr
        assert told.count("data set 'large' lacks large.bin in ") == 1


def test_a_failure_at_run_time_is_1(here):
    with open("/dev/full", "w") as full:
        for words in ("task list", "show record", "run --task tasks/rows"):
            child = here.start(*words.split(), stdout=full)
            assert child.wait() == 1, words
    traj = here.folder / "record/rows.traj"
    record = json.loads(traj.read_text())
    record["trajectory"][0]["observation"] += "more"
    traj.write_text(json.dumps(record))
    assert (
        "1 different" in here("replay", "--compare", traj, "--task", "tasks/rows", status=1).stdout
    )


def test_a_sandbox_has_its_own(here):
    for words in ("exec --none -- true", "exec --bind none -- true", "shell --none"):
        here("sandbox", *words.split(), status=125)


@pytest.mark.parametrize(
    ("words", "n", "key"),
    [
        ("run --task tasks/rows,tasks/words --model baseline", 2, "task"),
        ("show record", 1, "run"),
        ("replay record record", 2, "run"),
        ("export record record/events.jsonl", 2, "run"),
        ("task list", None, "task"),
        ("task show tasks/rows", 1, "task"),
        ("task check tasks/rows tasks/words", 2, "task"),
        ("task new mine --tasks-dir .", 1, "folder"),
        ("config docs", None, "keys"),
        ("sandbox gc", 1, "removed"),
        ("doctor", 1, "checks"),
        ("bench --only step -n 2", 1, "results"),
        ("help", 1, "commands"),
    ],
)
def test_each_line_of_json_is_an_object(here, words, n, key):
    done = here(*words.split(), "--json", status=None)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines and (n is None or len(lines) == n), done.stderr
    assert all(key in line and "error" not in line for line in lines)


def test_sandboxes_are_a_line_each(fumehood, door):
    lines = map(json.loads, fumehood("sandbox", "ps", "--json").stdout.splitlines())
    assert door.child.pid in [line["owner"] for line in lines]


@pytest.mark.parametrize("words", ["replay none record", "export none record"])
def test_a_subject_that_failed_has_its_line(here, words):
    done = here(*words.split(), "--json", status=2)
    failed, good = map(json.loads, done.stdout.splitlines())
    assert failed["run"] == "none" and failed["error"] in done.stderr
    assert good["run"] == "record" and "error" not in good


@pytest.mark.parametrize(
    ("words", "key", "name"),
    [
        ("show none", "run", "none"),
        ("show --step 999 record", "run", "record"),
        ("task show none", "task", "none"),
        ("task show titanicSurvival:none", "task", "titanicSurvival:none"),
        ("task check none", "task", "none"),
        ("task new tasks --tasks-dir .", "folder", "./tasks"),
        ("config docs none", "name", "none"),
        ("help none", "name", "none"),
        ("help task none", "name", "none"),
    ],
)
def test_a_failed_subject_has_its_name_and_error(here, words, key, name):
    done = here(*words.split(), "--json", status=2)
    line = json.loads(done.stdout)
    assert list(line) == [key, "error"] and line[key] == name
    assert f"fumehood: {line['error']}\n" in done.stderr


def test_a_check_goes_on_after_a_missing_task(here):
    done = here("task", "check", "none", "tasks/rows", "--json", status=2)
    failed, good = map(json.loads, done.stdout.splitlines())
    assert failed["task"] == "none" and good["task"] == "tasks/rows" and good["ok"]


def test_help_is_of_the_named_command(here):
    line = json.loads(here("help", "task", "show", "--json").stdout)
    assert line["name"] == "show" and line["arguments"] == "T[:V]"


@pytest.mark.parametrize(("task", "variant"), [("rows", "full"), ("rows:quick", "quick")])
def test_a_task_and_its_variant_have_one_shape(here, task, variant):
    words = ["--task", f"tasks/{task}", "--model", here.actions("submit")]
    (run,) = here.run_json(*words)
    lines = [
        run,
        json.loads(here("replay", run["trajectory"], "--json").stdout),
        json.loads(here("task", "show", f"tasks/{task}", "--json").stdout),
    ]
    assert [line["variant"] for line in lines] == [variant] * 3
    assert all(line["task"].endswith("rows") for line in lines)
