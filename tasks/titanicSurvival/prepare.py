#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of both variants of this task.

    prepare.py micro FOLDER            passengers made from counts, shuffled by $FUMEHOOD_DATA_KEY
    prepare.py kaggle TRAIN_CSV FOLDER splits Kaggle's labelled passengers into train and test

Either writes train.csv, test.csv (without Survived), sample_submission.csv and answers.csv, which
is for the grader alone. The same input and key give the same bytes.
"""

from __future__ import annotations

import csv
import hashlib
import hmac
import os
import sys
from collections.abc import Callable
from pathlib import Path

Person = dict[str, str]

# People aboard and survivors (Dawson 1995, after the British inquiry's report), split in halves.
# The split of each group is fixed, so that rules score the same on every machine.
# Class, sex, age; died and survived of the training half; died and survived of the hidden half.
COUNTS = [
    ("1st", "male", "adult", (62, 29), (56, 28)),
    ("1st", "male", "child", (0, 4), (0, 1)),
    ("1st", "female", "adult", (3, 64), (1, 76)),
    ("1st", "female", "child", (0, 0), (0, 1)),
    ("2nd", "male", "adult", (82, 6), (72, 8)),
    ("2nd", "male", "child", (0, 7), (0, 4)),
    ("2nd", "female", "adult", (8, 39), (5, 41)),
    ("2nd", "female", "child", (0, 8), (0, 5)),
    ("3rd", "male", "adult", (198, 42), (189, 33)),
    ("3rd", "male", "child", (16, 7), (19, 6)),
    ("3rd", "female", "adult", (46, 40), (43, 36)),
    ("3rd", "female", "child", (9, 6), (8, 8)),
    ("crew", "male", "adult", (321, 88), (349, 104)),
    ("crew", "female", "adult", (2, 14), (1, 6)),
]
KAGGLE_TEST_ROWS = 297  # a third of its 891


def data_key() -> bytes:
    """Returns 32 secret bytes: order and ids follow from them."""
    try:
        key = bytes.fromhex(os.environ["FUMEHOOD_DATA_KEY"])
    except (KeyError, ValueError):
        key = b""
    if len(key) != 32:
        sys.exit("FUMEHOOD_DATA_KEY must be 64 hexadecimal digits")
    return key


def everyone(key: bytes) -> list[tuple[bool, Person]]:
    """All 2,201 people, whether each is of the hidden half; shuffled, and numbered in that order.

    A keyed hash decides on a place: its output tells nothing, unlike a generator's.
    """
    people = [
        (hidden, {"Class": place, "Sex": sex, "Age": age, "Survived": survived})
        for place, sex, age, *halves in COUNTS
        for hidden, counts in zip((False, True), halves, strict=True)
        for survived, count in zip("01", counts, strict=True)
        for _ in range(count)
    ]
    order = sorted(
        range(len(people)), key=lambda i: hmac.digest(key, f"titanic {i}".encode(), "sha256")
    )
    return [
        (people[i][0], {"PassengerId": str(n), **people[i][1]})
        for n, i in enumerate(order, start=1)
    ]


def write_rows(path: Path, columns: list[str], rows: list[Person]) -> None:
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_split(folder: Path, train: list[Person], test: list[Person]) -> None:
    columns = list(test[0])
    answer = ["PassengerId", "Survived"]

    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder / "train.csv", columns, train)
    write_rows(folder / "test.csv", [name for name in columns if name != "Survived"], test)
    write_rows(folder / "answers.csv", answer, test)
    nobody = [{**person, "Survived": "0"} for person in test]
    write_rows(folder / "sample_submission.csv", answer, nobody)


def prepare_micro(folder: str) -> None:
    people = everyone(data_key())
    train = [person for hidden, person in people if not hidden]
    test = [person for hidden, person in people if hidden]
    write_split(Path(folder), train, test)


def prepare_kaggle(train_csv: str, folder: str) -> None:
    """Holds out the people whose numbers hash lowest; these answers are public as it is."""
    with open(train_csv, newline="", encoding="utf-8-sig") as file:
        people = list(csv.DictReader(file))
    if len(people) != 891 or not {"PassengerId", "Survived", "Sex"} <= people[0].keys():
        sys.exit(f"{train_csv} is not Kaggle's train.csv of 891 passengers")
    ids = [person["PassengerId"] for person in people]
    ids.sort(key=lambda number: hashlib.sha256(f"titanic split {number}".encode()).digest())
    held_out = set(ids[:KAGGLE_TEST_ROWS])
    train = [person for person in people if person["PassengerId"] not in held_out]
    test = [person for person in people if person["PassengerId"] in held_out]
    write_split(Path(folder), train, test)


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
