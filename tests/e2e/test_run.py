# SPDX-License-Identifier: Apache-2.0
"""fumehood run: models that need no server, the files of a run, many runs at once, a full disk."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import TASKS

KEYS = [
    "task",
    "variant",
    "model",
    "seed",
    "exit_status",
    "steps",
    "baseline",
    "scores",
    "best",
    "seconds",
    "trajectory",
]
STEP_KEYS = ["state", "response", "thought", "action", "execution_time", "observation"]


def events_of(result) -> list:
    path = Path(result["trajectory"]).with_name("events.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def traj_of(result) -> dict:
    text = Path(result["trajectory"]).read_text()
    value = json.loads(text)
    assert json.dumps(value, indent=2) == text, "not as Python writes it"
    return value


def test_the_baseline_plays_and_submits(fumehood):
    (result,) = fumehood.run_json("--task", "rows")
    assert list(result) == KEYS
    assert result["exit_status"] == "submitted" and result["steps"] == 2
    assert result["scores"] == [result["baseline"]] and result["best"] == result["baseline"]


LONG = [
    pytest.param(task, marks=pytest.mark.long)
    for task in (
        "blotto",
        "rlBreakoutMinAtar",
        "rlMetaMazeMisc",
        "rlMountainCarContinuousReinforce",
    )
]
HOUSES = "regressionKaggleHousePrice"
CIFAR = "imageClassificationCifar10"


DEMONSTRATED = [
    "3SATTime",
    "battleOfSexes",
    *LONG,
    CIFAR,
    f"{CIFAR}L1",
    "imageCaptioningCOCO",
    "imageClassificationFMnist",
    "languageModelingFineWeb",
    "naturalLanguageInferenceMNLI",
    "prisonersDilemma",
    "rlMountainCarContinuous",
    HOUSES,
    f"{HOUSES}L1",
]


@pytest.mark.once
@pytest.mark.parametrize("task", DEMONSTRATED)
def test_a_demonstration_ends_submitted(fumehood, task):
    (result,) = fumehood.run_json("--task", task, "--model", "demo")
    assert result["exit_status"] == "submitted"
    metric = next(iter(result["best"]))
    gain = result["best"][metric] - result["baseline"][metric]
    assert gain < 0 if metric in ("Decisions", "val_loss") else gain > 0


@pytest.mark.once
@pytest.mark.parametrize("task", [HOUSES, CIFAR])
def test_a_task_without_a_starter(fumehood, task):
    """A task without a starter has the same baseline, but agents don't get its program."""
    seen = "ls -A; find / -name baseline.py -o -name solve.py 2>/dev/null"
    first, second = fumehood.run_json(
        "--task", f"{task}L1,{task}", "--model", fumehood.actions(seen, "submit")
    )
    assert first["baseline"] == second["baseline"]
    looks = [traj_of(result)["trajectory"][0]["observation"] for result in (first, second)]
    assert looks[0].split() == ["data"] and "baseline.py" in looks[1].split()


@pytest.mark.once
def test_baseline_and_solution_are_written_by_the_model(fumehood):
    """The workspace of this task has neither, so actions write their files."""
    words = ("--task", f"{HOUSES}L1", "--model", "baseline,solution")
    baseline, solution = fumehood.run_json(*words)
    assert baseline["exit_status"] == solution["exit_status"] == "submitted"
    metric = next(iter(baseline["baseline"]))
    assert baseline["best"][metric] < solution["best"][metric] - 0.1
    first = traj_of(solution)["trajectory"][0]["action"]
    assert first.startswith("cat >'solve.py' <<'END_OF_FILE'\n")


def test_a_task_without_a_solution(fumehood):
    assert (
        "has no solution" in fumehood.run("--task", "rows", "--model", "solution", status=2).stderr
    )


def test_actions_that_run_out_are_submitted(fumehood):
    model = fumehood.actions("cp zeros.csv submission.csv", "validate")
    (result,) = fumehood.run_json("--task", "rows", "--model", model)
    assert result["exit_status"] == "submitted" and result["steps"] == 3
    assert len(result["scores"]) == 2 and result["best"] in result["scores"]
    assert result["model"] == model


def test_nothing_to_submit(fumehood):
    (result,) = fumehood.run_json("--task", "rows", "--model", fumehood.actions("true"))
    assert result["exit_status"].startswith("submission_not_found")
    assert result["scores"] == [] and result["best"] is None
    assert traj_of(result)["info"]["submission"] is None


def test_the_files_of_a_run(fumehood):
    said = "caf\u00e9 \U0001f600"
    model = fumehood.actions("cp zeros.csv submission.csv; cd /tmp", f"echo {said}", "submit")
    (result,) = fumehood.run_json("--task", "rows:quick", "--model", model, "--suffix", "try 1")
    folder = Path(result["trajectory"]).parent
    assert folder.name == (
        "actions-played__rows-quick__default__t-0.00__p-0.95__c-3.00__install-0__try-1_run_0"
    )
    names = sorted(p.name for p in folder.iterdir())
    assert names.pop().startswith("run-")  # the name of the log, which another test checks
    assert names == ["args.yaml", "events.jsonl", "results.json", "rows-quick.traj"]
    traj = traj_of(result)
    assert list(traj) == ["environment", "trajectory", "history", "info"]
    assert traj["environment"] == "mlgym_main"
    assert [list(step) for step in traj["trajectory"]] == [STEP_KEYS] * 3
    assert [step["action"] for step in traj["trajectory"]][1:] == [f"echo {said}", "submit"]
    assert traj["trajectory"][1]["observation"].strip() == said
    # Each recorded state is the one before the step's action.
    folders = [json.loads(s["state"])["working_dir"] for s in traj["trajectory"]]
    assert folders == ["/home/agent/workspace", "/tmp", "/tmp"]
    assert list(traj["info"]) == ["model_stats", "exit_status", "submission", "score", "summarizer"]
    assert traj["info"]["submission"] == "/home/agent/workspace/submission.csv"
    assert [m["role"] for m in traj["history"]] == ["user", "assistant"] * 3
    assert traj["history"][0]["agent"] == "primary_0"
    results = (folder / "results.json").read_text()
    assert json.loads(results) == {"agent": traj["info"]["score"], "baseline": result["baseline"]}
    assert json.dumps(json.loads(results), indent=2) == results


def test_events_say_everything_in_order(fumehood):
    model = fumehood.actions("cp zeros.csv submission.csv", "validate", "submit")
    (result,) = fumehood.run_json("--task", "rows", "--model", model, "--seed", "9")
    events = events_of(result)
    assert " ".join(e["event"] for e in events) == "open reset step step score step score end"
    assert events[0]["task"] == "rows" and events[0]["max_steps"] == 6 and events[0]["version"]
    assert len(events[0]["task_hash"]) == 64
    assert events[1]["seed"] == 9
    assert events[2]["info"]["outcome"] == "ok" and events[2]["info"]["exit_code"] == 0
    assert events[3]["info"]["score"] == events[4]["score"]
    assert events[-1]["exit_status"] == "submitted" and events[-1]["steps"] == 3


def test_the_limit_of_steps_adds_the_step_that_mlgym_records(fumehood):
    model = fumehood.actions("cp zeros.csv submission.csv", "true", "true")
    (result,) = fumehood.run_json("--task", "rows", "--model", model, "--max-steps", "2")
    assert result["exit_status"] == "autosubmission (max_steps)" and result["steps"] == 2
    traj = traj_of(result)
    assert len(traj["trajectory"]) == 3
    assert traj["trajectory"][-1]["observation"] == "Exited (max_steps)"
    assert traj["trajectory"][-1]["action"].startswith("exit_")
    assert len(traj["info"]["score"]) == 1


def test_forfeiting_scores_nothing(fumehood):
    model = fumehood.actions("cp zeros.csv submission.csv", "exit_forfeit")
    (result,) = fumehood.run_json("--task", "rows", "--model", model)
    assert result["exit_status"] == "exit_forfeit" and result["scores"] == []


def test_minimised_metrics_are_better_when_less(fumehood):
    model = fumehood.actions("cp list.txt words.txt")
    done = fumehood.run("--task", "words", "--model", model)
    assert "better" in done.stdout


def test_seeds_count_up_and_make_the_same_episode_again(fumehood):
    model = fumehood.actions("echo $RANDOM $RANDOM")
    first = fumehood.run_json("--task", "guess", "--model", model, "--runs", "2", "--seed", "4")
    again = fumehood.run_json("--task", "guess", "--model", model, "--seed", "5")
    assert [r["seed"] for r in first] == [4, 5]
    said = [events_of(r)[2]["observation"] for r in (*first, *again)]
    assert said[0] != said[1] and said[1] == said[2]


def test_a_reward_that_was_asked_for(fumehood):
    model = fumehood.actions("cp data.csv submission.csv; cp zeros.csv submission.csv", "validate")
    for reward, worth in (("none", 0.0), ("improvement", 0.0)):
        (result,) = fumehood.run_json("--task", "rows", "--model", model, "--reward", reward)
        assert events_of(result)[0]["reward"] == reward
        assert events_of(result)[3]["reward"] == worth


def test_binds_are_seen_inside_and_read_only(fumehood):
    (fumehood.folder / "mine.txt").write_text("from outside\n")
    model = fumehood.actions("cat /data/mine.txt; echo x >/data/mine.txt || echo refused")
    bind = "mine.txt:/data/mine.txt"
    (result,) = fumehood.run_json("--task", "guess", "--model", model, "--bind", bind)
    said = events_of(result)[2]["observation"]
    assert "from outside" in said and "refused" in said


def test_mounts_as_in_the_original_lie_beneath_the_root(fumehood):
    (fumehood.folder / "a/mine").mkdir(parents=True)
    (fumehood.folder / "a/mine/file").write_text("from outside\n")
    model = fumehood.actions("cat /mine/file; touch /mine/x || echo refused")
    words = ["--task", "guess", "--model", model, "--container_mounts", "a/mine", "a/none"]
    done = fumehood.run(*words, "--json")
    said = events_of(json.loads(done.stdout))[2]["observation"]
    assert "from outside" in said and "refused" in said
    assert "--container_mounts a/none is left out: No such file" in done.stderr


BAD_ACTIONS = [
    ('"ls"\n[3]\n', ":2:1: expected an action: a string in double quotes"),
    ('"ls\n', ":1:1: a string that does not end"),
    ('"a" "b"\n', ":1:5: something follows the value"),
    ('\n\n"ok"\n"\\u0000"', ":4:1: an action can't hold a NUL"),
    ('"\\ud800"\n', ":1:1: half of a surrogate pair"),
    ("ls\n", ":1:1: expected a JSON value"),
]


@pytest.mark.parametrize("text,message", BAD_ACTIONS)
def test_bad_actions_are_named_by_place_before_anything_runs(fumehood, text, message):
    path = fumehood.folder / "bad.jsonl"
    path.write_text(text)
    done = fumehood.run("--task", "rows", "--model", f"actions:{path}", status=2)
    assert done.stderr == f"fumehood: {path}{message}\n"
    assert not fumehood.out.exists()


def test_many_at_once_come_out_in_order(fumehood):
    model = fumehood.actions("sleep 0.0$((RANDOM % 10))", "cp zeros.csv submission.csv", "validate")
    results = fumehood.run_json("--task", "rows", "--model", model, "--runs", "12", "--jobs", "6")
    assert [r["seed"] for r in results] == list(range(12))
    assert {r["exit_status"] for r in results} == {"submitted"}
    assert len({r["trajectory"] for r in results}) == 12
    for result in results:
        assert len(traj_of(result)["trajectory"]) == 4


def test_runs_that_are_there_stay(fumehood):
    first = fumehood.run_json("--task", "rows")
    before = Path(first[0]["trajectory"]).read_bytes()
    second = fumehood.run_json("--task", "rows")
    assert second[0]["trajectory"].endswith("_run_1/rows.traj")
    assert Path(first[0]["trajectory"]).read_bytes() == before


def test_two_commands_at_once_share_a_folder(fumehood):
    args = fumehood.run_words("--task", "rows", "--runs", "4", "--json")
    both = [fumehood.start(*args, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = [child.communicate(timeout=300)[0] for child in both]
    assert [child.returncode for child in both] == [0, 0]
    results = [json.loads(line) for text in outputs for line in text.splitlines()]
    assert len({r["trajectory"] for r in results}) == 8
    for result in results:
        assert len(events_of(result)) == 6


def test_the_table(fumehood):
    done = fumehood.run("--task", "rows,words")
    lines = done.stdout.splitlines()
    assert lines[1].split() == ["Task", "Status", "Baseline", "Best", "Change", "Steps", "Time"]
    assert lines[2].split()[:2] == ["rows", "submitted"]
    assert lines[3].split()[:2] == ["words", "submitted"]
    shown = [line.strip() for line in lines if line.endswith(".traj")]
    assert len(shown) == 2 and all(os.path.exists(path) for path in shown)
    assert "rows #0: begun" in done.stderr and "words #0: submitted after 2 steps" in done.stderr


def test_an_episode_out_of_time_is_asked_nothing_more(fumehood):
    model = fumehood.actions("cp zeros.csv submission.csv; sleep 60")
    (result,) = fumehood.run_json("--task", "rows:timed", "--model", model)
    assert result["exit_status"] == "autosubmission (max_time)" and len(result["scores"]) == 1
    (step,) = traj_of(result)["trajectory"]
    assert step["action"].endswith("sleep 60") and "Exited (max_time)" in step["observation"]


def test_no_record_is_promised_that_is_not_there(fumehood):
    """The .traj can't be written, because a folder has its name. The table names no record."""
    model = fumehood.actions("sleep 1000 # until it is stopped")
    child = fumehood.start(
        *fumehood.run_words("--task", "rows", "--model", model, "--max-steps", "1"),
        stdout=subprocess.PIPE,
        text=True,
    )
    while not (logs := list(fumehood.out.glob("*/events.jsonl"))):
        assert child.poll() is None
        time.sleep(0.02)
    (logs[0].parent / "rows.traj" / "x").mkdir(parents=True)
    child.send_signal(signal.SIGINT)
    shown = child.communicate(timeout=300)[0]
    assert "failed" in shown and "recorded" not in shown


def test_quiet_and_verbose(fumehood):
    args = ["--task", "rows", "--model", fumehood.actions("echo 'two\nlines'")]
    quiet = fumehood.run(*args, "--quiet")
    assert quiet.stderr == "" and "submission_not_found" in quiet.stdout
    verbose = fumehood.run(*args, "-v")
    assert "rows #1: 1/6\n    $ echo 'two\n    > lines'\n" in verbose.stderr
    assert "rows #1: 2/6: submit\n" in verbose.stderr


def test_verbose_says_each_score(fumehood):
    model = fumehood.actions("cp zeros.csv submission.csv", "validate")
    verbose = fumehood.run("--task", "rows", "--model", model, "-v")
    assert verbose.stderr.count("    scored: accuracy 0.") == 2  # both the validate and the end
    assert verbose.stderr.index("scored: ") < verbose.stderr.index("rows #0: 3/")


def test_closed_standard_descriptors_are_no_place_for_files(fumehood):
    words = [fumehood.program, *map(str, fumehood.run_words("--task", "rows"))]
    shell = ["sh", "-c", '"$@" <&- >&- 2>&-', "sh", *words]
    subprocess.run(shell, cwd=fumehood.folder, env=fumehood.env, check=True)
    (log,) = fumehood.out.glob("*/events.jsonl")
    for line in log.read_text().splitlines():
        assert json.loads(line)["event"]


def test_trajectories_go_to_the_user_by_default(fumehood):
    fumehood("run", "--task", "rows", "--tasks-dir", TASKS)
    (traj,) = fumehood.folder.glob("trajectories/*/*/rows.traj")
    assert traj.parent.name.startswith("baseline__rows__default__")


# --- a person plays -------------------------------------------------------------------------------


def play_by_hand(fumehood, text: str):
    return fumehood.run("--task", "rows", "--model", "human", input=text)


def only_traj(fumehood) -> dict:
    (path,) = fumehood.out.glob("*/rows.traj")
    return json.loads(path.read_text())


def test_a_person_submits(fumehood):
    done = play_by_hand(fumehood, "cp zeros.csv submission.csv\n\n  \nsubmit\n")
    assert only_traj(fumehood)["info"]["exit_status"] == "submitted"
    assert "[step 1] /home/agent/workspace $ " in done.stdout


def test_a_person_writes_several_lines(fumehood):
    loop = "for i in 1 2; do\necho n$i\ndone\n"
    play_by_hand(fumehood, f"start_multiline_command\n{loop}end_multiline_command\nls; pwd\n")
    steps = only_traj(fumehood)["trajectory"]
    assert steps[0]["observation"].split() == ["n1", "n2"]
    assert steps[0]["action"] == loop


def test_a_person_edits_up_to_the_word_that_ends_it(fumehood):
    edit, insert = "edit 1:1\none\nend_of_edit", "cd . && insert 1\n\n  two\nend_of_insert  "
    play_by_hand(fumehood, f"create a.txt\n{edit}\n{insert}\ncat a.txt\nskip\n")
    steps = only_traj(fumehood)["trajectory"]
    assert [s["action"] for s in steps[1:4]] == [edit + "\n", insert + "\n", "cat a.txt"]
    assert steps[3]["observation"] == "one\n\n  two\n"


def test_the_end_of_input_leaves_without_a_score(fumehood):
    play_by_hand(fumehood, "cp zeros.csv submission.csv")
    traj = only_traj(fumehood)
    assert traj["info"]["exit_status"] == "exit_forfeit" and traj["info"]["score"] == []
    played = [s["action"] for s in traj["trajectory"]]
    assert played == ["cp zeros.csv submission.csv", "exit_forfeit"]


def test_what_a_person_is_shown_can_not_steer_the_terminal(fumehood):
    done = play_by_hand(fumehood, "printf '\\033]0;owned\\007'\n")
    assert "\033" not in done.stdout and "\\x1b]0;owned" in done.stdout


# --- a full disk, thoughts of a person, wrong options ---------------------------------------------


@pytest.fixture
def tiny_disk(tmp_path):
    folder = tmp_path / "tiny"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small file system can't be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_ends_the_run_and_leaves_whole_events(fumehood, tiny_disk):
    model = fumehood.actions(*["seq 3000"] * 5)
    (result,) = fumehood.run_json("--task", "rows", "--model", model, "--out", tiny_disk, status=1)
    assert "No space left on device" in result["error"] and "events.jsonl" in result["error"]
    events = events_of(result)
    assert [e["event"] for e in events][:3] == ["open", "reset", "step"]
    assert len(events) == 2 + result["steps"] - 1


def test_a_person_who_thinks(fumehood):
    done = fumehood.run(
        *("--task", "rows", "--model", "human_thought"),
        input="I look\nfirst. END_THOUGHT\nls\nthen END_THOUGHT\nexit_forfeit\n",
    )
    assert done.returncode == 0
    steps = json.loads(next(fumehood.out.glob("human_thought*/*.traj")).read_text())["trajectory"]
    assert [(s["thought"], s["action"]) for s in steps] == [
        ("I look\nfirst. ", "ls"),
        ("then ", "exit_forfeit"),
    ]
    assert steps[0]["response"] == "I look\nfirst. \n```\nls\n```"


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("--web-hosts", "a b", "--web-hosts: 'a b' is not a web site: "),
        ("--out", "/proc/x", "--out: make folder '/proc/x': "),
        ("--model", "actions:none", "--model actions:none: open 'none': "),
        ("--model", "replay:none", "--model replay:none: open 'none': "),
        ("--model", "replay:none.jsonl", "--model replay:none.jsonl: open 'none.jsonl': "),
        ("--sweep", "none.yaml", "--sweep: open 'none.yaml': "),
        ("--seed", 2**63 - 1, "3 runs from seed 9223372036854775807 on pass the largest seed, 92"),
    ],
)
def test_a_wrong_option_is_named_and_begins_nothing(fumehood, name, value, why):
    done = fumehood("run", "--task", "rows", "--tasks-dir", TASKS, "-n", 3, name, value, status=2)
    assert done.stderr.startswith(f"fumehood: {why}") and done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert not list(fumehood.folder.glob("*"))
