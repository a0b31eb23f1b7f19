# SPDX-License-Identifier: Apache-2.0
"""The statistics of `fumehood report` are those of the package rliable, unmodified."""

import json
import os
import random
import subprocess

import numpy as np
import pytest
from rliable import library, metrics

TASKS = ["blotto", "battleOfSexes", "prisonersDilemma"]
RUNS = 10


@pytest.fixture
def scores(tmp_path) -> dict[str, np.ndarray]:
    """Writes runs of two models. Returns their scores, a row for each run."""
    rng = random.Random(1)
    made = {}
    for model, luck in (("a", 0.2), ("b", 0.0)):
        made[model] = np.array([[rng.gauss(2 + luck, 1) for _ in TASKS] for _ in range(RUNS)])
        for (run, task), score in np.ndenumerate(made[model]):
            folder = tmp_path / f"{model}__{TASKS[task]}__default__t-0.00_run_{run}"
            folder.mkdir()
            results = {"agent": [{"Score": score}], "baseline": {"Score": -10.0}}
            (folder / "results.json").write_text(json.dumps(results))
    return made


@pytest.fixture
def tables(scores, tmp_path) -> dict[str, list]:
    done = subprocess.run(
        [os.environ["FUMEHOOD"], "report", tmp_path, "--json", "--compare", "a,b"],
        stdout=subprocess.PIPE,
        check=True,
    )
    return {t["id"]: t["rows"] for t in json.loads(done.stdout)["tables"]}


def normalise(scores: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    best = np.maximum(scores["a"].max(axis=0), scores["b"].max(axis=0))
    return {model: (values + 10) / (best + 10) for model, values in scores.items()}


def test_interquartile_mean(scores, tables):
    ours = {row[0]: row[1] for row in tables["iqm"]}
    for model, values in normalise(scores).items():
        assert ours[model] == pytest.approx(metrics.aggregate_iqm(values), rel=1e-14)


def test_interval_of_the_mean(scores, tables):
    """The random numbers differ, so the ends agree to a tenth of the width."""
    _, theirs = library.get_interval_estimates(
        normalise(scores), lambda x: np.array([metrics.aggregate_iqm(x)]), reps=5000
    )
    for model, _, low, high, *_ in tables["iqm"]:
        width = theirs[model][1, 0] - theirs[model][0, 0]
        assert [low, high] == pytest.approx(theirs[model][:, 0], abs=width / 10)


def test_probability_of_improvement(scores, tables):
    value, low, high = tables["compare-total"][0][1:]
    x, y = scores["a"], scores["b"]
    assert value == pytest.approx(metrics.probability_of_improvement(x, y), rel=1e-14)
    _, theirs = library.get_interval_estimates(
        {"a,b": (x, y)},
        lambda x, y: np.array([metrics.probability_of_improvement(x, y)]),
        reps=5000,
    )
    width = theirs["a,b"][1, 0] - theirs["a,b"][0, 0]
    assert [low, high] == pytest.approx(theirs["a,b"][:, 0], abs=width / 10)
