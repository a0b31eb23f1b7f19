# SPDX-License-Identifier: Apache-2.0
"""The data of the task titanicSurvival: split cleanly, and silent about the answers without the key."""

from __future__ import annotations

import csv
import hashlib
import json
import secrets
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TASK = ROOT / "tasks/titanicSurvival"
NAMES = ["answers.csv", "sample_submission.csv", "test.csv", "train.csv"]
PYTHON = "/usr/bin/python3"

Person = dict[str, str]
Group = tuple[str, ...]

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


def prepare(*arguments: str | Path, key: str = "") -> subprocess.CompletedProcess[str]:
    command = [PYTHON, "-S", str(TASK / "prepare.py"), *map(str, arguments)]
    env = {"FUMEHOOD_DATA_KEY": key}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def make_micro(folder: Path, key: str) -> Path:
    done = prepare("micro", folder, key=key)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.iterdir()) == NAMES
    return folder


@pytest.fixture(scope="module", params=range(3))
def micro(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one machine has: each time another."""
    return make_micro(tmp_path_factory.mktemp("micro"), secrets.token_hex(32))


def read(path: Path) -> list[Person]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def group_of(person: Person) -> Group:
    return person["Class"], person["Sex"], person["Age"]


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


def predict(people: list[Person], rule: dict[Group, str]) -> list[str]:
    return [rule[group_of(person)] for person in people]


def share(a: list[str], b: list[str]) -> float:
    return sum(x == y for x, y in zip(a, b, strict=True)) / len(b)


def survived(path: Path) -> list[str]:
    return [row["Survived"] for row in read(path)]


# --- micro --------------------------------------------------------------------------------------


def test_everyone_is_there_once(micro: Path) -> None:
    train, test, answers = (read(micro / f"{name}.csv") for name in ("train", "test", "answers"))
    assert (len(train), len(test)) == (1101, 1100)
    assert [row["PassengerId"] for row in test] == [row["PassengerId"] for row in answers]
    people = train + [{**a, **b} for a, b in zip(test, answers, strict=True)]
    assert sorted(int(row["PassengerId"]) for row in people) == list(range(1, 2202))
    assert Counter(row["Survived"] for row in people) == {"0": 1490, "1": 711}
    by_class = Counter(row["Class"] for row in people)
    assert by_class == {"1st": 325, "2nd": 285, "3rd": 706, "crew": 885}
    cell = Counter((*group_of(row), row["Survived"]) for row in people)
    assert cell["1st", "female", "adult", "0"] == 4
    assert cell["3rd", "male", "child", "1"] == 13


def test_test_set_does_not_hold_the_answer(micro: Path) -> None:
    assert list(read(micro / "test.csv")[0]) == ["PassengerId", "Class", "Sex", "Age"]
    assert set(survived(micro / "sample_submission.csv")) == {"0"}


def test_order_and_ids_say_nothing(tmp_path: Path) -> None:
    """Neighbours, parities and halves agree no more often than chance has it.

    With keys that are always the same, so that chance doesn't fail the test now and then.
    """
    for number in range(5):
        folder = make_micro(tmp_path / str(number), f"{number:064x}")
        fates = [int(fate) for fate in survived(folder / "answers.csv")]
        ids = [int(row["PassengerId"]) for row in read(folder / "answers.csv")]
        n, mean = len(fates), sum(fates) / len(fates)
        spread = (mean * (1 - mean)) ** 0.5

        def z(chosen: list[int], mean: float = mean, spread: float = spread) -> float:
            return (sum(chosen) / len(chosen) - mean) / (spread / len(chosen) ** 0.5)

        assert abs(z(fates[: n // 2])) < 3.5
        assert abs(z(fates[::2])) < 3.5
        for modulus in (2, 3, 7, 10):
            picked = [s for s, i in zip(fates, ids, strict=True) if i % modulus == 0]
            assert abs(z(picked)) < 3.5
        lag = sum((a - mean) * (b - mean) for a, b in zip(fates, fates[1:], strict=False))
        assert abs(lag / (spread**2 * n**0.5)) < 3.5


def test_every_machine_scores_alike(micro: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        shutil.copytree(micro, tmp_path / name)
    assert accuracy(tmp_path / "a", TASK / "starter/baseline.py") == 858 / 1100
    assert accuracy(tmp_path / "b", TASK / "solution/solve.py") == 870 / 1100


def test_no_rule_is_better_than_the_solution(micro: Path) -> None:
    """Even one that is made from the answers' own counts, which prepare.py tells everyone."""
    test, fates = read(micro / "test.csv"), survived(micro / "answers.csv")
    groups: dict[Group, Counter[str]] = {}
    for person, fate in zip(test, fates, strict=True):
        groups.setdefault(group_of(person), Counter())[fate] += 1
    rule = {group: counts.most_common(1)[0][0] for group, counts in groups.items()}
    assert share(predict(test, rule), fates) == 870 / 1100


def test_machines_have_other_answers(tmp_path: Path) -> None:
    key = secrets.token_hex(32)
    a, again = make_micro(tmp_path / "a", key), make_micro(tmp_path / "again", key)
    b = make_micro(tmp_path / "b", secrets.token_hex(32))
    for name in NAMES:
        assert (a / name).read_bytes() == (again / name).read_bytes()
        assert (a / name).read_bytes() != (b / name).read_bytes()


def forge(seen: Path, made: Path) -> list[str]:
    """The best that one can do who has made the data with a guess, and sees the real ones.

    By number where the guess has that person in the same group, else by the training half.
    """
    votes: dict[Group, Counter[str]] = {}
    for person in read(seen / "train.csv"):
        votes.setdefault(group_of(person), Counter())[person["Survived"]] += 1
    fates = dict(
        zip(ids_and_groups(made / "test.csv"), survived(made / "answers.csv"), strict=True)
    )
    fates |= {(r["PassengerId"], *group_of(r)): r["Survived"] for r in read(made / "train.csv")}
    return [
        fates.get(who) or votes.get(who[1:], Counter("1")).most_common(1)[0][0]
        for who in ids_and_groups(seen / "test.csv")
    ]


def ids_and_groups(path: Path) -> list[tuple[str, ...]]:
    return [(row["PassengerId"], *group_of(row)) for row in read(path)]


GUESSES = {
    "zero": "0" * 64,
    "ones": "f" * 64,
    "counting": bytes(range(32)).hex(),
    "empty": hashlib.sha256(b"").hexdigest(),
    "id": hashlib.sha256(b"titanic-micro").hexdigest(),
    "id and NUL": hashlib.sha256(b"titanic-micro\0").hexdigest(),
    "purpose and id": hashlib.sha256(b"data\0titanic-micro\0\0").hexdigest(),
    "no secret": hashlib.sha256(
        hashlib.sha256(b"data\0" + bytes(32) + b"titanic-micro\0\0").digest()
    ).hexdigest(),
    "program": hashlib.sha256((TASK / "prepare.py").read_bytes()).hexdigest(),
}


@pytest.mark.parametrize("guess", GUESSES)
def test_no_guess_gives_answers(micro: Path, tmp_path: Path, guess: str) -> None:
    made = make_micro(tmp_path / "made", GUESSES[guess])
    assert share(forge(micro, made), survived(micro / "answers.csv")) < 0.795


def test_the_key_gives_answers(tmp_path: Path) -> None:
    """So the test above can fail."""
    key = secrets.token_hex(32)
    seen, made = make_micro(tmp_path / "seen", key), make_micro(tmp_path / "made", key)
    assert share(forge(seen, made), survived(seen / "answers.csv")) == 1


@pytest.mark.parametrize("key", ["", "00", "0" * 63, "0" * 66, "g" * 64])
def test_a_key_is_needed(tmp_path: Path, key: str) -> None:
    done = prepare("micro", tmp_path / "made", key=key)
    assert done.returncode == 1
    assert "FUMEHOOD_DATA_KEY must be 64 hexadecimal digits" in done.stderr
    assert not (tmp_path / "made").exists()


def test_nothing_of_it_ships() -> None:
    """No list of answers, nor of who is in which half, beside the program."""
    assert not list(TASK.rglob("*.csv"))


# --- full ---------------------------------------------------------------------------------------


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
    assert prepare("micro", key="0" * 64).returncode == 1
    assert "usage: prepare.py" in prepare().stderr


@pytest.mark.parametrize("task", ["titanicSurvival", "battleOfSexes"])
def test_demo_is_strings_that_end_with_submit(task: str) -> None:
    lines = (ROOT / "tasks" / task / "demo.jsonl").read_text().splitlines()
    actions = [json.loads(line) for line in lines]
    assert all(isinstance(action, str) for action in actions)
    assert actions[-1] == "submit"
    assert sum(action.endswith("validate") for action in actions) == 2
    for action in actions:
        assert subprocess.run(["bash", "-n"], input=action, text=True, check=True).returncode == 0
