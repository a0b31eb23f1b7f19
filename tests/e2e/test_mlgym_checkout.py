# SPDX-License-Identifier: Apache-2.0
"""Messages about wrong checkouts of MLGym: their folder, their keys, missing packages."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from test_mlgym_root import CHECKOUT


@pytest.mark.parametrize("name", ["--mlgym-root", "MLGYM_CONFIG_ROOT", "MLGYM_TASK_CONFIG_DIR"])
@pytest.mark.parametrize("folder", ["nowhere", "README.md", "data", "configs/agents"])
def test_what_is_no_checkout_is_an_error(fumehood, name, folder):
    """Our own task of the same name is not played instead."""
    words = ("--mlgym-root", CHECKOUT / folder) if name.startswith("--") else ()
    if not words:
        fumehood.env[name] = str(CHECKOUT / folder)
        name = f"${name}"
    why = "No such file" if folder == "nowhere" else "is not a checkout of MLGym: it has no task"
    commands = [("run", "--task"), ("env", "--task"), ("task", "show"), ("task", "check")]
    for command in [*(c + ("battleOfSexes",) for c in commands), ("task", "list")]:
        said = fumehood(*command, *words, status=2, input="").stderr
        assert said.startswith(f"fumehood: {name}: '{CHECKOUT / folder}'") and why in said
        assert "--mlgym-root '' uses no checkout" in said and said.count("\n") == 1
    assert fumehood("task", "list", "--mlgym-root", "").stdout


def test_folders_of_a_checkout_are_understood(fumehood):
    for folder in ("configs", "configs/", "configs/tasks", "data/.."):
        told = fumehood("task", "list", "--mlgym-root", f"{CHECKOUT}/{folder}").stdout
        assert "coin" in told


def test_a_recording_of_mlgym_wants_its_checkout(fumehood, tmp_path):
    (done,) = fumehood.run_json("--mlgym-root", CHECKOUT, "--task", "coin", "--model", "baseline")
    alone = tmp_path / "run/coin.traj"
    alone.parent.mkdir()
    shutil.copy(done["trajectory"], alone)
    words = ("replay", "--out", fumehood.out / "again")
    for path in (alone, alone.parent):
        said = fumehood(*words, path, status=2).stderr
        assert "was recorded by MLGym" in said and "has its task 'coin'" in said
    fumehood(*words, "--mlgym-root", CHECKOUT, alone)
    assert "no task 'coin'" in fumehood(*words, "--mlgym-root", "", alone, status=2).stderr


def test_a_record_whose_checkout_is_gone(fumehood, tmp_path):
    root = tmp_path / "checkout"
    shutil.copytree(CHECKOUT, root)
    (done,) = fumehood.run_json("--mlgym-root", root, "--task", "coin", "--model", "baseline")
    root.rename(tmp_path / "moved")
    words = ("replay", "--out", fumehood.out / "again", done["trajectory"])
    assert f"the run's checkout: '{root}': No such file" in fumehood(*words, status=2).stderr
    fumehood(*words, "--mlgym-root", tmp_path / "moved")


@pytest.mark.parametrize(
    ("published", "percent"), [(0.2, "100"), (1e-9, "39999999900"), (0.400001, "0.00025")]
)
def test_percentages_have_no_exponent(fumehood, copy, published, percent):
    path = copy / "configs/tasks/coin.yaml"
    path.write_text(path.read_text().replace("Score: 0.4", f"Score: {published:f}"))
    path.write_text(path.read_text().replace("Score: 0.000000", f"Score: {published}"))
    told = fumehood("task", "check", "--run", "--mlgym-root", copy, "coin").stdout
    assert f" ({percent}% " in told and "e+" not in told


def test_an_integer_of_any_size_is_a_score(fumehood, copy):
    path = copy / "data/coin/evaluate.py"
    path.write_text(path.read_text().replace("right / 10", "10**23"))
    words = ("--mlgym-root", copy, "--task", "coin", "--model", "baseline")
    told = fumehood("task", "check", "--run", *words[:2], "coin").stdout
    assert "baseline: Score 1e+23, Errors 6 (" in told
    (done,) = fumehood.run_json(*words)
    assert done["best"] == {"Score": 1e23, "Errors": 6}
    path.write_text(path.read_text().replace("10**23", "10**400"))
    (done,) = fumehood.run_json(*words)
    assert "Score" not in str(done["scores"])


def test_check_plays_the_baseline(fumehood, tmp_path):
    """`task check --run` runs the baseline, and compares its score with the published one."""
    words = ("task", "check", "--run", "--mlgym-root", CHECKOUT)
    told = fumehood(*words, "coin", "rows", "model").stdout
    for line in (
        "published: Score 0.4, Errors 6\n  baseline: Score 0.4, Errors 6 (equal to published)",
        "published: Accuracy 0.5, loss 0.25\n  baseline: accuracy 0.5 (equal to published)",
        "published: val_loss 4\n  baseline: val_loss 0.416667 (90% better than published)",
    ):
        assert line in told
    played = json.loads(fumehood(*words, "--json", "coin").stdout)["played"]
    assert played["published"] == played["baseline"] == {"Score": 0.4, "Errors": 6}
    assert played["compared"] == "equal to published"
    root = tmp_path / "checkout"
    shutil.copytree(CHECKOUT, root)
    (root / "data/rows/baseline.py").write_text("import no_such_thing")
    told = fumehood(*words[:-1], root, "rows", status=1).stdout
    path = root / "configs/tasks/coin.yaml"
    path.write_text(path.read_text().replace("baseline_paths:", "other:"))
    without = fumehood(*words[:-1], root, "coin").stdout
    assert "Errors 6\n  note: the baseline is not played: no 'baseline_paths' name" in without
    assert "FAIL rows" in told and "published: Accuracy 0.5" in told
    assert (
        "problem: the baseline: `python3 baseline.py` needs the Python module 'no_such_thing'"
        in told
    )


def test_what_programs_import_is_looked_for(fumehood, tmp_path):
    """Missing imports of evaluators and starter code are reported before a run."""
    root = tmp_path / "checkout"
    shutil.copytree(CHECKOUT, root)
    folder = root / "data/rows"
    evaluator = (folder / "evaluate.py").read_text()
    words = ["--mlgym-root", root, "--task", "rows"]
    lacks = "which the Python of its episodes lacks (--python ENV "
    (folder / "baseline.py").write_text("import no_such_starter, json\n")
    done = fumehood.run(*words, "--runs", 2, "--model", fumehood.actions("true", "submit"))
    said = f"rowsOfNumbers: its starter code imports no_such_starter, {lacks}"
    assert done.stderr.count(said) == 1
    (folder / "evaluate.py").write_text(f"import sklearn9, yaml9\n{evaluator}")
    said = f"rowsOfNumbers can't be scored: its evaluator imports sklearn9, yaml9, {lacks}"
    shutil.rmtree(fumehood.out)
    several = ["--mlgym-root", root, "--task", "coin,rows"]
    done = fumehood.run(*several, "--model", fumehood.actions("submit"), status=1)
    assert said in done.stderr and "begun" not in done.stderr and not done.stdout
    assert not list(fumehood.out.glob("*/*.traj"))
    assert said in fumehood("env", *words, status=1, input="").stderr
    assert said in fumehood("task", "check", "--run", *words[:2], "rows", status=1).stdout
    env = tmp_path / "env"
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", env], check=True)
    (site,) = env.glob("lib/python3*/site-packages")
    for name in ("sklearn9", "yaml9", "no_such_starter"):
        (site / f"{name}.py").touch()
    bind = f"{env}:/home/agent/miniconda3/envs/mlgym_generic"
    done = fumehood.run(*words, "--bind", bind, "--model", fumehood.actions("true", "submit"))
    assert "imports" not in done.stderr


def test_check_with_a_python(fumehood, tmp_path):
    """`task check --python` looks for imports and packages there, and runs programs with it."""
    root = tmp_path / "checkout"
    shutil.copytree(CHECKOUT, root)
    folder, model = root / "data/rows", root / "data/model"
    for name, module in (("evaluate.py", "sklearn9"), ("baseline.py", "yaml9")):
        (folder / name).write_text(f"import {module}\n" + (folder / name).read_text())
    (model / "requirements.txt").write_text("Only.Here>=1\nnowhere9\n")
    env = tmp_path / "env"
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", env], check=True)
    (site,) = env.glob("lib/python3*/site-packages")
    (site / "only_here-1.0.dist-info").mkdir()
    words = ("task", "check", "--mlgym-root", root)
    lacks = "which the Python of its episodes lacks"
    told = fumehood(*words, "--python", env, "rows", status=1).stdout
    assert (
        f"problem: rowsOfNumbers can't be scored: its evaluator imports sklearn9, {lacks}" in told
    )
    (site / "sklearn9.py").touch()
    told = fumehood(*words, "--python", env, "rows").stdout
    assert f"note: rowsOfNumbers: its starter code imports yaml9, {lacks}" in told
    assert "baseline" not in told.replace("baseline.py", "")
    notes = json.loads(fumehood(*words, "--python", f"{env}:rw", "--json", "rows").stdout)["notes"]
    assert any("yaml9" in note for note in notes)
    assert (
        "needs the Python module 'yaml9'"
        in fumehood(*words, "--run", "--python", env, "rows", status=1).stdout
    )
    (site / "yaml9.py").write_text("open('/tmp/yaml9', 'w').write('run')\n")
    for spec in (env, f"{env}:rw"):
        told = fumehood(*words, "--run", "--python", spec, "rows").stdout
        assert "baseline: accuracy 0.5 (equal to published)" in told and "yaml9" not in told
    assert "imports" not in fumehood(*words, "--python", env, "rows").stdout
    told = fumehood(*words, "--python", env, "model").stdout
    assert f"note: {env} lacks nowhere9 of requirements.txt\n" in told
    told = fumehood(*words, "model").stdout
    assert "note: this machine's Python lacks Only.Here, nowhere9 of requirements.txt\n" in told
    for wrong in (f"{env}:rx", tmp_path, tmp_path / "none"):
        done = fumehood(*words, "--python", wrong, "rows", status=2)
        assert done.stderr.count("\n") == 1 and "Python environment" in done.stderr


def test_keys_that_nobody_knows(fumehood, copy):
    path = copy / "configs/tasks/coin.yaml"
    path.write_text(path.read_text() + "trainig_timeout: 5\n")
    words = ["--mlgym-root", copy, "--task", "coin", "--runs", 2]
    lines = fumehood.run(*words, "--model", fumehood.actions("submit")).stderr.splitlines()
    said = [line for line in lines if "unknown key" in line]
    last = len(path.read_text().splitlines())
    assert said == [
        f"fumehood: {path}:21:1: key 'some_new_key': unknown key of task, ignored",
        f"fumehood: {path}:{last}:1: key 'trainig_timeout': unknown key; "
        "did you mean 'training_timeout'?",
    ]


@pytest.mark.parametrize(
    ("key", "typed"),
    [
        ("evaluation_paths", "evaluation_pathes"),
        ("baseline_scores", "baseline_scors"),
        ("name", "nam"),
    ],
)
def test_a_mistyped_key_that_breaks_its_task(fumehood, copy, key, typed):
    path = copy / "configs/tasks/coin.yaml"
    lines = path.read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(f"{key}:"))
    lines[at] = lines[at].replace(key, typed)
    path.write_text("\n".join(lines) + "\n")
    said = f"{path}:{at + 1}:1: key '{typed}': unknown key; did you mean '{key}'?"
    words = ("--mlgym-root", copy)
    told = fumehood("run", *words, "--task", "coin", status=2).stderr
    assert told.count(said) == 1 and told.startswith(f"fumehood: {path}:1:1: ")
    told = fumehood("task", "check", *words, "coin", status=2).stdout
    assert told.count(said) == 1


def test_mistyped_keys_of_other_files(fumehood, copy):
    """Each command warns of unknown keys of data sets, agents, and variants that are not played."""
    task = copy / "configs/tasks/rows.yaml"
    last = len(task.read_text().splitlines())
    task.write_text(task.read_text() + "variants:\n  small:\n    max_step: 3\n")
    data, agent = copy / "configs/datasets/rows.yaml", copy / "configs/agents/tiny.yaml"
    data.write_text("desciption: x\n" + data.read_text())
    agent.write_text("history_procesor: x\n" + agent.read_text())
    root = ("--mlgym-root", copy)
    of_task = [
        f"{task}:{last + 3}:5: key 'max_step': unknown key; did you mean 'max_steps'?",
        f"{data}:1:1: key 'desciption': unknown key; did you mean 'description'?",
    ]
    of_agent = f"{agent}:1:1: key 'history_procesor': unknown key; did you mean 'history_processor'"
    words = ("--task", "rows", "--model", "baseline", "--agent", "configs/agents/tiny.yaml")
    done = fumehood.run(*root, *words, "--model", fumehood.actions("submit"))
    (traj,) = fumehood.out.glob("baseline*/*.traj")
    again = ("replay", *root, *words[4:], "--out", fumehood.out / "again", traj)
    for told in (done.stderr, fumehood(*again).stderr):
        assert all(told.count(said) == 1 for said in (*of_task, of_agent))
    told = fumehood("env", *root, *words[:2], input="").stderr
    assert all(told.count(said) == 1 for said in of_task)
    told = fumehood("task", "check", *root, "rows").stdout
    assert all(told.count(said) == 1 for said in of_task)


@pytest.mark.parametrize(
    ("had", "has", "said"),
    [
        ("name:", "nam:", ":1:1: task: key 'name' is missing"),
        ("id: coin", "id: coin\ngrader: {submision: a, kind: 7}", ":2:30: 'kind': expected one of"),
        ("id: coin", "id: coin\nlimits: 7", ":2:9: 'limits': expected a mapping"),
        ("id: coin", "id: coin\nmetric:\n  direction: up", ":3:14: 'direction': expected one of"),
    ],
)
def test_positions_are_of_the_file(fumehood, copy, had, has, said):
    path = copy / "configs/tasks/coin.yaml"
    lines = path.read_text().splitlines()
    first = [line for line in lines if line.startswith("id:")]
    text = "\n".join(first + [line for line in lines if line not in first]) + "\n"
    assert had in text
    path.write_text(text.replace(had, has, 1))
    told = fumehood.run("--mlgym-root", copy, "--task", path, status=2).stderr
    assert f"{path}{said}" in told


def test_a_command_file_that_is_not_there(fumehood, copy):
    path = copy / "configs/agents/tiny.yaml"
    text = path.read_text()
    at = next(i for i, line in enumerate(text.splitlines(), 1) if "tools/look.sh" in line)
    (copy / "tools/look.sh").unlink()
    words = ["--mlgym-root", copy, "--task", "coin", "--model", "openai:m", "--api-key", "k"]
    told = fumehood.run(*words, "--agent", path, status=2).stderr
    assert f"{path}:{at}:" in told and "command_files: open" in told


def test_tasks_are_named_by_files_from_any_folder(fumehood):
    for path in (
        "configs/tasks/coin.yaml",
        "tasks/coin.yaml",
        CHECKOUT / "configs/tasks/coin.yaml",
    ):
        told = fumehood.run("--mlgym-root", CHECKOUT, "--task_config_path", path).stderr
        assert "is played" not in told
    words = ["--mlgym-root", CHECKOUT, "--task_config_path", "tasks/battleOfSexes.yaml"]
    # Fumehood's own battleOfSexes must not be played in place of the missing file.
    assert "No such file" in fumehood.run(*words, status=2).stderr
    told = fumehood("task", "show", "--mlgym-root", CHECKOUT, "zzzzzz", status=2).stderr
    names = told.split("there are: ")[1].strip().split(", ")
    assert "coin" in names and len(names) == len(set(names))


def test_a_file_of_a_checkout_says_which(fumehood, copy):
    """A task's file identifies its checkout. Our own tasks are not played instead."""
    path = copy / "configs/tasks/coin.yaml"
    (done,) = fumehood.run_json("--task_config_path", path, "--model", "baseline")
    args = yaml.safe_load((Path(done["trajectory"]).parent / "args.yaml").read_text())
    assert done["task"] == "coin" and args["environment"]["mlgym_root"] == str(copy)
    told = fumehood.run("--mlgym-root", "", "--task_config_path", path, status=2).stderr
    assert f"is a task of the checkout '{copy}'" in told
    told = fumehood.run("--task", path, status=2).stderr
    assert "is a file: give the task's folder" in told


@pytest.mark.parametrize("root", [(), ("--mlgym-root", "")])
def test_a_task_of_ours_for_a_file_that_is_not_there(fumehood, root):
    """MLGym's command lines work without a checkout. A warning names our task that is played."""
    path = "configs/tasks/battleOfSexes.yaml"
    words = [*root, "--task_config_path", path, "--model", fumehood.actions("submit")]
    said = f"there is no file '{path}' here: Fumehood's own task 'battleOfSexes' is played"
    told = fumehood.run(*words).stderr
    assert told.count(said) == 1 and "--mlgym-root DIR names a checkout" in told
    words[-3] = "configs/tasks/battleOfSxes.yaml"
    told = fumehood.run(*words, status=2).stderr
    assert "is played" not in told and "did you mean 'battleOfSexes'?" in told


def test_a_checkout_without_a_task(fumehood, tmp_path):
    (tmp_path / "fake/configs/tasks").mkdir(parents=True)
    (tmp_path / "fake/configs/tasks/README.md").touch()
    words = ("run", "--mlgym-root", tmp_path / "fake", "--task", "battleOfSexes")
    said = "is not a checkout of MLGym: it has no task, configs/tasks/*.yaml"
    assert said in fumehood(*words, status=2).stderr


def test_a_task_of_ours_that_a_checkout_lacks(fumehood):
    root = ("--mlgym-root", CHECKOUT)
    said = (
        f"the checkout '{CHECKOUT}' has no task 'battleOfSexes': Fumehood's own task of that name"
    )
    words = (*root, "--task", "battleOfSexes")
    done = fumehood.run(*words, "--model", fumehood.actions("submit"))
    assert done.stderr.count(said) == 1
    (traj,) = fumehood.out.glob("*/*.traj")
    again = fumehood("replay", *root, "--out", fumehood.out / "again", traj)
    assert again.stderr.count(said) == 1
    assert fumehood("env", *words, input="").stderr.count(said) == 1
    assert f"note: {said}" in fumehood("task", "check", *root, "battleOfSexes").stdout


@pytest.mark.parametrize("model", ["baseline", "human", "actions"])
def test_tools_that_no_agent_has(fumehood, model):
    model = fumehood.actions("submit") if model == "actions" else model
    words = ("--mlgym-root", CHECKOUT, "--task", "coin", "--model", model)
    told = fumehood.run(*words, "--tools", "original", status=2).stderr
    assert told.count("\n") == 1 and "--tools original needs a language model" in told
    if model == "human":
        return
    fumehood.run(*words, "--tools", "own")
    (traj,) = fumehood.out.glob("*/*.traj")
    again = ("replay", *words[:2], "--tools", "original", "--out", fumehood.out / "again", traj)
    told = fumehood(*again, status=2).stderr
    assert "is played without an agent's commands (--agent gives them)" in told
    fumehood(*again, "--agent", "configs/agents/tiny.yaml")


def test_a_mistyped_task_of_a_replay_is_named_once(fumehood):
    fumehood.run("--task", "rows", "--model", fumehood.actions("submit"))
    (traj,) = fumehood.out.glob("*/*.traj")
    told = fumehood("replay", "--task", "titanik", traj, status=2).stderr
    assert told == "fumehood: no task 'titanik'; did you mean 'titanic'?\n"


@pytest.mark.parametrize("path", ["/nowhere/rows.yaml", "../../rows.yaml", "other/rows.yaml"])
def test_a_file_that_is_not_there(fumehood, path):
    told = fumehood.run("--task_config_path", path, status=2).stderr
    assert told == f"fumehood: --task_config_path: open '{path}': No such file or directory\n"


def test_links_that_lead_nowhere_are_no_tasks(fumehood, copy):
    (copy / "configs/tasks/cowns.yaml").symlink_to("nowhere.yaml")
    root = ("--mlgym-root", copy)
    assert "cowns" not in fumehood("task", "list", *root).stdout
    for typed in ("cown", "cowns"):
        assert "did you mean 'coin'" in fumehood("task", "show", *root, typed, status=2).stderr


def test_options_that_can_not_be_honoured(fumehood, tmp_path):
    words = ["--task", "rows", "--model", "baseline", "--agent", "nope.yaml"]
    assert "'nope.yaml': No such file" in fumehood.run(*words, status=2).stderr


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("--prices", "nowhere.json", "'nowhere.json': No such file"),
        ("--prices", "wrong.json", "wrong.json:1:"),
        ("--completion-kwargs", "{seed: 1}", "--completion-kwargs:1:"),
        ("--completion-kwargs", "[1]", "expected a JSON object"),
        ("--api-version", "a b", "not a version of an API"),
    ],
)
def test_options_of_language_models_are_checked(fumehood, tmp_path, name, value, why):
    """Options of language models are checked even if no language model plays."""
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"m": {"input": 1}}')
    value = str(wrong) if value == wrong.name else value
    for model in ("baseline", f"actions:{tmp_path / 'actions'}"):
        words = ("--task", "rows", "--model", model, name, value)
        assert why in fumehood.run(*words, status=2).stderr


def test_all_leaves_out_what_has_no_baseline(fumehood, copy):
    task = yaml.safe_load((copy / "configs/tasks/coin.yaml").read_text())
    task |= {"id": "plain", "baseline_paths": []}
    (copy / "configs/tasks/plain.yaml").write_text(yaml.safe_dump(task))
    for path in (copy / "configs/tasks").glob("*.yaml"):
        if path.stem not in ("coin", "plain"):
            path.unlink()
    words = ["--mlgym-root", copy, "--task", "all", "--model", "baseline", "--json"]
    done = fumehood.run(*words)
    assert [json.loads(line)["task"] for line in done.stdout.splitlines()] == ["coin"]
    assert "plain is left out for baseline: the task 'plain' has no baseline" in done.stderr
