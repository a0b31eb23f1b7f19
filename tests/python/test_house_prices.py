# SPDX-License-Identifier: Apache-2.0
"""The task regressionKaggleHousePrice: towns generated from a key, and solutions that climb."""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from types import ModuleType

import pytest
from conftest import KEY, PYTHON, ROOT, check_climb, make_data, run_maker

np = pytest.importorskip("numpy")

TASK = ROOT / "tasks/regressionKaggleHousePrice"

DATA = "kaggleHousePrice-micro"

House = dict[str, str]
Load = Callable[[Path], ModuleType]


def read(path: Path) -> list[House]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


# --- tests of the generated data, and of a file like Kaggle's -----------------------------------


def test_micro_is_split_cleanly(tmp_path: Path) -> None:
    folder = make_data(DATA, tmp_path / "a", KEY)
    parts = [read(folder / f"{name}.csv") for name in ("train", "validation", "test", "answers")]
    assert [len(part) for part in parts] == [1200, 300, 1000, 1000]
    train, validation, test, answers = parts
    ids = [house["Id"] for house in train + validation + test]
    assert len(set(ids)) == 2500
    assert "SalePrice" not in test[0]
    assert [house["Id"] for house in answers] == [house["Id"] for house in test]
    median = {house["SalePrice"] for house in read(folder / "sample_submission.csv")}
    assert len(median) == 1


def kaggle(path: Path, n: int = 1460) -> Path:
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Id", "Neighborhood", "SalePrice"])
        writer.writerows([i + 1, f"N{i % 25}", 1000 + i] for i in range(n))
    return path


def test_kaggle_is_split_as_in_mlgym(tmp_path: Path) -> None:
    done = run_maker("kaggleHousePrice", "kaggle", kaggle(tmp_path / "train.csv"), tmp_path / "out")
    assert done.returncode == 0, done.stderr
    parts = [read(tmp_path / "out" / f"{name}.csv") for name in ("train", "validation", "test")]
    assert [len(part) for part in parts] == [1022, 146, 292]
    # First ids of each part as scikit-learn 1.9 splits Kaggle's houses with the random state 42.
    first = [[1084, 1012, 1115, 514], [1412, 316, 584, 1343], [893, 1106, 414, 523]]
    assert [[int(house["Id"]) for house in part[:4]] for part in parts] == first


def test_another_file_than_kaggle_s(tmp_path: Path) -> None:
    done = run_maker(
        "kaggleHousePrice", "kaggle", kaggle(tmp_path / "train.csv", 1459), tmp_path / "out"
    )
    assert (
        done.returncode == 1
        and "train.csv is not a table of 1,460 rows with the columns Id," in done.stderr
    )


# --- tests that better solutions score better ---------------------------------------------------


def climb(folder: Path, load: Load) -> list[float]:
    """r2 of the baseline, of three solutions between, and of the solution."""
    baseline, solve = load(TASK / "starter/baseline.py"), load(TASK / "solution/solve.py")
    train, validation, test, answers = (
        read(folder / f"{name}.csv") for name in ("train", "validation", "test", "answers")
    )
    truth = np.array([float(house["SalePrice"]) for house in answers])

    def r2(predictions) -> float:
        return 1 - np.sum((truth - predictions) ** 2) / np.sum((truth - truth.mean()) ** 2)

    prices = np.array([float(house["SalePrice"]) for house in train])
    features = baseline.make_features(train, train)
    weights = baseline.ridge(features, prices, baseline.PENALTY)
    scores = [r2(baseline.make_features(train, test) @ weights)]

    def trees(plain, plain_test, target, seed: int = 0):
        edges = solve.bin_edges(plain)
        bins, bins_test = solve.binned(plain, edges), solve.binned(plain_test, edges)
        return solve.boost(bins, target, bins_test, np.random.default_rng(seed))

    target = np.log(prices)
    smooth, plain = solve.make_columns(train, target, train)
    smooth_test, plain_test = solve.make_columns(train, target, test)
    weights = solve.best_ridge(smooth, target)
    curves = smooth_test @ weights
    scores.append(r2(np.exp(curves)))
    centred = target - target.mean()
    scores.append(r2(np.exp(target.mean() + trees(plain, plain_test, centred))))
    solve.TREES //= 2
    scores.append(r2(np.exp(curves + trees(plain, plain_test, target - smooth @ weights))))
    return scores


def solved(folder: Path, tmp_path: Path) -> float:
    (tmp_path / "data").symlink_to(folder)
    subprocess.run([PYTHON, TASK / "solution/solve.py"], cwd=tmp_path, check=True)
    said = {house["Id"]: float(house["SalePrice"]) for house in read(tmp_path / "submission.csv")}
    truth = {house["Id"]: float(house["SalePrice"]) for house in read(folder / "answers.csv")}
    middle = mean(truth.values())
    left = sum((said[i] - price) ** 2 for i, price in truth.items())
    return 1 - left / sum((price - middle) ** 2 for price in truth.values())


def test_a_model_can_climb(tmp_path: Path, load: Load) -> None:
    def in_town(number: int) -> list[float]:
        (tmp_path / str(number)).mkdir()
        folder = make_data(DATA, tmp_path / f"town{number}", f"{number:064x}")
        return [*climb(folder, load), solved(folder, tmp_path / str(number))]

    check_climb(in_town, ends=(0.5, 0.75))
