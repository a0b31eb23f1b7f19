# SPDX-License-Identifier: Apache-2.0
"""The task regressionKaggleHousePrice: a town that its key draws, and solutions that climb."""

from __future__ import annotations

import csv
import importlib.util
import secrets
import subprocess
from pathlib import Path
from statistics import mean, stdev
from types import ModuleType

import pytest

np = pytest.importorskip("numpy")

TASK = Path(__file__).parents[2] / "tasks/regressionKaggleHousePrice"
NAMES = ["answers.csv", "sample_submission.csv", "test.csv", "train.csv", "validation.csv"]
PYTHON = "/usr/bin/python3"

House = dict[str, str]


def prepare(*arguments: str | Path, key: str = "") -> subprocess.CompletedProcess[str]:
    command = [PYTHON, str(TASK / "prepare.py"), *map(str, arguments)]
    env = {"FUMEHOOD_DATA_KEY": key}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def make_micro(folder: Path, key: str) -> Path:
    done = prepare("micro", folder, key=key)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.iterdir()) == NAMES
    return folder


def read(path: Path) -> list[House]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def module(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, TASK / path)
    assert spec and spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


BASELINE = module("starter/baseline.py")
SOLUTION = module("solution/solve.py")

# --- the data -------------------------------------------------------------------------------------


def test_micro_is_split_cleanly(tmp_path: Path) -> None:
    folder = make_micro(tmp_path / "a", secrets.token_hex(32))
    parts = [read(folder / f"{name}.csv") for name in ("train", "validation", "test", "answers")]
    assert [len(part) for part in parts] == [1200, 300, 1000, 1000]
    train, validation, test, answers = parts
    ids = [house["Id"] for house in train + validation + test]
    assert len(set(ids)) == 2500
    assert "SalePrice" not in test[0]
    assert [house["Id"] for house in answers] == [house["Id"] for house in test]
    median = {house["SalePrice"] for house in read(folder / "sample_submission.csv")}
    assert len(median) == 1


def test_the_key_decides_all(tmp_path: Path) -> None:
    key = secrets.token_hex(32)
    a, same = make_micro(tmp_path / "a", key), make_micro(tmp_path / "b", key)
    other = make_micro(tmp_path / "c", secrets.token_hex(32))
    for name in NAMES:
        assert (a / name).read_bytes() == (same / name).read_bytes()
        # All samples predict a median, which is a round number: two towns may have the same.
        assert (a / name).read_bytes() != (other / name).read_bytes() or name.startswith("sample")


def test_no_guess_gives_a_town(tmp_path: Path) -> None:
    for key in ("", "00", "zz" * 32):
        done = prepare("micro", tmp_path / "none", key=key)
        assert done.returncode == 1 and "64 hexadecimal digits" in done.stderr
        assert not (tmp_path / "none").exists()


def kaggle(path: Path, n: int = 1460) -> Path:
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Id", "Neighborhood", "SalePrice"])
        writer.writerows([i + 1, f"N{i % 25}", 1000 + i] for i in range(n))
    return path


def test_kaggle_is_split_as_in_mlgym(tmp_path: Path) -> None:
    done = prepare("kaggle", kaggle(tmp_path / "train.csv"), tmp_path / "out")
    assert done.returncode == 0, done.stderr
    parts = [read(tmp_path / "out" / f"{name}.csv") for name in ("train", "validation", "test")]
    assert [len(part) for part in parts] == [1022, 146, 292]
    # The first ids that scikit-learn 1.9 gives with the random state 42.
    first = [[1084, 1012, 1115, 514], [1412, 316, 584, 1343], [893, 1106, 414, 523]]
    assert [[int(house["Id"]) for house in part[:4]] for part in parts] == first


def test_another_file_than_kaggle_s(tmp_path: Path) -> None:
    done = prepare("kaggle", kaggle(tmp_path / "train.csv", 1459), tmp_path / "out")
    assert done.returncode == 1 and "is not Kaggle's train.csv of 1,460 houses" in done.stderr


# --- the climb ------------------------------------------------------------------------------------


def climb(folder: Path) -> list[float]:
    """r2 of the baseline, of three solutions between, and of the solution."""
    train, validation, test, answers = (
        read(folder / f"{name}.csv") for name in ("train", "validation", "test", "answers")
    )
    truth = np.array([float(house["SalePrice"]) for house in answers])

    def r2(predictions) -> float:
        return 1 - np.sum((truth - predictions) ** 2) / np.sum((truth - truth.mean()) ** 2)

    prices = np.array([float(house["SalePrice"]) for house in train])
    features = BASELINE.make_features(train, train)
    weights = BASELINE.ridge(features, prices, BASELINE.PENALTY)
    scores = [r2(BASELINE.make_features(train, test) @ weights)]

    def trees(plain, plain_test, target, seed: int = 0):
        edges = SOLUTION.bin_edges(plain)
        bins, bins_test = SOLUTION.binned(plain, edges), SOLUTION.binned(plain_test, edges)
        return SOLUTION.boost(bins, target, bins_test, np.random.default_rng(seed))

    target = np.log(prices)
    smooth, plain = SOLUTION.make_columns(train, target, train)
    smooth_test, plain_test = SOLUTION.make_columns(train, target, test)
    weights = SOLUTION.best_ridge(smooth, target)
    curves = smooth_test @ weights
    scores.append(r2(np.exp(curves)))
    centred = target - target.mean()
    scores.append(r2(np.exp(target.mean() + trees(plain, plain_test, centred))))
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


def test_a_model_can_climb(tmp_path: Path) -> None:
    folder = make_micro(tmp_path / "town", "5f" * 32)
    scores = [*climb(folder), solved(folder, tmp_path)]
    assert scores == sorted(scores), scores
    assert scores[0] < 0.5 and scores[-1] > 0.75, scores


@pytest.mark.long
def test_the_climb_is_steeper_than_chance(tmp_path: Path) -> None:
    """Over five towns: five deviations from end to end, one from each solution to the next."""
    towns = []
    for i in range(5):
        (tmp_path / str(i)).mkdir()
        folder = make_micro(tmp_path / f"town{i}", f"{i:064x}")
        towns.append([*climb(folder), solved(folder, tmp_path / str(i))])
    scores = list(zip(*towns, strict=True))
    means, deviations = [mean(s) for s in scores], [stdev(s) for s in scores]
    assert means[-1] - means[0] > 5 * max(deviations[0], deviations[-1]), (means, deviations)
    for i in range(3):
        assert means[i + 1] - means[i] > deviations[i], (means, deviations)
