# SPDX-License-Identifier: Apache-2.0
"""The data of the task titanic: made again, split cleanly, and silent about the answers."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TASK = ROOT / "tasks/titanic"
MICRO = TASK / "data/micro"
NAMES = ["answers.csv", "sample_submission.csv", "test.csv", "train.csv"]
PYTHON = "/usr/bin/python3"

KAGGLE_COLUMNS = [
    "PassengerId",
    "Survived",
    "Pclass",
    "Name",
    "Sex",
    "Age",
    "SibSp",
    "Parch",
    "Ticket",
    "Fare",
    "Cabin",
    "Embarked",
]


def prepare(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [PYTHON, "-S", str(TASK / "prepare.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def read(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def write_kaggle(path: Path, rows: int = 891) -> None:
    """A file of the form of Kaggle's: same columns, made-up passengers."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(KAGGLE_COLUMNS)
        for i in range(1, rows + 1):
            sex = ["male", "female", "male"][i % 3]
            survived = int(sex == "female") ^ int(i % 10 == 0)
            name = f'Doe, Mr. J. "{i}"'
            age = "" if i % 7 == 0 else i % 60
            writer.writerow([i, survived, i % 3 + 1, name, sex, age, 0, 0, f"A {i}", 7.25, "", "S"])


def accuracy(folder: Path, program: Path) -> float:
    """Runs a program beside data/ with no package but Python's own, and scores what it writes."""
    work = folder / "work"
    (work / "data").mkdir(parents=True)
    for name in ("train.csv", "test.csv"):
        shutil.copy(folder / name, work / "data")
    subprocess.run([PYTHON, "-S", str(program)], cwd=work, check=True)
    truth = {row["PassengerId"]: row["Survived"] for row in read(folder / "answers.csv")}
    rows = read(work / "submission.csv")
    assert sorted(row["PassengerId"] for row in rows) == sorted(truth)
    return sum(truth[row["PassengerId"]] == row["Survived"] for row in rows) / len(rows)


def test_micro_is_made_again_byte_for_byte(tmp_path: Path) -> None:
    assert prepare("micro", tmp_path).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == NAMES
    for name in NAMES:
        assert (tmp_path / name).read_bytes() == (MICRO / name).read_bytes(), name


def test_dataset_names_these_bytes() -> None:
    listed = re.findall(
        r"path: (\S+), sha256: (\w+)", (ROOT / "datasets/titanic-micro.yaml").read_text()
    )
    assert sorted(name for name, _ in listed) == NAMES
    for name, sha256 in listed:
        assert hashlib.sha256((MICRO / name).read_bytes()).hexdigest() == sha256


def test_everyone_is_there_once() -> None:
    train, test, answers = (read(MICRO / f"{name}.csv") for name in ("train", "test", "answers"))
    assert (len(train), len(test)) == (1101, 1100)
    assert [row["PassengerId"] for row in test] == [row["PassengerId"] for row in answers]
    people = train + [{**a, **b} for a, b in zip(test, answers, strict=True)]
    assert sorted(int(row["PassengerId"]) for row in people) == list(range(1, 2202))
    assert Counter(row["Survived"] for row in people) == {"0": 1490, "1": 711}
    by_class = Counter(row["Class"] for row in people)
    assert by_class == {"1st": 325, "2nd": 285, "3rd": 706, "crew": 885}
    cell = Counter((row["Class"], row["Sex"], row["Age"], row["Survived"]) for row in people)
    assert cell["1st", "female", "adult", "0"] == 4
    assert cell["3rd", "male", "child", "1"] == 13


def test_test_set_does_not_hold_the_answer() -> None:
    assert list(read(MICRO / "test.csv")[0]) == ["PassengerId", "Class", "Sex", "Age"]
    assert {row["Survived"] for row in read(MICRO / "sample_submission.csv")} == {"0"}


def test_order_and_ids_say_nothing() -> None:
    """Neighbours, parities and halves agree no more often than chance has it."""
    survived = [int(row["Survived"]) for row in read(MICRO / "answers.csv")]
    ids = [int(row["PassengerId"]) for row in read(MICRO / "answers.csv")]
    n, mean = len(survived), sum(survived) / len(survived)
    spread = (mean * (1 - mean)) ** 0.5

    def z(chosen: list[int]) -> float:
        return (sum(chosen) / len(chosen) - mean) / (spread / len(chosen) ** 0.5)

    assert abs(z(survived[: n // 2])) < 3
    assert abs(z(survived[::2])) < 3
    for modulus in (2, 3, 7, 10):
        assert abs(z([s for s, i in zip(survived, ids, strict=True) if i % modulus == 0])) < 3
    lag = sum((a - mean) * (b - mean) for a, b in zip(survived, survived[1:], strict=False))
    assert abs(lag / (spread**2 * n**0.5)) < 3


def test_solution_beats_the_baseline(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for name in NAMES:
        shutil.copy(MICRO / name, tmp_path / "a")
        shutil.copy(MICRO / name, tmp_path / "b")
    assert accuracy(tmp_path / "a", TASK / "starter/baseline.py") == pytest.approx(0.78, abs=1e-9)
    assert accuracy(tmp_path / "b", TASK / "solution/solve.py") == pytest.approx(870 / 1100)


def test_kaggle_split(tmp_path: Path) -> None:
    write_kaggle(tmp_path / "kaggle.csv")
    for folder in ("a", "b"):
        assert prepare("kaggle", tmp_path / "kaggle.csv", tmp_path / folder).returncode == 0
    for name in NAMES:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    train, test, answers = (
        read(tmp_path / f"a/{name}.csv") for name in ("train", "test", "answers")
    )
    assert (len(train), len(test), len(answers)) == (594, 297, 297)
    assert list(train[0]) == KAGGLE_COLUMNS
    assert list(test[0]) == [name for name in KAGGLE_COLUMNS if name != "Survived"]
    assert {row["PassengerId"] for row in train}.isdisjoint(row["PassengerId"] for row in test)
    original = {row["PassengerId"]: row for row in read(tmp_path / "kaggle.csv")}
    for row in train:
        assert row == original[row["PassengerId"]]
    for row in answers:
        assert row["Survived"] == original[row["PassengerId"]]["Survived"]


def test_programs_run_on_kaggles_columns(tmp_path: Path) -> None:
    write_kaggle(tmp_path / "kaggle.csv")
    for folder, program in (("a", "starter/baseline.py"), ("b", "solution/solve.py")):
        assert prepare("kaggle", tmp_path / "kaggle.csv", tmp_path / folder).returncode == 0
        assert accuracy(tmp_path / folder, TASK / program) > 0.85


def test_another_file_is_refused(tmp_path: Path) -> None:
    write_kaggle(tmp_path / "short.csv", rows=890)
    result = prepare("kaggle", tmp_path / "short.csv", tmp_path / "out")
    assert result.returncode == 1
    assert "is not Kaggle's train.csv of 891 passengers" in result.stderr
    assert not (tmp_path / "out").exists()
    assert prepare("micro").returncode == 1
    assert "usage: prepare.py" in prepare().stderr


@pytest.mark.parametrize("task", ["titanic", "battleOfSexes"])
def test_demo_is_strings_that_end_with_submit(task: str) -> None:
    lines = (ROOT / "tasks" / task / "demo.jsonl").read_text().splitlines()
    actions = [json.loads(line) for line in lines]
    assert all(isinstance(action, str) for action in actions)
    assert actions[-1] == "submit"
    assert sum(action.endswith("validate") for action in actions) == 2
    for action in actions:
        assert subprocess.run(["bash", "-n"], input=action, text=True, check=True).returncode == 0
