# SPDX-License-Identifier: Apache-2.0
# long-file: covers each use of a checkout of MLGym, and has the fixtures that build one
"""Configurations of a checkout of MLGym, used as they are.

Most tests use a checkout of ours with the same layout. Some use the one that FUMEHOOD_MLGYM names.
"""

import importlib.metadata
import json
import os
import shutil
import sys
import time
from pathlib import Path

import pytest
import yaml
from conftest import ROOT
from test_agent import Server, act

CHECKOUT = ROOT / "tests/fixtures/mlgym-root"
IDS = {"coin": "coin", "rows": "rowsOfNumbers", "model": "modelOfALine"}


def play(fumehood, task, *actions, root=CHECKOUT, **kwargs):
    """Answers of `env` to a reset and these actions."""
    lines = [{"op": "reset"}, *({"op": "step", "action": a} for a in actions), {"op": "close"}]
    done = fumehood(
        "env",
        "--mlgym-root",
        root,
        "--task",
        task,
        input="\n".join(map(json.dumps, lines)),
        **kwargs,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("task", "score"),
    [
        ("coin", {"Score": 0.4, "Errors": 6}),
        ("rows", {"accuracy": 0.5}),
        ("model", {"val_loss": 5 / 12}),
    ],
)
def test_baselines(fumehood, task, score):
    words = ["--mlgym-root", CHECKOUT, "--task_config_path", f"tasks/{task}.yaml"]
    (done,) = fumehood.run_json(*words, "--model", "baseline", "--container_type", "docker")
    assert (done["task"], done["exit_status"]) == (task, "submitted")
    assert done["scores"] == [score]
    results = json.loads((Path(done["trajectory"]).parent / "results.json").read_text())
    assert json.dumps(results["agent"]) == json.dumps([score])
    assert done["trajectory"].endswith(f"{IDS[task]}.traj")
    scored = json.loads(Path(done["trajectory"]).read_text())["info"]["submission"]
    assert scored.endswith("/target.py") == (task == "coin")


def test_arguments_that_the_original_reads(fumehood):
    """MLGym can load args.yaml, which needs a task, an agent, and the right types."""
    (done,) = fumehood.run_json("--mlgym-root", CHECKOUT, "--task", "rows", "--model", "baseline")
    args = yaml.safe_load((Path(done["trajectory"]).parent / "args.yaml").read_text())
    task, model = args["environment"]["task_config_path"], args["agent"]["model"]
    assert task == str(CHECKOUT / "configs/tasks/rows.yaml")
    assert args["agent"]["agent_config_path"] == str(CHECKOUT / "configs/agents/default.yaml")
    assert model["completion_kwargs"] == {} and model["stop"] == [] and args["suffix"] == ""


def test_a_task_that_publishes_no_scores(fumehood, tmp_path):
    """Without published scores, the score of the first baseline program is the baseline."""
    shutil.copytree(CHECKOUT, tmp_path / "root")
    path = tmp_path / "root/configs/tasks/coin.yaml"
    published = "baseline_scores:\n- Score: 0.4\n  Errors: 6\n"
    text = path.read_text()
    assert published in text
    words = ["--mlgym-root", tmp_path / "root", "--task", "coin", "--model", "baseline"]
    path.write_text(text.replace(published, ""))
    assert "coin.yaml:1:1: the task names no metric" in fumehood.run(*words, status=2).stderr
    path.write_text(text.replace(published, "metric: {name: Score}\n"))
    (done,) = fumehood.run_json(*words)
    assert done["baseline"] == done["best"] == {"Score": 0.4, "Errors": 6}


def test_a_variable_names_it(fumehood):
    for name, folder in (
        ("MLGYM_CONFIG_ROOT", "configs"),
        ("MLGYM_TASK_CONFIG_DIR", "configs/tasks"),
    ):
        fumehood.env[name] = str(CHECKOUT / folder)
        assert fumehood("task", "list").stdout.count("\n") == 7
        del fumehood.env[name]
    assert "coin" not in fumehood("task", "list").stdout


def test_what_is_wrong(fumehood):
    good = fumehood("task", "check", "--mlgym-root", CHECKOUT, "coin", "rows", "model", "words")
    assert "note: " in good.stdout and "some_new_key" in good.stdout
    bad = fumehood("task", "check", "--mlgym-root", CHECKOUT, "noSuchData", "noSuchClass", status=2)
    assert (
        "configs/tasks/noSuchData.yaml:5:3: there is no configs/datasets/nowhere.yaml" in bad.stdout
    )
    assert "; there are: CSVSubmissionTasks, Python" in bad.stdout
    done = fumehood.run("--mlgym-root", CHECKOUT, "--task", "noSuchClass", status=2)
    assert "DreamSubmissionTasks" in done.stderr


@pytest.fixture
def lacking(tmp_path) -> Path:
    """A checkout with a task that needs packages of this machine, and packages that don't exist."""
    root = tmp_path / "lacking"
    shutil.copytree(CHECKOUT, root)
    wants = [
        "# comment",
        "-r other.txt",
        "",
        "No_Such.thing[extra]>=1",
        "./here",
        "nowhere @ https://x",
    ]
    wants += ["git+https://x/y", "windows-only; sys_platform == 'win32'"]
    wants += [f"{d.metadata['Name'].upper().replace('-', '_')}==0" for d in installed()]
    (root / "data/model/requirements.txt").write_text("\n".join(wants))
    return root


def installed():
    """At most five packages that programs in a sandbox have."""
    places = [p for p in sys.path if p.endswith("-packages") and p.startswith("/usr/")]
    return list(importlib.metadata.distributions(path=places))[:5]


def test_missing_packages_are_named(fumehood, lacking, tmp_path):
    said = "this machine's Python lacks No_Such.thing, nowhere of requirements.txt"
    words = ["--mlgym-root", lacking, "--task", "model", "--max-steps", "1"]
    checked = fumehood("task", "check", "--mlgym-root", lacking, "model")
    assert f"note: {said}\n" in checked.stdout
    assert f"modelOfALine: {said}; --python ENV shows" in fumehood.run(*words).stderr
    bind = f"{tmp_path}:/home/agent/miniconda3/envs/mlgym_generic"
    assert "lacks" not in fumehood.run(*words, "--bind", bind, status=None).stderr
    (lacking / "data/model/requirements.txt").unlink()
    checked = fumehood("task", "check", "--mlgym-root", lacking, "model", status=1)
    assert "requirements.txt" in checked.stdout


def test_observations(fumehood):
    answers = play(
        fumehood,
        "coin",
        "printf 'one\\r\\n\\n 40%%|##  | 4/10 [0:01]\\ntwo\\n'",
        'echo "[$LAST_ACTION]"; echo $? >&2',
        "if true\nfi",
        "printf '\\377'",
        "true",
    )
    seen = [answer.get("observation") for answer in answers]
    assert "network" not in seen[0] and not seen[0].endswith("\n")
    assert seen[1] == "one\ntwo"
    assert seen[2].startswith("[printf ") and seen[2].endswith("]\n0")
    assert "syntax error" in seen[3] and answers[3]["info"]["outcome"] == "syntax_error"
    assert seen[4] == "\\xff"
    assert seen[5] == ""


def test_a_workspace_as_in_the_original(fumehood):
    answers = play(
        fumehood,
        "rows",
        "ls; ls data; echo x >data/numbers.csv",
        "python --version; /home/agent/miniconda3/envs/mlgym_generic/bin/python -c 'print(6 * 7)'",
        "cp data/truth.csv submission.csv; validate",
    )
    assert "baseline.py\ndata\nevaluate.py\nsample_submission.csv\n" in answers[1]["observation"]
    assert "Permission denied" in answers[1]["observation"]
    assert "Python 3" in answers[2]["observation"] and answers[2]["observation"].endswith("42")
    assert (
        "valid submission artefact at /home/agent/workspace/submission.csv."
        in answers[3]["observation"]
    )
    assert "Baseline Score: {'Accuracy': 0.5, 'loss': 0.25}" in answers[3]["observation"]
    assert answers[3]["info"]["score"] == {"accuracy": 1.0}
    assert answers[3]["reward"] == 0.5


def test_evaluators_that_fail(fumehood):
    answers = play(
        fumehood,
        "coin",
        "echo 'raise ValueError(7)' >strategy.py; validate",
        "echo 'guess = print' >strategy.py; validate",
        "rm strategy.py; submit",
    )
    assert "evaluate.py ended with status 1:\n| Traceback" in answers[1]["observation"]
    assert (
        "mlgym.py" not in answers[1]["observation"] and "ValueError: 7" in answers[1]["observation"]
    )
    assert "printed no metrics as JSON:\n| []\n| [0]" in answers[2]["observation"]
    assert answers[3]["info"].get("score") or answers[3]["info"]["exit_status"]
    (answer,) = play(fumehood, "rows", "validate")[1:2]
    assert "There is no file /home/agent/workspace/submission.csv" in answer["observation"]
    (answer,) = play(fumehood, "model", "validate")[1:2]
    assert "no .yaml file in the workspace" in answer["observation"]


@pytest.mark.skipif(shutil.which("torchrun"), reason="torchrun is on this machine")
def test_a_language_model_needs_torchrun(fumehood):
    words = ("env", "--mlgym-root", CHECKOUT, "--task", "words")
    assert " torchrun, which the Python" in fumehood(*words, status=1, input="").stderr


def test_memory(fumehood, tmp_path):
    """Memory passes from one episode to the next with --memory_enabled alone.

    A replay has the memory that the episode began with.
    """
    root = tmp_path / "checkout"
    shutil.copytree(CHECKOUT, root)
    words = ["--mlgym-root", root, "--task", "coin", "--memory_enabled", "True"]
    kept = root / "data/coin/memory.json"
    for had in ([], ["one"]):
        note = f"""echo '{{"texts": {json.dumps([*had, "one"])}}}' >~/memory.json"""
        (done,) = fumehood.run_json(
            *words, "--model", fumehood.actions(f"cat ~/memory.json; {note}")
        )
        with open(done["trajectory"]) as file:
            seen = json.load(file)["trajectory"][0]["observation"]
        assert json.loads(seen)["texts"] == had if had else "No such file" in seen
    for spoil, why in [
        ("ln -sf /etc/passwd ~/memory.json", "'memory.json' is, or lies behind, a symbolic link"),
        ("echo '{' >~/memory.json", "the agent's memory:2:1: "),
        ("echo '[]' >~/memory.json", "the agent's memory is not a JSON object"),
        ("head -c 5M /dev/zero >~/memory.json", "'memory.json' has 5242880 bytes, more than"),
    ]:
        model = fumehood.actions(spoil, "submit")
        (spoiled,) = fumehood.run_json(*words, "--model", model)
        with open(spoiled["trajectory"]) as file:
            last = json.load(file)["trajectory"][-1]["observation"]
        assert f"(The memory was not kept: {why}" in last
        assert json.loads(kept.read_text()) == {"texts": ["one", "one"]}
    kept.unlink()
    again = ("replay", "--compare", "--out", fumehood.out / "again")
    refused = fumehood(*again, done["trajectory"], status=2).stderr
    assert (
        f"the network of this machine, and a record is untrusted. To allow it, give {words[0]} {root}"
        in refused
    )
    fumehood(*again, *words[:2], done["trajectory"])
    assert not kept.exists()
    for note in ("a coin", "a crown"):
        model = fumehood.actions(f"memory_write '{note}' && memory_read a", "submit")
        (done,) = fumehood.run_json(*words, "--model", model)
    with open(done["trajectory"]) as file:
        seen = json.load(file)["trajectory"][0]["observation"]
    assert "a coin" in seen and "a crown" in seen
    (done,) = fumehood.run_json(*words[:4], "--model", fumehood.actions("ls ~/memory.json"))
    with open(done["trajectory"]) as file:
        assert "No such file" in json.load(file)["trajectory"][0]["observation"]
    done = fumehood.run(*words[:3], "rows", *words[4:], status=None)
    assert done.returncode and "rowsOfNumbers has no memory_path" in done.stderr


def test_episodes_at_the_same_time_add_to_one_memory(fumehood, tmp_path):
    root = tmp_path / "checkout"
    shutil.copytree(CHECKOUT, root)
    kept = root / "data/coin/memory.json"
    kept.write_text('{"texts": ["old"], "tags": ["t"], "other": 1}')
    model = fumehood.actions('sleep 1; memory_write "of $RANDOM"', "submit")
    words = ["--mlgym-root", root, "--task", "coin", "--memory-enabled", "--model", model]
    fumehood.run_json(*words, "--runs", 3, "--jobs", 3)
    memory = json.loads(kept.read_text())
    assert len(set(memory["texts"])) == len(memory["texts"]) == 4 and memory["texts"][0] == "old"
    assert memory["tags"] == ["t", "", "", ""] and memory["other"] == 1


def test_a_memory_that_is_none_and_one_behind_a_link(fumehood, tmp_path):
    root = tmp_path / "checkout"
    shutil.copytree(CHECKOUT, root)
    kept, shared = root / "data/coin/memory.json", root / "shared.json"
    kept.symlink_to("../../shared.json")
    model = fumehood.actions("memory_write a", "submit")
    words = ["--mlgym-root", root, "--task", "coin", "--memory-enabled", "--model", model]
    shared.write_text("{bad")
    assert f"{shared}:1:4: " in fumehood.run(*words, status=2).stderr
    assert not list(fumehood.out.glob("*/*"))
    assert shared.read_text() == "{bad"
    shared.write_text("")
    shared.chmod(0o606)
    fumehood.run(*words)
    assert kept.is_symlink() and json.loads(shared.read_text())["texts"] == ["a"]
    assert shared.stat().st_mode & 0o777 == 0o606


@pytest.mark.parametrize("there", [True, False])
def test_a_memory_behind_a_link_out_of_the_task(fumehood, tmp_path, there):
    """A task may be untrusted. It can't read or make files of the user as its memory."""
    root, private = tmp_path / "checkout", tmp_path / "private.json"
    shutil.copytree(CHECKOUT, root)
    if there:
        private.write_text('{"auths": "hush"}')
    kept = root / "data/coin/memory.json"
    begun = root / "data/coin/begun"
    begun.mkdir()
    words = ["--mlgym-root", root, "--task", "coin", "--memory-enabled", "--bind", f"{begun}:/b"]
    act = "memory_write a; until test -e /b/go; do sleep 0.1; done; cat ~/memory.json"
    child = fumehood.start(*fumehood.run_words(*words, "--model", fumehood.actions(act, "submit")))
    while not any('"event":"reset"' in p.read_text() for p in fumehood.out.glob("*/events.jsonl")):
        assert child.poll() is None
        time.sleep(0.02)
    kept.symlink_to(private)
    (begun / "go").touch()
    assert child.wait(60) == 0
    (log,) = fumehood.out.glob("*/events.jsonl")
    assert "(The memory was not kept: 'data/coin/memory.json'" in log.read_text()
    said = fumehood.run(*words, "--model", "baseline", status=2).stderr
    assert ("by a symbolic link" if there else "a symbolic link that leads nowhere") in said
    assert private.read_text() == '{"auths": "hush"}' if there else not private.exists()


def test_a_run_that_goes_on_has_the_memory_that_it_began_with(fumehood, tmp_path):
    root = tmp_path / "checkout"
    shutil.copytree(CHECKOUT, root)
    turns = [act("memory_write mine; memory_read mine"), [{"status": 500}, act("submit")]]
    server = Server(tmp_path, {"m": {"turns": turns}})
    words = ["--mlgym-root", root, "--task", "coin", "--memory-enabled"]
    words += ["--model", "openai:m", "--url", server.url + "/v1", "--agent", "memory"]
    kept = root / "data/coin/memory.json"
    (broken,) = fumehood.run_json(*words, "--api-key", "k", "--retries", 0, status=1)
    kept.write_text(kept.read_text().replace("mine", "theirs"))
    folder = Path(broken["trajectory"]).parent
    again = ["run", "--resume", folder, "--api-key", "k", *words[7:9]]
    said = fumehood(*again, status=2).stderr
    assert said.endswith(
        f"Repeat these options to allow it: --memory-enabled --mlgym-root {root}\n"
    )
    done = fumehood(*again, "--memory-enabled", "--mlgym-root", root)
    server.close()
    assert "different=0" not in done.stderr and "resumed" not in done.stderr
    assert json.loads(kept.read_text())["texts"] == ["theirs", "mine"]


# --- configurations of agents in MLGym's checkout -------------------------------------------------


@pytest.fixture
def lead(fumehood, tmp_path):
    """A function that plays a task with a scripted language model. Returns the trajectory."""
    servers = []

    def run(root, task, agent, *said, more=()) -> dict:
        servers.append(Server(tmp_path, {"m": {"turns": [act(action) for action in said]}}))
        fumehood.env.update(OPENAI_API_KEY="sk-none")
        words = ["--mlgym-root", root, "--task_config_path", f"tasks/{task}.yaml"]
        words += ["--agent_config_path", f"configs/agents/{agent}.yaml", "--model", "openai:m"]
        words += ["--url", f"{servers[-1].url}/v1", "--per_instance_cost_limit", "0"]
        words += ["--container_type", "docker", "--temp", "1", "--gpus", "0"]
        words += ["--aliases_file", "./dockerfiles/aliases.sh", "--max_steps", "50"]
        (done,) = fumehood.run_json(*words, *more)
        assert done["exit_status"] == "submitted"
        with open(done["trajectory"]) as file:
            return json.load(file)

    yield run
    for server in servers:
        server.close()


def test_command_files(lead):
    said = ["look target.py", "count target.py", "validate", "look evaluate.py; exit 3", "submit"]
    told = lead(CHECKOUT, "coin", "tiny", *said)
    system = told["history"][0]["content"]
    assert (
        "look:\n  docstring: shows the first 3 lines of a file\n  signature: look <file>" in system
    )
    assert "count:\n" in system and "_count_lines" not in system
    steps = told["trajectory"]
    assert [step["action"].strip() for step in steps] == said
    assert steps[0]["observation"].startswith("FALLEN = [0, 1")
    assert steps[1]["observation"] == "1"
    assert "Evaluation Score: {'Score': 0.4" in steps[2]["observation"]
    kept = json.loads(steps[1]["state"])
    assert list(kept) == ["open_file", "files", "working_dir"]
    assert kept["open_file"] == "/home/agent/workspace/target.py" and kept["files"] == [3, None]
    assert json.loads(steps[4]["state"])["open_file"] == "n/a"  # a new shell has no open file
    assert "(Current Step: 1, Remaining Steps: 49)" in told["history"][3]["content"]
    assert json.dumps(told["info"]["score"]) == json.dumps([{"Score": 0.4, "Errors": 6}] * 2)
    assert "Evaluation Score: {'Score': 0.4, 'Errors': 6}" in steps[2]["observation"]


def test_a_checkout_that_is_the_current_folder(fumehood, tmp_path):
    """MLGym's command lines run in its folder, without --mlgym-root."""
    root = tmp_path / "checkout"
    shutil.copytree(CHECKOUT, root)
    (root / "mlgym").mkdir()
    fumehood.folder = root
    done = fumehood("run", "--task_config_path", "tasks/coin.yaml")
    assert "this folder is a checkout of MLGym" in done.stderr and "coin" in done.stdout
    variant = fumehood("run", "--task", "coin:micro", status=2)
    assert "MLGym's task 'coin' has no variant 'micro'" in variant.stderr
    done = fumehood("run", "--task", "coin", "--mlgym-root", "", status=2)
    assert "checkout" not in done.stderr


# --- with the real checkout of MLGym --------------------------------------------------------------


@pytest.fixture
def original():
    path = os.environ.get("FUMEHOOD_MLGYM")
    if not path:
        pytest.skip("FUMEHOOD_MLGYM names no checkout of MLGym")
    return path


def test_quick_start(fumehood, original):
    words = ["--mlgym-root", original, "--task_config_path", "tasks/battleOfSexes.yaml"]
    (done,) = fumehood.run_json(*words, "--model", "baseline", "--max_steps", "50")
    assert done["exit_status"] == "submitted"
    assert abs(done["scores"][0]["Score"] - 1.0227) < 0.03
    answer = play(fumehood, "tasks/battleOfSexes.yaml", "validate", root=original)[1]
    assert abs(answer["info"]["score"]["Score"] - 1.0227) < 0.03


def test_a_baseline_of_the_original(fumehood, original):
    words = ("task", "check", "--run", "--json", "--mlgym-root", original)
    played = json.loads(fumehood(*words, "battleOfSexes").stdout)["played"]
    assert played["published"] == {"Score": 1.0226699113845825}
    assert abs(played["baseline"]["Score"] - 1.0227) < 0.03
    assert played["compared"].endswith(" published")


def test_tasks_of_the_original(fumehood, original):
    """All tasks but two load. Some lack data, which the repository does not hold."""
    told = fumehood("task", "list", "--mlgym-root", original, "--json").stdout
    names = [json.loads(line)["task"] for line in told.splitlines()]
    assert len(names) == 19
    words = ("task", "check", "--mlgym-root", original)
    status = {name: fumehood(*words, name, status=None).returncode for name in names}
    wrong = [name for name in names if status[name] == 2]
    assert wrong == ["regressionHousePrice", "regressionHousingPrice"]
    lacking = {"3SATTime", "imageCaptioningCOCO", "languageModelingFineWeb"}
    lacking |= {"regressionKaggleHousePrice", "regressionKaggleHousePriceL1"}
    assert {name for name in names if status[name] == 1} <= lacking


def test_quick_start_of_an_agent(lead, original):
    """MLGym's example command line works, with MLGym's agent and its commands."""
    said = ["open strategy.py", "search_file def", "goto 7", "validate", "submit"]
    steps = lead(original, "battleOfSexes", "default", *said)["trajectory"]
    assert steps[0]["observation"].startswith("[File: /home/agent/workspace/strategy.py (")
    assert '"def" in /home/agent/workspace/strategy.py' in steps[1]["observation"]
    assert "Evaluation Score: {'Score': " in steps[3]["observation"]
    assert json.loads(steps[4]["state"])["open_file"] == "/home/agent/workspace/strategy.py"


def test_its_tools_and_ours(lead, original, fumehood):
    """Our tools replace known tools of MLGym. Windows, variables and exit statuses are the same."""
    look = 'type -t open; echo "$CURRENT_FILE $CURRENT_LINE"; bash -c \'echo "$CURRENT_FILE"\''
    said = [
        f"open strategy.py 3; {look}",
        f"edit 9:9\n    row = 1\nend_of_edit\n{look}",
        "edit 9:9\n    row = (\nend_of_edit\necho $?",
        f"exit 3\n{look}",
        "open none && echo went on",
        "chmod 444 strategy.py; open strategy.py; edit 1:1\nx = 1\nend_of_edit\necho status $?",
        "search_file def && search_dir row_strategy && find_file strategy.py",
        "submit",
    ]

    def told(tools: str) -> list[str]:
        steps = lead(original, "battleOfSexes", "default", *said, more=("--tools", tools))
        return [s["observation"] for s in steps["trajectory"][:-1]]

    def shown(text: str) -> list[str]:
        words = ("/", "[File", "- E", "function", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
        lines = [t for t in text.splitlines() if not t.endswith(".")]  # leave out sentences
        return [t for t in lines if t.startswith((*words, "status", "went"))]

    own, theirs = told("own"), told("original")
    for i in (0, 1, 2, 4, 5):
        assert shown(own[i]) == shown(theirs[i]) != [], said[i]
    assert "went on" in own[4] and "status 1" in own[5]
    assert all('"def" in /home/agent/workspace/strategy.py' in t for t in (own[6], theirs[6]))
    flags = [line for f in fumehood.out.glob("*/args.yaml") for line in f.read_text().splitlines()]
    assert {"  original_tools: false", "  original_tools: true"} <= set(flags)


def test_its_state_and_ours(lead, original):
    """Our state, made without a program, equals that of MLGym's state command."""
    said = [
        "pwd; unset CURRENT_FILE",
        "open strategy.py",
        "mkdir -p d; echo 1 >d/x; cd d; open x",
        "mv ../d ../e; ln -s e ../d",
        "rm -rf ../d; cd ..",
        "rm -rf e",
        "echo 1 >'a b'; open 'a b'",
        "echo 1 >.hidden; open .hidden",
        "ln -s strategy.py l; open l",
        "CURRENT_FILE=$PWD/l",
        "CURRENT_FILE=strategy.py",
        "CURRENT_FILE=/etc/../etc//passwd",
        "CURRENT_FILE=/root/x",
        "CURRENT_FILE=",
        "mkdir 'e  f'; cd 'e  f'; open ../strategy.py",
        "submit",
    ]

    def states(tools: str) -> list[str]:
        steps = lead(original, "battleOfSexes", "default", *said, more=("--tools", tools))
        return [s["state"] for s in steps["trajectory"]]

    own = states("own")
    assert own == states("original") and len(set(own)) > 5, own


def test_a_file_that_the_agent_closed(lead, original):
    """Our tools heed the shell's variable CURRENT_FILE, as MLGym's do."""
    said = [
        "open strategy.py 3; CURRENT_FILE=",
        "open ../nothing",
        "goto 5",
        "edit 1:1\nx = 1\nend_of_edit",
        "search_file def",
        "unset CURRENT_FILE; create new.py",
        "unset CURRENT_FILE; insert 1\nx = 1\nend_of_insert",
        "open strategy.py; CURRENT_FILE=$PWD/new.py; goto 1",
        "CURRENT_FILE=strategy.py; goto 9; cd /; CURRENT_FILE=${CURRENT_FILE##*/}",
        "submit",
    ]
    files = 'echo "file: $CURRENT_FILE $CURRENT_LINE"; wc -l ~/workspace/*.py'
    said[:-1] = [f"{action}\n{files}" for action in said[:-1]]

    def told(tools: str) -> list[tuple]:
        steps = lead(original, "battleOfSexes", "default", *said, more=("--tools", tools))
        steps = steps["trajectory"][:-1]
        marks = ("[File", "file: ", " ", *"0123456789")
        shown = [[t for t in s["observation"].splitlines() if t.startswith(marks)] for s in steps]
        return [(a, s["state"]) for a, s in zip(shown, steps, strict=True)]

    own = told("own")
    assert own == told("original")
    assert all("file:  500" in shown for shown, _ in own[1:5])


def test_a_replay_says_once_that_ours_run(lead, original, fumehood):
    lead(original, "battleOfSexes", "default", "open strategy.py", "submit")
    (run,) = fumehood.out.glob("*_run_0")
    words = ("replay", "--mlgym-root", original, "--out", fumehood.out / "again", run, run)
    assert fumehood(*words).stderr.count("are replaced by equal ones") == 1


def test_tools_that_were_changed_are_their_own(lead, original, fumehood, tmp_path):
    root = tmp_path / "changed"
    shutil.copytree(original, root, ignore=shutil.ignore_patterns("trajectories", ".git"))
    with open(root / "tools/defaults.sh", "a") as file:
        file.write("# mine\n")
    steps = lead(root, "battleOfSexes", "default", "declare -f _print | head -1", "submit")
    assert steps["trajectory"][0]["observation"] == "_print () "
