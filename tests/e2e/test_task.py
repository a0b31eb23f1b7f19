# SPDX-License-Identifier: Apache-2.0
"""fumehood task and fumehood config: list, show, check and make tasks; describe keys."""

import json
import os
import re

import pytest
import yaml
from conftest import ROOT, TASKS

OUR_TASKS = ROOT / "tasks"


def test_list(fumehood):
    lines = fumehood("task", "list").stdout.splitlines()
    assert lines[0].split() == ["task", "variants", "metric", "name"]
    titanic = next(line for line in lines if line.startswith("titanicSurvival "))
    assert "micro, full" in titanic and "accuracy, more is better" in titanic


def test_list_as_json(fumehood):
    done = fumehood("task", "list", "--tasks-dir", TASKS, "--json")
    tasks = {task["task"]: task for task in map(json.loads, done.stdout.splitlines())}
    assert {"titanicSurvival", "battleOfSexes", "guess", "rows", "words"} <= set(tasks)
    assert "titanic" not in tasks
    assert tasks["words"]["direction"] == "minimize"
    assert tasks["titanicSurvival"]["variants"] == ["micro", "full"]
    assert tasks["battleOfSexes"]["variants"] == ["full", "micro"]
    assert tasks["battleOfSexes"]["default_variant"] == "full"
    assert tasks["titanicSurvival"]["default_variant"] == "micro"
    assert tasks["rows"]["ready"] and tasks["rows"]["problem"] is None
    assert not tasks["large"]["ready"] and "lacks large.bin" in tasks["large"]["problem"]


def test_a_bad_task_is_listed_with_its_fault(fumehood):
    (fumehood.folder / "mine" / "bad").mkdir(parents=True)
    (fumehood.folder / "mine" / "bad" / "task.yaml").write_text("nmae: x\n")
    done = fumehood("task", "list", "--tasks-dir", "mine")
    assert re.search(r"^bad\b", done.stdout, re.MULTILINE)
    assert "task.yaml:1:1: key 'nmae': unknown key; did you mean 'name'?" in done.stderr


def test_show(fumehood):
    text = fumehood("task", "show", "titanic").stdout
    assert text.startswith("titanicSurvival:micro: Titanic survival\n")
    assert re.search(r"^data +data/train.csv, data/test.csv", text, re.MULTILINE)
    assert "{" not in text
    shown = json.loads(fumehood("task", "show", "titanicSurvival:micro", "--json").stdout)
    assert shown["variant"] == "micro" and shown["metric"] == "accuracy"
    assert shown["training_timeout_s"] == 60 and shown["limits"]["memory_bytes"] == 2**30
    assert "answers.csv" not in json.dumps(shown)


def test_show_tells_the_baseline_once_it_was_played(fumehood):
    fumehood.env["FUMEHOOD_STATE"] = str(fumehood.folder / "state")
    words = ("task", "show", "rows", "--tasks-dir", TASKS)
    assert json.loads(fumehood(*words, "--json").stdout)["baseline_here"] is None
    fumehood.run("--task", "rows", "--model", fumehood.actions("exit_forfeit"))
    assert json.loads(fumehood(*words, "--json").stdout)["baseline_here"] == {"accuracy": 0.5}
    assert "baseline    cp zeros.csv" in (text := fumehood(*words).stdout)
    assert ">/dev/null: accuracy 0.5\n" in text


def test_keys_are_yaml_that_says_the_same(fumehood):
    first = fumehood("task", "show", "--keys", "titanicSurvival:full").stdout
    keys = yaml.safe_load(first)
    assert keys["grader"]["answers"] == "titanic:answers.csv" and keys["max_steps"] == 50
    folder = fumehood.folder / "titanicSurvival"
    folder.mkdir()
    (folder / "task.yaml").write_text(first)
    again = yaml.safe_load(fumehood("task", "show", "--keys", "./titanicSurvival:full").stdout)
    assert again == keys


@pytest.mark.parametrize(
    ("words", "status", "complaint"),
    [
        ("show titanik", 2, "no task 'titanik'; did you mean 'titanic'?"),
        (
            "show titanicSurvival:none",
            2,
            "task 'titanicSurvival' has no variant 'none'; there are: full, micro",
        ),
        ("show cifar", 2, "no task 'cifar'; did you mean 'imageClassificationCifar10'?"),
        ("check nothing", 2, "no task 'nothing'; there are: 3SATTime, battleOfSexes, blotto, "),
        (
            "new titanic/x",
            2,
            "'titanic/x' can't be the name of a task: it may have letters, digits, '_', '-' and "
            "'.', and --tasks-dir names its folder",
        ),
        ("new --grader quiz x", 2, "quiz"),
    ],
)
def test_complaints(fumehood, words, status, complaint):
    assert complaint in fumehood("task", *words.split(), status=status).stderr


def test_show_of_what_lacks_its_data(fumehood):
    shown = fumehood("task", "show", "titanicSurvival:full").stdout
    assert "metric      accuracy, more is better" in shown
    assert "missing     data set 'titanic' lacks train.csv in " in shown
    assert "and run `fumehood data fetch titanic`" in shown
    assert "scored      submission.csv (at most 1 MiB), by a csv grader in at most 60 s\n" in shown
    assert "validates   10 at most\n" in shown and "baseline    python3 baseline.py\n" in shown
    assert "data        data/train.csv, data/test.csv" in shown
    shown = fumehood("task", "show", "naturalLanguageInferenceMNLI:full").stdout
    assert re.findall(r"^missing +data set '(\w+)'", shown, re.MULTILINE) == [
        "mnli",
        "bertBaseUncased",
    ]


@pytest.mark.parametrize("variant", ["full", "micro"])
@pytest.mark.parametrize("task", sorted(path.parent.name for path in OUR_TASKS.glob("*/task.yaml")))
def test_show_tells_all_without_data(fumehood, task, variant):
    """A fresh state has no data. All of task.yaml and of the data sets' files is shown anyway."""
    fumehood.env["FUMEHOOD_STATE"] = str(fumehood.folder / "state")
    shown = json.loads(fumehood("task", "show", f"{task}:{variant}", "--json").stdout)
    assert not re.search(r"\{(dataset_docs|training_timeout)\}", shown["description"])
    assert shown["grader"] in ("csv", "script", "duel") and shown["submission"]
    assert shown["baseline"] and shown["grading_timeout_s"] > 0 and shown["submission_bytes"] > 0
    assert shown["baseline_is_starter"] == (shown["baseline"] == "true")
    assert shown["published"]["comparable"] in (True, False) and shown["published"]["why"]
    assert shown["missing"] == [] or shown["missing"][0] == shown["problem"]
    text = fumehood("task", "show", f"{task}:{variant}").stdout
    assert re.search(
        r"^baseline +(python3 baseline\.py|the starter's \w+\.py as it is)", text, re.MULTILINE
    )
    assert text.count("\nmissing  ") == len(shown["missing"])
    assert re.search(r"^comparable +(yes|no)\. \w", text, re.MULTILINE)


@pytest.mark.parametrize("task", ["3SATTime", "battleOfSexes", "titanicSurvival", "titanic"])
def test_our_tasks_hold_together(fumehood, task):
    done = fumehood("task", "check", "--run", task)
    assert done.stdout.startswith(f"ok {task}\n") and "problem" not in done.stdout
    assert "  baseline: " in done.stdout and "  solution: " in done.stdout


@pytest.mark.parametrize("grader", ["csv", "script", "duel"])
def test_a_new_task_plays(fumehood, grader):
    assert "./mine" in fumehood("task", "new", "mine", "--grader", grader).stdout
    report = json.loads(fumehood("task", "check", "--run", "./mine", "--json").stdout)
    assert report["ok"] and report["problems"] == [] and report["notes"] == []
    scores = report["played"]
    (metric,) = scores["solution"].keys() & scores["baseline"].keys()
    assert scores["solution"][metric] != scores["baseline"][metric] and "problem" not in scores
    assert "already exists" in fumehood("task", "new", "mine", status=2).stderr


def test_new_goes_where_it_is_told(fumehood):
    (fumehood.folder / "tasks").mkdir()
    fumehood("task", "new", "one")
    fumehood("task", "new", "two", "--tasks-dir", "tasks")
    assert fumehood("task", "check", "./one", "two", "--tasks-dir", "tasks").returncode == 0


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


FAULTS = [
    ("name: Sums and signs", "nmae: Sums and signs", "did you mean 'name'", 2),
    ("[starter/]", "[starter/, grader]", "the agent would see ", 1),
    ("[starter/]", "[starter/, solution/]", "the agent would see ", 1),
    ("target: y", "target: z", "answers.csv has no column 'z'", 1),
    ("  id: id", "  id: no", "answers.csv has no column 'no'", 1),
    ("name: accuracy", "name: Score", "but the task's metric is 'Score'", 1),
    ("[baseline.py]", "[other.py]", "other.py is in neither starter_code nor", 1),
    ("name: Sums", "default_variant: nosuch\nname: Sums", "there is no variant 'nosuch'", 2),
    ("[starter/]", "[/etc/passwd]", "leads out of", 2),
]


@pytest.mark.parametrize(("old", "new", "problem", "status"), FAULTS)
def test_faults_are_found(fumehood, old, new, problem, status):
    """A task that can't be loaded gives exit status 2, as in `run`. Other faults give 1."""
    fumehood("task", "new", "mine")
    change(fumehood.folder / "mine" / "task.yaml", old, new)
    done = fumehood("task", "check", "mine/", status=status)
    assert done.stdout.startswith("FAIL ") and problem in done.stdout
    if "the agent would see" not in problem:
        (line,) = [x for x in done.stdout.splitlines() if problem in x]
        assert re.search(r"/task\.yaml:\d+:\d+: ", line)


def test_answers_of_a_header_alone_are_found(fumehood):
    fumehood("task", "new", "mine")
    answers = fumehood.folder / "mine" / "grader" / "answers.csv"
    answers.write_text(answers.read_text().splitlines()[0] + "\n")
    done = fumehood("task", "check", "mine/", status=1)
    assert re.search(
        r"problem: \S+/task\.yaml:\d+:\d+: \S+/answers\.csv has no row after its header\n",
        done.stdout,
    )


@pytest.mark.parametrize("words", ["task check ./mine", "run --task ./mine"])
def test_a_task_that_is_a_named_pipe_is_refused(fumehood, words):
    (fumehood.folder / "mine").mkdir()
    os.mkfifo(fumehood.folder / "mine" / "task.yaml")
    done = fumehood(*words.split(), status=None)
    assert done.returncode in (1, 2) and "is not a regular file" in done.stdout + done.stderr


@pytest.mark.parametrize("variant", ["small", "full"])
def test_what_has_no_demonstration_is_named(fumehood, variant):
    fumehood("task", "new", "mine")
    with (fumehood.folder / "mine" / "task.yaml").open("a") as file:
        file.write("variants: {small: {max_steps: 3}}\n")
    done = fumehood("run", "--task", f"./mine:{variant}", "--model", "demo", status=2)
    assert f"the task 'mine:{variant}' has no demonstration" in done.stderr


def test_data_is_compared(fumehood):
    fumehood("task", "new", "mine")
    folder = fumehood.folder / "mine"
    (folder / "datasets").mkdir()
    (folder / "datasets" / "more.yaml").write_text(
        "name: More\ndescription: x\nlocation: starter\n"
        "files: [{path: test.csv, sha256: " + "0" * 64 + "}]\n"
    )
    (folder / "task.yaml").write_text(
        (folder / "task.yaml").read_text() + "dataset_configs: [more]\n"
    )
    done = fumehood("task", "check", "./mine", status=1)
    assert re.search(
        r"problem: \S+/datasets/more\.yaml:4:\d+: \S+/test\.csv has sha256 [0-9a-f]{64}",
        done.stdout,
    )
    assert "note: the description has no {dataset_docs}" in done.stdout


def test_notes_do_no_harm(fumehood):
    fumehood("task", "new", "mine")
    (fumehood.folder / "mine" / "README.md").unlink()
    with (fumehood.folder / "mine" / "task.yaml").open("a") as out:
        out.write("task_entrypoint: CSVSubmissionTasks\n")
    done = fumehood("task", "check", "./mine")
    assert "note: no README.md" in done.stdout
    assert "note: 'task_entrypoint' has no effect here" in done.stdout


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("baseline_paths: [baseline.py]", 'baseline: "false"', "problem: the baseline: "),
        ("command: python3 solve.py", "command: exit 3", "problem: the solution: `exit 3` ended"),
        (
            "command: python3 solve.py",
            "command: python3 baseline.py",
            "problem: the solution: it is no better than the baseline",
        ),
    ],
)
def test_playing_finds_faults(fumehood, old, new, problem):
    fumehood("task", "new", "mine")
    change(fumehood.folder / "mine" / "task.yaml", old, new)
    fumehood("task", "check", "./mine")
    assert problem in fumehood("task", "check", "--run", "./mine", status=1).stdout


# --- `fumehood config docs`, and the page docs/tasks.md -------------------------------------------

TASKS_PAGE = ROOT / "docs" / "tasks.md"


def test_the_list_of_keys_is_what_the_program_says(fumehood):
    listed = TASKS_PAGE.read_text().split("<!-- from here on: fumehood config docs -->\n")[1]
    assert fumehood("config", "docs").stdout == listed


def test_one_struct_alone(fumehood):
    text = fumehood("config", "docs", "limits").stdout
    assert text.startswith("### limits\n") and text.count("###") == 1
    assert "there are: task, metric, " in fumehood("config", "docs", "limit", status=2).stderr


def test_keys_for_programs(fumehood):
    structs = [
        json.loads(line) for line in fumehood("config", "docs", "--json").stdout.splitlines()
    ]
    limits = next(s for s in structs if s["name"] == "limits")
    memory = next(k for k in limits["keys"] if k["name"] == "memory")
    assert (memory["takes"], memory["default"], memory["required"]) == ("size", "4G", False)
    (one,) = fumehood("config", "docs", "--json", "limits").stdout.splitlines()
    assert json.loads(one) == limits


def test_the_examples_are_tasks(fumehood):
    blocks = re.findall(r"```yaml\n(.*?)```", TASKS_PAGE.read_text(), re.DOTALL)
    tasks = [block for block in blocks if "id:" in block and "grader:" in block]
    assert len(tasks) == 2
    for text in tasks:
        name = yaml.safe_load(text)["id"]
        (fumehood.folder / name).mkdir()
        (fumehood.folder / name / "task.yaml").write_text(text)
        keys = yaml.safe_load(fumehood("task", "show", "--keys", f"./{name}").stdout)
        assert keys["id"] == name
