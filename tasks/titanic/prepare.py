#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of both variants of this task.

    prepare.py micro FOLDER            passengers made from counts; data/micro is what this writes
    prepare.py kaggle TRAIN_CSV FOLDER splits Kaggle's labelled passengers into train and test

Either writes train.csv, test.csv (without Survived), sample_submission.csv and answers.csv, which
is for the grader alone. The same input gives the same bytes: order and split come from hashes of
numbers that say nothing about who survived.
"""

from __future__ import annotations

import csv
import hashlib
import sys
from collections.abc import Callable
from pathlib import Path

Person = dict[str, str]

# Who was aboard, and who of them survived (Dawson 1995, after the British inquiry's report).
# Class, sex, age, died, survived.
COUNTS = [
    ("1st", "male", "adult", 118, 57),
    ("1st", "male", "child", 0, 5),
    ("1st", "female", "adult", 4, 140),
    ("1st", "female", "child", 0, 1),
    ("2nd", "male", "adult", 154, 14),
    ("2nd", "male", "child", 0, 11),
    ("2nd", "female", "adult", 13, 80),
    ("2nd", "female", "child", 0, 13),
    ("3rd", "male", "adult", 387, 75),
    ("3rd", "male", "child", 35, 13),
    ("3rd", "female", "adult", 89, 76),
    ("3rd", "female", "child", 17, 14),
    ("crew", "male", "adult", 670, 192),
    ("crew", "female", "adult", 3, 20),
]
MICRO_TEST_ROWS = 1100
KAGGLE_TEST_ROWS = 297  # a third of its 891


def hashed(what: str, number: str) -> bytes:
    """A key to sort by: as good as a shuffle, and the same for ever."""
    return hashlib.sha256(f"titanic {what} {number}".encode()).digest()


def everyone() -> list[Person]:
    """All 2,201 people in an order that says nothing, numbered in that order."""
    people = [
        {"Class": place, "Sex": sex, "Age": age, "Survived": survived}
        for place, sex, age, died, lived in COUNTS
        for survived in ["0"] * died + ["1"] * lived
    ]
    order = sorted(range(len(people)), key=lambda i: hashed("order", str(i)))
    return [{"PassengerId": str(n), **people[i]} for n, i in enumerate(order, start=1)]


def write_rows(path: Path, columns: list[str], rows: list[Person]) -> None:
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_split(folder: Path, people: list[Person], test_rows: int) -> None:
    """Holds out the test_rows people whose numbers hash lowest."""
    by_hash = sorted(people, key=lambda person: hashed("split", person["PassengerId"]))
    held_out = {person["PassengerId"] for person in by_hash[:test_rows]}
    test = [person for person in people if person["PassengerId"] in held_out]
    train = [person for person in people if person["PassengerId"] not in held_out]
    columns = list(people[0])
    answer = ["PassengerId", "Survived"]

    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder / "train.csv", columns, train)
    write_rows(folder / "test.csv", [name for name in columns if name != "Survived"], test)
    write_rows(folder / "answers.csv", answer, test)
    nobody = [{**person, "Survived": "0"} for person in test]
    write_rows(folder / "sample_submission.csv", answer, nobody)


def prepare_micro(folder: str) -> None:
    write_split(Path(folder), everyone(), MICRO_TEST_ROWS)


def prepare_kaggle(train_csv: str, folder: str) -> None:
    with open(train_csv, newline="", encoding="utf-8-sig") as file:
        people = list(csv.DictReader(file))
    if len(people) != 891 or not {"PassengerId", "Survived", "Sex"} <= people[0].keys():
        sys.exit(f"{train_csv} is not Kaggle's train.csv of 891 passengers")
    write_split(Path(folder), people, KAGGLE_TEST_ROWS)


COMMANDS: dict[str, tuple[Callable[..., None], int]] = {
    "micro": (prepare_micro, 1),
    "kaggle": (prepare_kaggle, 2),
}


def main(arguments: list[str]) -> None:
    command, n = COMMANDS.get(arguments[0] if arguments else "", (None, 0))
    if not command or len(arguments) != n + 1:
        sys.exit("usage: prepare.py micro FOLDER | prepare.py kaggle TRAIN_CSV FOLDER")
    command(*arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
