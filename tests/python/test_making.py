# SPDX-License-Identifier: Apache-2.0
"""Data sets that are made from a key: all of them, and the module that their programs share."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from conftest import DATASETS, KEY, describe_data, make_data, run_maker

MADE = [path.stem for path in DATASETS.glob("*.yaml") if "make" in describe_data(path.stem)]
EMPTY = "sample_submission.csv"  # this file may be the same for all keys


@pytest.mark.parametrize("name", sorted(MADE))
def test_a_key_decides_all(tmp_path: Path, name: str) -> None:
    a, same = (make_data(name, tmp_path / folder, KEY) for folder in ("a", "same"))
    other = make_data(name, tmp_path / "other", secrets.token_hex(32))
    for path in a.iterdir():
        assert path.read_bytes() == (same / path.name).read_bytes()
        assert path.read_bytes() != (other / path.name).read_bytes() or path.name == EMPTY


@pytest.mark.parametrize("name", sorted(MADE))
@pytest.mark.parametrize("key", ["", "zz" * 32])
def test_no_guess_gives_data(tmp_path: Path, name: str, key: str) -> None:
    arguments = describe_data(name)["make"]["args"]
    done = run_maker(name, *arguments, key=key, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "FUMEHOOD_DATA_KEY must be 64 hexadecimal digits\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("key", ["00", "0" * 63, "0" * 66])
def test_a_key_of_another_length(tmp_path: Path, key: str) -> None:
    done = run_maker("titanic-micro", "micro", ".", key=key, cwd=tmp_path)
    assert done.returncode == 1 and "64 hexadecimal digits" in done.stderr


@pytest.mark.parametrize("arguments", [(), ("micro",), ("micro", "a", "b"), ("mini", "a")])
def test_wrong_arguments(arguments: tuple[str, ...]) -> None:
    done = run_maker("titanic-micro", *arguments, key=KEY)
    assert done.returncode == 1
    usage = "usage: prepare.py micro FOLDER\n       prepare.py kaggle TRAIN_CSV FOLDER\n"
    assert done.stderr == usage


def test_draws_are_uniform_and_normal(load: Callable[[Path], ModuleType]) -> None:
    draws = load(DATASETS / "making.py").Draws(bytes(32), "test")
    n = 40_000
    for draw, mean, variance in ((draws.uniform, 1 / 2, 1 / 12), (draws.normal, 0, 1)):
        drawn = [draw() for _ in range(n)]
        assert abs(sum(drawn) / n - mean) < 5 * (variance / n) ** 0.5
        assert abs(sum((x - mean) ** 2 for x in drawn) / n - variance) < 0.04 * variance
    assert sorted(draws.shuffled(range(100))) == list(range(100))
    assert len(set(draws.sample(range(100), 30))) == 30
