# SPDX-License-Identifier: Apache-2.0
"""Generated data: the first process that needs it makes it for all others on the machine."""

import json
import subprocess

import pytest
from conftest import ROOT, Fumehood

PROGRAM = (ROOT / "tasks/titanicSurvival/prepare.py", ROOT / "datasets/making.py")

# A script that cheats: it generates the data with a guessed key, and submits those answers.
FORGE = """
import csv, os, subprocess
os.environ["FUMEHOOD_DATA_KEY"] = "0" * 64
subprocess.run(["python3", "/data/prepare.py", "micro", "made"], check=True)
read = lambda name: list(csv.DictReader(open(name)))
made = {r["PassengerId"]: r for r in read("made/test.csv") + read("made/train.csv")}
for row in read("made/answers.csv"):
    made[row["PassengerId"]].update(row)
with open("submission.csv", "w") as out:
    print("PassengerId,Survived", file=out)
    for row in read("data/test.csv"):
        print(row["PassengerId"], made[row["PassengerId"]]["Survived"], sep=",", file=out)
"""


@pytest.fixture
def machine(program, tmp_path):
    """A function that makes a machine with an empty state folder."""

    def make(name: str) -> Fumehood:
        folder = tmp_path / name
        folder.mkdir()
        return Fumehood(program, folder, folder / "state")

    return make


def play(machine: Fumehood, *args) -> dict:
    done = machine("run", "--task", "titanicSurvival:micro", "--out", machine.out, "--json", *args)
    return json.loads(done.stdout.splitlines()[-1])


def answers(machine: Fumehood) -> str:
    (path,) = (machine.folder / "state" / "data").rglob("answers.csv")
    return path.read_text()


def test_machines_score_alike_and_answer_differently(machine):
    a, b = machine("a"), machine("b")
    for each in (a, b):
        played = play(each, "--model", "demo")
        assert 0.55 < played["baseline"]["accuracy"] < 0.75
        assert played["best"]["accuracy"] > played["baseline"]["accuracy"] + 0.03
    assert answers(a) != answers(b)


def test_machines_may_share_a_key(machine):
    a, b = machine("a"), machine("b")
    for each in (a, b):
        each.env["FUMEHOOD_JUDGE_KEY"] = "7" * 64
        play(each, "--model", "baseline")
    assert answers(a) == answers(b)


def test_processes_that_come_first_together(machine):
    one = machine("one")
    words = ["run", "--task", "titanicSurvival:micro", "--model", "baseline", "--json", "--out"]
    started = [
        one.start(*words, str(one.folder / f"out{i}"), stdout=subprocess.PIPE, text=True)
        for i in range(6)
    ]
    scores = set()
    for process in started:
        out, _ = process.communicate(timeout=300)
        assert process.returncode == 0
        played = json.loads(out.splitlines()[-1])
        assert played["best"] == played["baseline"]
        scores.add(played["best"]["accuracy"])
    assert answers(one) and len(scores) == 1


def test_who_has_read_the_source_knows_no_more(machine):
    one = machine("one")
    actions = one.actions(f"cat >forge.py <<'END'\n{FORGE}END\npython3 forge.py", "submit")
    binds = [word for path in PROGRAM for word in ("--bind", f"{path}:/data/{path.name}")]
    played = play(one, "--model", actions, *binds)
    assert 0.4 < played["best"]["accuracy"] < 0.62  # 0.51 is expected by chance


def test_a_task_is_told_before_its_data_is_made(machine):
    one = machine("one")
    shown = json.loads(one("task", "show", "titanicSurvival:micro", "--json").stdout)
    assert shown["data"] == ["train.csv", "test.csv", "sample_submission.csv"]
    checked = one("task", "check", "titanicSurvival").stdout
    assert "note: data set 'titanic-micro' is not looked at: it is made when" in checked
    play(one, "--model", "baseline")
    assert "is not looked at" not in one("task", "check", "titanicSurvival").stdout


def make_more(one: Fumehood, program: str) -> None:
    """Makes a task ./mine with a data set that a program makes."""
    one("task", "new", "mine")
    mine = one.folder / "mine"
    (mine / "datasets").mkdir()
    (mine / "datasets/more.yaml").write_text(
        "name: More\ndescription: x\nmake: {program: make.py}\nfiles: [{path: more.csv}]\n"
    )
    (mine / "make.py").write_text(program)
    with (mine / "task.yaml").open("a") as out:
        out.write("dataset_configs: [more]\n")


def test_a_program_that_fails_is_told(machine):
    one = machine("one")
    make_more(one, "raise SystemExit('no luck')\n")
    done = one("run", "--task", "./mine", "--model", "baseline", status=1)
    assert "make data set 'more': make.py: ended with status 1: no luck" in done.stderr
    (kept,) = (one.folder / "state" / "data").iterdir()
    assert kept.name.startswith("more@") and not list(kept.iterdir())


def test_a_program_has_the_packages_of_a_python_environment(machine):
    one = machine("one")
    make_more(one, "import only_here\nopen('more.csv', 'w').write(only_here.TEXT)\n")
    env = one.folder / "env"
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", env], check=True)
    (site,) = env.glob("lib/python3*/site-packages")
    (site / "only_here.py").write_text("TEXT = 'from there'\n")
    words = ("run", "--task", "./mine", "--model", "baseline", "--out", one.out)
    assert "No module named 'only_here'" in one(*words, status=1).stderr
    one(*words, "--python", env)
    (made,) = (one.folder / "state/data").rglob("more.csv")
    assert made.read_text() == "from there"
