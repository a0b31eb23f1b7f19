#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of both variants of this task.

    prepare.py micro FOLDER            houses of a made-up town, which $FUMEHOOD_DATA_KEY draws
    prepare.py kaggle TRAIN_CSV FOLDER splits Kaggle's houses as MLGym does (needs numpy)

Either writes train.csv, validation.csv, test.csv (without SalePrice), sample_submission.csv and
answers.csv. The grader alone sees the last one. The same input and key give the same bytes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path

from making import Draws, data_key, main, read_csv, write_columns

House = dict[str, str]
Effect = Callable[[dict[str, float]], float]

# --- making up random houses and their prices ----------------------------------------------------

# Number of houses for training, for validation and for the hidden test.
ROWS = (1200, 300, 1000)

# Each numeric column is drawn as a quantile u, uniform from 0 to 1. A function turns u into the
# value that the table shows.
NUMBERS: dict[str, Callable[[float], float]] = {
    "LotArea": lambda u: 2000 * 12**u,
    "LivingArea": lambda u: 600 * 6**u,
    "BasementArea": lambda u: 1800 * u,
    "GarageArea": lambda u: 900 * u,
    "YearBuilt": lambda u: 2010 - 130 * u**2,
    "YearRemodeled": lambda u: 2010 - 60 * u,
    "OverallQuality": lambda u: 1 + 9.99 * u,
    "OverallCondition": lambda u: 1 + 9.99 * u,
    "Distance": lambda u: 300 * 40**u,
    "Elevation": lambda u: 5 + 240 * u,
    "Noise": lambda u: 35 + 45 * u,
    "Sunlight": lambda u: 900 + 1300 * u,
}
KINDS: dict[str, int] = {
    "Neighborhood": 16,
    "BuildingType": 5,
    "Exterior": 8,
    "Heating": 4,
    "SaleCondition": 6,
}
# Columns that are empty for 5 % of houses, which lack a basement or a garage.
MISSING = ("BasementArea", "GarageArea")
MISSING_SHARE = 0.05

# Shares of the variance of the price's logarithm that kinds of effects explain. Noise makes up the
# rest.
LINEAR, KIND, CURVED, TOGETHER = 0.36, 0.14, 0.25, 0.20
NOISE = 1 - LINEAR - KIND - CURVED - TOGETHER
SPREAD = 0.42  # standard deviation of the price's logarithm
MEDIAN = 180_000


# Shapes of effects on the price: functions of a quantile, with mean 0 and variance 1. They are
# orthogonal to the straight one, so that their shares of the variance add up.


def straight(u: float) -> float:
    return math.sqrt(3) * (2 * u - 1)


def hump(u: float) -> float:
    t = 2 * u - 1
    return math.sqrt(5) * (3 * t * t - 1) / 2


def wave(u: float) -> float:
    t = 2 * u - 1
    return math.sqrt(7) * (5 * t**3 - 3 * t) / 2


def step_at(threshold: float) -> Callable[[float], float]:
    """A step, less the straight line that fits it best."""
    covariance = math.sqrt(3) * (threshold - threshold**2)
    deviation = math.sqrt(threshold * (1 - threshold) - covariance**2)

    def step(u: float) -> float:
        return ((u > threshold) - (1 - threshold) - covariance * straight(u)) / deviation

    return step


def weights(draws: Draws, n: int, share: float) -> list[float]:
    """Signs and sizes that differ by at most three, whose squares add up to the share."""
    raw = [(1 + 2 * draws.uniform()) * (1 if draws.uniform() < 0.5 else -1) for _ in range(n)]
    scale = math.sqrt(share / sum(w * w for w in raw))
    return [w * scale for w in raw]


def levels(draws: Draws, n: int) -> list[float]:
    """Numbers of mean 0 and variance 1, one for each kind."""
    raw = [draws.normal() for _ in range(n)]
    mean = sum(raw) / n
    deviation = math.sqrt(sum((x - mean) ** 2 for x in raw) / n)
    return [(x - mean) / deviation for x in raw]


def term(weight: float, name: str, shape: Callable[[float], float]) -> Effect:
    return lambda house: weight * shape(house[name])


def kind_term(weight: float, name: str, values: list[float]) -> Effect:
    return lambda house: weight * values[int(house[name])]


def product(weight: float, a: Effect, b: Effect) -> Effect:
    return lambda house: weight * a(house) * b(house)


def draw_effects(key: bytes) -> list[Effect]:
    """What makes a price in this town: which columns matter, how, and which two act together."""
    draws = Draws(key, "houses\0structure")
    numbers, kinds = list(NUMBERS), list(KINDS)
    effects = [
        term(w, name, straight)
        for w, name in zip(weights(draws, 6, LINEAR), draws.sample(numbers, 6), strict=True)
    ]
    effects += [
        kind_term(w, name, levels(draws, KINDS[name]))
        for w, name in zip(weights(draws, 3, KIND), draws.sample(kinds, 3), strict=True)
    ]
    shapes = [
        hump,
        wave,
        step_at(0.3 + 0.4 * draws.uniform()),
        step_at(0.3 + 0.4 * draws.uniform()),
    ]
    effects += [
        term(w, name, shape)
        for w, name, shape in zip(
            weights(draws, 4, CURVED), draws.sample(numbers, 4), shapes, strict=True
        )
    ]
    pairs = draws.sample(numbers, 7)
    kind = draws.sample(kinds, 1)[0]
    sides = [
        (term(1, pairs[0], straight), term(1, pairs[1], straight)),
        (term(1, pairs[2], straight), term(1, pairs[3], straight)),
        (term(1, pairs[4], straight), term(1, pairs[5], step_at(0.5))),
        (term(1, pairs[6], straight), kind_term(1, kind, levels(draws, KINDS[kind]))),
    ]
    effects += [
        product(w, a, b) for w, (a, b) in zip(weights(draws, 4, TOGETHER), sides, strict=True)
    ]
    return effects


def draw_house(draws: Draws, effects: list[Effect]) -> House:
    house: dict[str, float] = {name: draws.uniform() for name in NUMBERS}
    house |= {name: draws.below(n) for name, n in KINDS.items()}
    for name in MISSING:
        if draws.uniform() < MISSING_SHARE:
            house[name] = 0.0
    noise = math.sqrt(NOISE) * draws.normal()
    price = MEDIAN * math.exp(SPREAD * (sum(e(house) for e in effects) + noise))
    row = {
        name: "" if name in MISSING and house[name] == 0 else str(int(value(house[name])))
        for name, value in NUMBERS.items()
    }
    row |= {name: f"{name[0]}{int(house[name]) + 1}" for name in KINDS}
    row["SalePrice"] = str(round(price / 100) * 100)
    return row


# --- writing the data sets ------------------------------------------------------------------------


def write_split(
    folder: Path, train: list[House], validation: list[House], test: list[House]
) -> None:
    columns = list(test[0])
    prices = sorted(float(house["SalePrice"]) for house in train)
    median = f"{prices[len(prices) // 2]:.0f}"
    answer = ["Id", "SalePrice"]

    write_columns(folder / "train.csv", columns, train)
    write_columns(folder / "validation.csv", columns, validation)
    write_columns(folder / "test.csv", [name for name in columns if name != "SalePrice"], test)
    write_columns(folder / "answers.csv", answer, test)
    sample = [{**house, "SalePrice": median} for house in test]
    write_columns(folder / "sample_submission.csv", answer, sample)


def prepare_micro(folder: str) -> None:
    key = data_key()
    effects = draw_effects(key)
    draws = Draws(key, "houses\0rows")
    houses = [{"Id": str(i + 1), **draw_house(draws, effects)} for i in range(sum(ROWS))]
    ends = (ROWS[0], ROWS[0] + ROWS[1])
    write_split(Path(folder), houses[: ends[0]], houses[ends[0] : ends[1]], houses[ends[1] :])


def prepare_kaggle(train_csv: str, folder: str) -> None:
    """Splits the rows as scikit-learn's train_test_split does with the random state 42."""
    try:
        import numpy as np
    except ImportError:
        sys.exit("numpy is missing: it draws the split (Debian: apt-get install python3-numpy)")
    houses = read_csv(train_csv, 1460, ["Id", "Neighborhood", "SalePrice"])
    order = np.random.RandomState(42).permutation(1460)
    test = [houses[i] for i in order[:292]]
    rest = [houses[i] for i in order[292:]]
    order = np.random.RandomState(42).permutation(1168)
    validation = [rest[i] for i in order[:146]]
    write_split(Path(folder), [rest[i] for i in order[146:]], validation, test)


if __name__ == "__main__":
    main(micro=prepare_micro, kaggle=prepare_kaggle)
