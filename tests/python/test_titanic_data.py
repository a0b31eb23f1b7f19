# SPDX-License-Identifier: Apache-2.0
"""The task titanicSurvival: a ship that its key draws, solutions that climb, and Kaggle's split."""

from __future__ import annotations

import csv
import hashlib
import json
import secrets
import shutil
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from conftest import PYTHON, ROOT, check_climb, make_data, run_maker

TASK = ROOT / "tasks/titanicSurvival"
NAMES = ["answers.csv", "sample_submission.csv", "test.csv", "train.csv"]

Person = dict[str, str]

BARE = ("-S",)  # option of python3: no third-party packages

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


def make_micro(folder: Path, key: str) -> Path:
    return make_data("titanic-micro", folder, key, options=BARE)


@pytest.fixture(scope="module", params=range(3))
def micro(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data from a random key, as on another machine each time."""
    return make_micro(tmp_path_factory.mktemp("micro") / "data", secrets.token_hex(32))


def read(path: Path) -> list[Person]:
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


def accuracy(folder: Path, name: str, program: Path) -> float:
    """Runs a program beside data/ with no package but Python's own, and scores what it writes."""
    work = folder / name
    (work / "data").mkdir(parents=True)
    for file in ("train.csv", "test.csv"):
        shutil.copy(folder / file, work / "data")
    subprocess.run([PYTHON, "-S", str(program)], cwd=work, check=True)
    truth = {row["PassengerId"]: row["Survived"] for row in read(folder / "answers.csv")}
    rows = read(work / "submission.csv")
    assert sorted(row["PassengerId"] for row in rows) == sorted(truth)
    return sum(truth[row["PassengerId"]] == row["Survived"] for row in rows) / len(rows)


def share(a: list[str], b: list[str]) -> float:
    return sum(x == y for x, y in zip(a, b, strict=True)) / len(b)


def survived(path: Path) -> list[str]:
    return [row["Survived"] for row in read(path)]


# --- tests of the generated data ----------------------------------------------------------------


def test_everyone_is_there_once(micro: Path) -> None:
    train, test, answers = (read(micro / f"{name}.csv") for name in ("train", "test", "answers"))
    assert (len(train), len(test)) == (1400, 1100)
    assert list(train[0]) == KAGGLE_COLUMNS
    assert list(test[0]) == [name for name in KAGGLE_COLUMNS if name != "Survived"]
    assert [row["PassengerId"] for row in test] == [row["PassengerId"] for row in answers]
    people = train + [{**a, **b} for a, b in zip(test, answers, strict=True)]
    assert [int(row["PassengerId"]) for row in people] == list(range(1, 2501))
    assert sum(row["Survived"] == "1" for row in people) == 1050
    assert set(survived(micro / "sample_submission.csv")) == {"0"}


def test_a_ticket_is_for_one_party(micro: Path) -> None:
    """Those who share it also share class, fare, cabin and port. Families share a surname."""
    parties: dict[str, list[Person]] = {}
    for row in read(micro / "train.csv") + read(micro / "test.csv"):
        parties.setdefault(row["Ticket"], []).append(row)
    assert max(map(len, parties.values())) <= 6
    for party in parties.values():
        for name in ("Pclass", "Fare", "Cabin", "Embarked"):
            assert len({person[name] for person in party}) == 1
        family = any(person["SibSp"] != "0" for person in party)
        assert not family or len({person["Name"].split(",")[0] for person in party}) == 1


def test_order_and_ids_say_nothing(tmp_path: Path) -> None:
    """Neighbours, parities and halves agree no more often than chance has it.

    With keys that are always the same, so that chance doesn't fail the test now and then.
    """
    for number in range(5):
        folder = make_micro(tmp_path / str(number), f"{number:064x}")
        fates = [int(fate) for fate in survived(folder / "answers.csv")]
        ids = [int(row["PassengerId"]) for row in read(folder / "answers.csv")]
        n, middle = len(fates), sum(fates) / len(fates)
        spread = (middle * (1 - middle)) ** 0.5

        def z(chosen: list[int], middle: float = middle, spread: float = spread) -> float:
            return (sum(chosen) / len(chosen) - middle) / (spread / len(chosen) ** 0.5)

        assert abs(z(fates[: n // 2])) < 3.5
        assert abs(z(fates[::2])) < 3.5
        for modulus in (2, 3, 7, 10):
            picked = [s for s, i in zip(fates, ids, strict=True) if i % modulus == 0]
            assert abs(z(picked)) < 3.5
        lag = sum((a - middle) * (b - middle) for a, b in pairwise(fates))
        assert abs(lag / (spread**2 * n**0.5)) < 3.5


def facts(folder: Path) -> set[tuple[str, ...]]:
    """All passengers, without their numbers."""
    people = read(folder / "train.csv") + read(folder / "test.csv")
    return {(row["Name"], row["Ticket"]) for row in people}


GUESSES = {
    "zero": "0" * 64,
    "empty": hashlib.sha256(b"").hexdigest(),
    "id": hashlib.sha256(b"titanic-micro").hexdigest(),
    "purpose and id": hashlib.sha256(b"data\0titanic-micro\0\0").hexdigest(),
    "no secret": hashlib.sha256(
        hashlib.sha256(b"data\0" + bytes(32) + b"titanic-micro\0\0").digest()
    ).hexdigest(),
    "program": hashlib.sha256((TASK / "prepare.py").read_bytes()).hexdigest(),
}


def test_no_guess_gives_answers(tmp_path: Path) -> None:
    """Another key gives other passengers, and fates that agree by chance."""
    key = secrets.token_hex(32)
    micro, same = make_micro(tmp_path / "micro", key), make_micro(tmp_path / "same", key)
    assert facts(micro) == facts(same)
    fates = survived(micro / "answers.csv")
    for name, guess in GUESSES.items():
        made = make_micro(tmp_path / name, guess)
        assert not facts(made) & facts(micro)
        # Two unrelated ships, with 42 % of survivors each, agree on 51 % of the fates. The standard
        # deviation is 1.5 %.
        assert 0.43 < share(survived(made / "answers.csv"), fates) < 0.6


# --- tests that better solutions score better, and that no data ships ---------------------------

PLAIN = ("class", "sex", "port", "family")


def climb(folder: Path, solve: ModuleType) -> list[float]:
    """The accuracy of the baseline, of three solutions between, and of the solution."""
    train = read(folder / "train.csv")
    people, fates = train + read(folder / "test.csv"), [int(row["Survived"]) for row in train]
    truth = survived(folder / "answers.csv")

    def fit(rows: list) -> float:
        rows = solve.numbered(rows)
        weights = solve.fit(rows[: len(train)], fates)
        hidden = rows[len(train) :]
        return share([str(int(solve.logit(weights, row) > 0)) for row in hidden], truth)

    words = solve.describe(people)
    old = solve.cut([float(row["Age"] or 40) for row in people], 2)
    plain = [
        [word for word in row if word[0] in PLAIN] + [("old", half)]
        for row, half in zip(words, old, strict=True)
    ]
    return [
        accuracy(folder, "baseline", TASK / "starter/baseline.py"),
        fit(plain),
        fit(words),
        fit([solve.with_pairs(row) for row in words]),
        accuracy(folder, "solution", TASK / "solution/solve.py"),
    ]


def test_a_model_can_climb(tmp_path: Path, load: Callable[[Path], ModuleType]) -> None:
    solve = load(TASK / "solution/solve.py")
    check_climb(
        lambda number: climb(make_micro(tmp_path / str(number), f"{number:064x}"), solve),
        ends=(0.7, 0.77),
    )


def test_nothing_of_it_ships() -> None:
    """No list of answers, nor of who is in which half, beside the program."""
    assert not list(TASK.rglob("*.csv"))


# --- tests with a file like Kaggle's, and of the demonstration ----------------------------------


def kaggle(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return run_maker("titanic", "kaggle", path, folder, options=BARE)


def test_kaggle_split(tmp_path: Path) -> None:
    write_kaggle(tmp_path / "kaggle.csv")
    for folder in ("a", "b"):
        assert kaggle(tmp_path / "kaggle.csv", tmp_path / folder).returncode == 0
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
        assert kaggle(tmp_path / "kaggle.csv", tmp_path / folder).returncode == 0
        assert accuracy(tmp_path / folder, "work", TASK / program) > 0.85


def test_another_file_is_refused(tmp_path: Path) -> None:
    write_kaggle(tmp_path / "short.csv", rows=890)
    result = kaggle(tmp_path / "short.csv", tmp_path / "out")
    assert result.returncode == 1
    assert "short.csv is not a table of 891 rows with the columns PassengerId," in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("task", ["titanicSurvival", "battleOfSexes"])
def test_demo_is_strings_that_end_with_submit(task: str) -> None:
    lines = (ROOT / "tasks" / task / "demo.jsonl").read_text().splitlines()
    actions = [json.loads(line) for line in lines]
    assert all(isinstance(action, str) for action in actions)
    assert actions[-1] == "submit"
    assert sum(action.endswith("validate") for action in actions) == 2
    for action in actions:
        assert subprocess.run(["bash", "-n"], input=action, text=True, check=True).returncode == 0
