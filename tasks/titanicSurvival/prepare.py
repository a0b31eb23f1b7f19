#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of both variants of this task.

    prepare.py micro FOLDER            passengers of a made-up ship, which $FUMEHOOD_DATA_KEY draws
    prepare.py kaggle TRAIN_CSV FOLDER splits Kaggle's labelled passengers into train and test

Either writes train.csv, test.csv (without Survived), sample_submission.csv and answers.csv. The
grader alone sees the last one. The same input and key give the same bytes.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from pathlib import Path

from making import Draws, data_key, main, read_csv, write_columns

Row = dict[str, str]

# --- making up random passengers -----------------------------------------------------------------

# Columns of Kaggle's Titanic tables, in the same order.
COLUMNS = [
    *("PassengerId", "Survived", "Pclass", "Name", "Sex", "Age"),
    *("SibSp", "Parch", "Ticket", "Fare", "Cabin", "Embarked"),
]
ROWS = (1400, 1100)  # passengers for training, and for the hidden test
ALONE = 0.3  # share of tickets for one person; the others are for 2 to 6
FAMILY = 0.6  # share of families among tickets for several persons
NO_AGE, NO_CABIN = 0.1, 0.15  # shares of empty fields Age and Cabin

SEXES = ("male", "female")
TITLES = {"male": ("Mr", "Dr", "Rev", "Capt"), "female": ("Mrs", "Miss", "Mme", "Dr")}
TITLES_OF_CHILDREN = {"male": "Master", "female": "Miss"}
PREFIXES = ("A/5", "CA", "PC", "SC", "STON", "W/C")


@dataclass
class Party:
    """People with one ticket. A family is a couple and its children."""

    row: Row  # columns that all members of the party share
    size: int
    surname: str  # surname of a family; "" for other parties
    price: float  # quantile of the fare in its class
    luck: float  # part of the fate that all members share


@dataclass
class Passenger:
    party: Party
    row: Row
    age: float
    title: str


def draw_name(draws: Draws, letters: str) -> str:
    return "".join(draws.sample(letters, 6)).capitalize()


def draw_surname(draws: Draws) -> str:
    return draw_name(draws, "abdefgiklmnoprstu")


def draw_party(draws: Draws, number: int) -> Party:
    size = 1 if draws.chance(ALONE) else 2 + draws.below(5)
    family = size > 1 and draws.chance(FAMILY)
    place, price = 1 + draws.below(3), draws.uniform()
    cabin = f"{draws.choice('ABCDEFG')}{1 + draws.below(148)}"
    row = {
        "Pclass": str(place),
        "Ticket": f"{draws.choice(PREFIXES)} {1000 + 7 * number + draws.below(7)}",
        "Fare": f"{40 * size / place * 4 ** (price - 0.5):.4f}",
        "Cabin": "" if draws.chance(NO_CABIN) else cabin,
        "Embarked": draws.choice("CQS"),
    }
    surname = draw_surname(draws) if family else ""
    return Party(row, size, surname, price, luck=draws.normal() if size > 1 else 0.0)


def draw_passenger(draws: Draws, party: Party, i: int) -> Passenger:
    couple = bool(party.surname) and i < 2
    child = bool(party.surname) and not couple
    children = party.size - 2 if party.surname else 0
    sex = SEXES[i] if couple else draws.choice(SEXES)
    age = 16 * draws.uniform() if child else 16 + 54 * draws.uniform()
    title = TITLES_OF_CHILDREN[sex] if child else draws.choice(TITLES[sex])
    surname = party.surname or draw_surname(draws)
    row = party.row | {
        "Name": f"{surname}, {title}. {draw_name(draws, 'aeilmnorst')}",
        "Sex": sex,
        "Age": "" if draws.chance(NO_AGE) else f"{age:.2f}" if age < 1 else f"{age:.0f}",
        "SibSp": str(children - 1 if child else int(couple)),
        "Parch": str(2 if child else children),
    }
    return Passenger(party, row, age, title)


def draw_passengers(draws: Draws) -> list[Passenger]:
    people: list[Passenger] = []
    while len(people) < sum(ROWS):
        party = draw_party(draws, len(people))
        people += [draw_passenger(draws, party, i) for i in range(party.size)]
    return people[: sum(ROWS)]


# --- deciding at random who survives ------------------------------------------------------------

SURVIVORS = 0.42  # share of passengers who survive

# Shares of the variance that decide who survives: sex, single columns, traits hidden in texts,
# pairs of traits, and the luck of a party. Noise makes up the rest.
SEX, PLAIN, READ, TOGETHER, LUCK = 0.13, 0.17, 0.19, 0.18, 0.28
NOISE = 1 - SEX - PLAIN - READ - TOGETHER - LUCK

PLAIN_TRAITS = ("class", "port", "age", "price", "family")
READ_TRAITS = ("title", "deck", "side", "prefix", "age of majority", "middling price")
PAIRED_TRAITS = ("sex", "class", "port", "age", "price", "deck", "side", "prefix")
TERMS = 4  # number of effects of each kind


def scaled(values: list[float]) -> list[float]:
    """The values with mean 0 and variance 1."""
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
    return [(v - mean) / deviation for v in values]


def product(a: list[float], b: list[float]) -> list[float]:
    return scaled([x * y for x, y in zip(a, b, strict=True)])


def levels(draws: Draws, words: list[str]) -> list[float]:
    """A number for each word. The order of the words is drawn."""
    order = draws.shuffled(sorted(set(words)))
    return scaled([float(order.index(word)) for word in words])


def draw_traits(draws: Draws, people: list[Passenger]) -> dict[str, list[float]]:
    """Traits that may matter, as a number for each passenger."""
    rows = [p.row for p in people]
    ages, prices = [p.age for p in people], [p.party.price for p in people]
    majority = sorted(ages)[int((0.3 + 0.4 * draws.uniform()) * len(ages))]
    middle = 0.3 + 0.4 * draws.uniform()
    return {
        "sex": scaled([float(row["Sex"] == "female") for row in rows]),
        "class": levels(draws, [row["Pclass"] for row in rows]),
        "port": levels(draws, [row["Embarked"] for row in rows]),
        "age": scaled(ages),
        "price": scaled(prices),
        "family": scaled([float(row["SibSp"]) + float(row["Parch"]) for row in rows]),
        "title": levels(draws, [p.title for p in people]),
        "deck": levels(draws, [row["Cabin"][:1] for row in rows]),
        "side": levels(draws, [row["Cabin"] and str(int(row["Cabin"][1:]) % 2) for row in rows]),
        "prefix": levels(draws, [row["Ticket"].split()[0] for row in rows]),
        "age of majority": scaled([float(age > majority) for age in ages]),
        "middling price": scaled([abs(price - middle) for price in prices]),
    }


def weighted(draws: Draws, terms: list[list[float]], share: float) -> list[list[float]]:
    """The terms with drawn signs and sizes. Their variances add up to the share."""
    raw = [(1 + 1.5 * draws.uniform()) * draws.choice((1, -1)) for _ in terms]
    scale = math.sqrt(share / sum(w * w for w in raw))
    return [[w * scale * v for v in term] for w, term in zip(raw, terms, strict=True)]


def draw_fates(key: bytes, people: list[Passenger]) -> list[str]:
    """Survived of each: the key draws which traits matter, how, and which two act together."""
    draws, noise = Draws(key, "titanic\0fates"), Draws(key, "titanic\0noise")
    traits = draw_traits(draws, people)
    plain = [traits[name] for name in draws.sample(PLAIN_TRAITS, TERMS)]
    read = [traits[name] for name in draws.sample(READ_TRAITS, TERMS)]
    paired = [traits[name] for name in draws.sample(PAIRED_TRAITS, 2 * TERMS)]
    pairs = [product(a, b) for a, b in zip(paired[::2], paired[1::2], strict=True)]
    luck = scaled([p.party.luck for p in people])
    terms = [
        *weighted(draws, plain, PLAIN),
        *weighted(draws, read, READ),
        *weighted(draws, pairs, TOGETHER),
        [math.sqrt(LUCK) * v for v in luck],
        [math.sqrt(NOISE) * noise.normal() for _ in people],
    ]
    rest = apart_from_sex(people, [sum(values) for values in zip(*terms, strict=True)])
    sums = [math.sqrt(SEX) * sex + other for sex, other in zip(traits["sex"], rest, strict=True)]
    least = sorted(sums)[round((1 - SURVIVORS) * len(sums))]
    return [str(int(value >= least)) for value in sums]


def apart_from_sex(people: list[Passenger], values: list[float]) -> list[float]:
    """The values, scaled to mean 0 and a variance of 1 - SEX for either sex.

    So the rule by sex alone is about equally good on all ships.
    """
    changed = list(values)
    for sex in SEXES:
        those = [i for i, person in enumerate(people) if person.row["Sex"] == sex]
        for i, value in zip(those, scaled([values[i] for i in those]), strict=True):
            changed[i] = math.sqrt(1 - SEX) * value
    return changed


# --- writing the data sets ------------------------------------------------------------------------

KAGGLE_ROWS = 891
KAGGLE_TEST_ROWS = 297  # a third of Kaggle's training rows


def write_split(folder: Path, train: list[Row], test: list[Row]) -> None:
    columns = list(train[0])
    answer = ["PassengerId", "Survived"]

    write_columns(folder / "train.csv", columns, train)
    write_columns(folder / "test.csv", [name for name in columns if name != "Survived"], test)
    write_columns(folder / "answers.csv", answer, test)
    nobody = [{**person, "Survived": "0"} for person in test]
    write_columns(folder / "sample_submission.csv", answer, nobody)


def prepare_micro(folder: str) -> None:
    key = data_key()
    people = draw_passengers(Draws(key, "titanic\0passengers"))
    fates = draw_fates(key, people)
    both = [p.row | {"Survived": fate} for p, fate in zip(people, fates, strict=True)]
    rows = [
        {"PassengerId": str(number), **row}
        for number, row in enumerate(Draws(key, "titanic\0order").shuffled(both), start=1)
    ]
    rows = [{name: row[name] for name in COLUMNS} for row in rows]
    write_split(Path(folder), rows[: ROWS[0]], rows[ROWS[0] :])


def prepare_kaggle(train_csv: str, folder: str) -> None:
    """Holds out the people whose numbers hash lowest; these answers are public as it is."""
    people = read_csv(train_csv, KAGGLE_ROWS, ["PassengerId", "Survived", "Sex"])
    ids = [person["PassengerId"] for person in people]
    ids.sort(key=lambda number: hashlib.sha256(f"titanic split {number}".encode()).digest())
    held_out = set(ids[:KAGGLE_TEST_ROWS])
    train = [person for person in people if person["PassengerId"] not in held_out]
    test = [person for person in people if person["PassengerId"] in held_out]
    write_split(Path(folder), train, test)


if __name__ == "__main__":
    main(micro=prepare_micro, kaggle=prepare_kaggle)
