# SPDX-License-Identifier: Apache-2.0
"""fumehood task check --run of several tasks: --all and --jobs."""

import json
import os
import signal
import subprocess

import pytest
from conftest import TASKS, beneath, until


@pytest.fixture
def mine(fumehood):
    """A folder of tasks with a correct task `good`."""
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


def test_all_takes_every_task_and_leaves_out_what_lacks_data_or_packages(fumehood, copy):
    """The test uses a checkout of MLGym with three tasks, because it is quick."""
    rows = copy / "configs" / "tasks"
    for name in ("coin", "model", "noSuchClass", "noSuchData", "words"):
        (rows / f"{name}.yaml").unlink()
    (rows / "less.yaml").write_text((rows / "rows.yaml").read_text().replace("rows", "less"))
    poor = (rows / "rows.yaml").read_text().replace("rowsOfNumbers", "poor")
    (rows / "poor.yaml").write_text(poor + "\npackages: [json5, no.where9]\n")
    (copy / "configs" / "datasets" / "less.yaml").write_text(
        (copy / "configs" / "datasets" / "rows.yaml").read_text().replace("rows", "less")
    )
    done = fumehood("task", "check", "--run", "--all", "--mlgym-root", copy, "--json")
    found = reports(done)
    assert list(found) == ["less:full", "poor:full", "rows:full"]
    assert found["poor:full"]["left_out"].endswith("no.where9")
    assert "task show less:full" in found["less:full"]["left_out"]
    assert "left_out" not in found["rows:full"] and "played" in found["rows:full"]
    words = ("task", "check", "--run", "--all", "--mlgym-root", copy, "--variant")
    assert "has a variant 'micro'" in fumehood(*words, "micro", status=2).stderr
    table = fumehood(*words, "full").stdout.splitlines()
    assert table[1].split()[:3] == ["less:full", "left", "out"] and len(table) == 4


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--seeds 2 titanic", "--seeds goes with --run"),
        ("--run --seeds 0 titanic", "--seeds wants a whole number from 1 to"),
        ("--all --run titanic", "--all checks every task: give it or 'titanic'"),
        ("--all", "--all goes with --run"),
        ("--run --variant micro titanic", "--variant goes with --all"),
        ("--run --all --variant none", "no task has a variant 'none'"),
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


# --- results of playing a task --------------------------------------------------------------------


def played(fumehood, *words, status=0) -> dict:
    words = ("task", "check", "--run", "--tasks-dir", "mine", "--json", *words)
    return json.loads(fumehood(*words, status=status).stdout)["played"]


def test_the_solution_beside_the_starter_is_no_secret(fumehood, mine):
    assert "problem" not in played(fumehood, "good")


@pytest.mark.parametrize("secret", ["grader/answers.csv", "solution/solve.py", "demo.jsonl"])
def test_a_copy_of_a_hidden_file_is_found(fumehood, mine, secret):
    """Playing finds a copy under another name, which the check without --run does not."""
    task = mine / "good"
    if secret == "demo.jsonl":
        (task / secret).write_text('"ls"\n"python3 baseline.py"\n"submit"\n')
        change(task / "task.yaml", "solution:", "demo: demo.jsonl\nsolution:")
    (task / "starter" / "help").mkdir()
    (task / "starter" / "help" / "some notes").write_bytes((task / secret).read_bytes())
    assert fumehood("task", "check", "--tasks-dir", "mine", "good").stdout.startswith("ok")
    problem = played(fumehood, "good", status=1)["problem"]
    assert problem == (
        f"an episode: the agent sees a copy of {task / secret}: "
        "/home/agent/workspace/help/some notes"
    )


def test_missing_packages_are_a_note(fumehood, mine):
    with (mine / "good" / "task.yaml").open("a") as file:
        file.write("packages: [no.where9]\n")
    told = fumehood("task", "check", mine / "good").stdout
    assert "note: this machine's Python lacks no.where9\n" in told
    with (mine / "good" / "task.yaml").open("a") as file:
        file.write("variants: {small: {packages: [no.where8]}}\n")
    told = fumehood("task", "check", mine / "good").stdout
    assert "note: this machine's Python lacks no.where8, for the variant small\n" in told


def test_a_grader_that_gives_another_score_is_found(fumehood):
    folder = fumehood.folder / "mine"
    folder.mkdir()
    fumehood("task", "new", "moody", "--tasks-dir", "mine", "--grader", "duel")
    assert "problem" not in played(fumehood, "moody")
    change(
        folder / "moody" / "grader" / "judge.py",
        'return {"Score": right / (GAMES * ROUNDS)}',
        'return {"Score": right / (GAMES * ROUNDS) + __import__("random").random() / 100}',
    )
    problem = played(fumehood, "moody", status=1)["problem"]
    assert problem.startswith(
        "the solution: two gradings of the same submission differ: Score was "
    )


def test_another_submission_each_time_is_a_note(fumehood):
    (fumehood.folder / "mine").mkdir()
    fumehood("task", "new", "free", "--tasks-dir", "mine", "--grader", "duel")
    change(
        fumehood.folder / "mine" / "free" / "task.yaml",
        'solution/strategy.py]\n  command: "true"',
        "solution/strategy.py]\n"
        """  command: python3 -c 'import os; print("#", os.urandom(9))' >>strategy.py""",
    )
    assert "another submission each time" in played(fumehood, "free")["note"]


def expect(task, baseline: str, solution: str) -> None:
    with (task / "task.yaml").open("a") as file:
        file.write(f"expect: {{baseline: {baseline}, solution: {solution}}}\n")


@pytest.mark.parametrize(
    ("baseline", "solution", "problem"),
    [
        # Each case: what `expect` says of the baseline and of the solution, and the error. The
        # baseline scores 0.5, the solution 1.
        ("[0.46, 0.011]", "[1, 0]", None),
        ("[0.46, 0.0099]", "[1, 0]", "the baseline: accuracy is 0.5. The key 'expect' says 0.46 "),
        ("[0.5, 0]", "[0.99, 0]", "the solution: accuracy is 1, and the key 'expect' says 0.99"),
        ("[0.5, 0.099]", "[1, 0]", None),
        ("[0.5, 0.101]", "[1, 0]", "the solution: by the key 'expect' it lies 5 standard dev"),
    ],
)
def test_scores_are_compared_with_the_stated_ones(fumehood, mine, baseline, solution, problem):
    expect(mine / "good", baseline, solution)
    found = played(fumehood, "good", status=1 if problem else 0)
    assert found["baseline"] == {"accuracy": 0.5} and found["solution"] == {"accuracy": 1.0}
    assert found.get("problem", "").startswith(problem or "")
    assert bool(problem) == ("problem" in found)


@pytest.mark.parametrize("value", ["[1]", "[1, 2, 3]", "[1, x]", "[1, -1]"])
def test_what_is_no_stated_score(fumehood, mine, value):
    expect(mine / "good", "[0.65, 0.1]", value)
    done = fumehood("task", "check", "--tasks-dir", "mine", "good", status=2)
    assert "expected two numbers, a mean and a standard deviation" in done.stdout


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("baseline_paths: [baseline.py]", "baseline: {} && python3 baseline.py"),
        ("command: python3 solve.py", "command: {} && python3 solve.py"),
    ],
)
def test_training_has_a_seed_of_its_own(fumehood, mine, old, new):
    """A program that refuses the seed 1 fails the second time, and only then."""
    change(mine / "good" / "task.yaml", old, new.format("test ${FUMEHOOD_TRAINING_SEED:-0} != 1"))
    played(fumehood, "good")
    problem = played(fumehood, "good", "--seeds", 2, status=1)["problem"]
    assert problem.startswith(f"the {'solution' if 'solve' in old else 'baseline'} with the ")
    assert "ended with status 1" in problem


@pytest.mark.once
def test_seeds_of_data_tell_how_far_scores_move(fumehood):
    words = ("task", "check", "--run", "regressionKaggleHousePrice", "--seeds", 2, "--json")
    seeds = json.loads(fumehood(*words).stdout)["played"]["seeds"]
    assert seeds["baseline"]["n"] == seeds["solution"]["n"] == 2
    assert seeds["baseline"]["sd"] > 0 and seeds["apart_sd"] > 1  # low for two seeds
    assert 0 < seeds["solution"]["moved_sd"] <= 4


def test_cpu_times_are_compared_in_the_mean(fumehood):
    words = ("task", "check", "--run", "--tasks-dir", TASKS, "guess:slow", "--json", "--seeds")
    worse = json.loads(fumehood(*words, 2, status=1).stdout)["played"]
    assert worse["problem"] == "the solution: it is no better than the baseline"
    assert "problem" not in json.loads(fumehood(*words, 3).stdout)["played"]


@pytest.mark.once
def test_seeds_of_judges(fumehood):
    words = ("task", "check", "--run", "battleOfSexes:micro", "--seeds", 3)
    seeds = json.loads(fumehood(*words, "--json").stdout)["played"]["seeds"]
    for side, mean in (("baseline", 1.021), ("solution", 1.44)):
        assert seeds[side]["mean"] == pytest.approx(mean, abs=0.03) and seeds[side]["sd"] > 0
    table = fumehood(*words, "--jobs", 1).stdout.splitlines()
    assert "moved" in table[0] and " 1.4" in table[1] and "±" in table[1]


def test_a_parent_that_ignores_its_children(fumehood, mine):
    """An ignored SIGCHLD is inherited. The kernel then keeps no status of an ended child."""
    change(mine / "good" / "task.yaml", "command: python3 solve.py", "command: exit 3")
    words = ("task", "check", "--run", "--jobs", "2", "--tasks-dir", "mine", "good", "good")
    done = subprocess.run(
        ["bash", "-c", "trap '' CHLD; exec \"$@\"", "bash", fumehood.program, *words],
        cwd=fumehood.folder,
        env=fumehood.env,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
