# SPDX-License-Identifier: Apache-2.0
"""The Python module `simulators`: what it returns, what it refuses, and the program in its page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("FUMEHOOD", ROOT / "build/fumehood")).parent
PAGE = ROOT / "docs/simulators.md"

sys.path.insert(0, str(BUILD / "python"))
import simulators  # noqa: E402

EVERY = [(name, rules) for name, all_rules in simulators.RULES.items() for rules in all_rules]


def some_actions(envs: simulators.VectorEnv, rng: np.random.Generator) -> np.ndarray:
    if isinstance(envs.single_action_space, simulators.Discrete):
        return rng.integers(envs.single_action_space.n, size=envs.num_envs)
    return rng.uniform(-1, 1, (envs.num_envs, 1))


def play(envs: simulators.VectorEnv, steps: int, seed: int) -> list[np.ndarray]:
    """All arrays of an episode's steps, one after the other."""
    rng = np.random.default_rng(0)
    arrays = [envs.reset(seed=seed)[0]]
    for _ in range(steps):
        arrays += envs.step(some_actions(envs, rng))[:4]
    return arrays


def equal(a: list[np.ndarray], b: list[np.ndarray]) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(("name", "rules"), EVERY)
def test_arrays_have_the_shapes_of_the_spaces(name: str, rules: str) -> None:
    envs = simulators.make_vec(name, 5, rules)
    space = envs.single_observation_space
    first, infos = envs.reset(seed=1)
    assert infos == {}
    observations, rewards, terminations, truncations, _ = envs.step(
        some_actions(envs, np.random.default_rng(1))
    )
    for array in (first, observations):
        assert array.shape == (5, *space.shape)
        assert array.dtype == space.dtype
    assert (rewards.shape, rewards.dtype) == ((5,), np.float64)
    assert (terminations.shape, terminations.dtype) == ((5,), np.bool_)
    assert (truncations.shape, truncations.dtype) == ((5,), np.bool_)


@pytest.mark.parametrize(("name", "rules"), EVERY)
def test_a_seed_decides_everything(name: str, rules: str) -> None:
    played = [play(simulators.make_vec(name, 4, rules), 300, seed) for seed in (7, 7, 8)]
    assert equal(played[0], played[1])
    assert not equal(played[0], played[2])


def test_a_copy_does_not_depend_on_the_number_of_copies() -> None:
    few, many = (simulators.make_vec("MountainCarContinuous", n).reset(3)[0] for n in (2, 9))
    assert np.array_equal(few, many[:2])


def test_neighbouring_seeds_share_no_episode() -> None:
    starts = [simulators.make_vec("MountainCarContinuous", 50).reset(s)[0][:, 0] for s in range(5)]
    assert len(set(np.concatenate(starts).tolist())) == 250


def test_a_list_of_seeds_is_one_for_each_copy() -> None:
    observations, _ = simulators.make_vec("MountainCarContinuous", 3).reset([4, 9, 4])
    assert observations[0, 0] == observations[2, 0] != observations[1, 0]


def test_without_a_seed_resets_are_random() -> None:
    envs = simulators.make_vec("MountainCarContinuous", 1)
    others = simulators.make_vec("MountainCarContinuous", 1)
    starts = {float(e.reset()[0][0, 0]) for e in (envs, envs, others, others)}
    assert len(starts) == 4


def test_an_ended_copy_shows_its_last_observation_and_the_next_episode() -> None:
    envs = simulators.make_vec("MetaMaze", 3, max_episode_steps=2)
    envs.reset(seed=1)
    assert envs.step([0, 1, 2])[4] == {}
    observations, _, terminations, truncations, infos = envs.step([0, 0, 0])
    assert truncations.tolist() == [True] * 3
    assert not terminations.any()
    assert infos["_final_obs"].tolist() == [True] * 3
    assert [row[14] for row in infos["final_obs"]] == [2, 2, 2]
    assert observations[:, 14].tolist() == [0, 0, 0]


def test_final_observations_are_those_of_ended_copies_alone() -> None:
    envs = simulators.make_vec("Breakout", 64)
    envs.reset(seed=1)
    seen = 0
    for _ in range(30):
        before = envs.step(np.zeros(64, int))
        ended, infos = before[2] | before[3], before[4]
        assert bool(infos) == ended.any()
        if infos:
            assert [row is not None for row in infos["final_obs"]] == ended.tolist()
            balls = np.stack(infos["final_obs"][ended])[:, 9, :, 1]
            assert (balls.sum(1) == 1).all()  # the ball is in the last row
            seen += ended.sum()
    assert seen > 64


def test_arrays_are_the_callers_to_keep() -> None:
    envs = simulators.make_vec("MetaMaze", 2)
    first, _ = envs.reset(seed=1)
    kept = first.copy()
    observations = envs.step([0, 1])[0]
    envs.step([2, 3])
    assert np.array_equal(first, kept)
    assert observations[:, 14].tolist() == [1, 1]


def test_forces_may_be_a_column_or_a_row() -> None:
    first, second = (simulators.make_vec("MountainCarContinuous", 2) for _ in range(2))
    first.reset(seed=1), second.reset(seed=1)
    assert equal(first.step([0.5, -0.5])[:4], second.step([[0.5], [-0.5]])[:4])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Pong",), "there is no environment 'Pong'; there are: MountainCarContinuous, Br"),
        (("MetaMaze", 1, "minatar"), "MetaMaze has no rules 'minatar'; it has: gymnax"),
        (("MetaMaze", 0), "num_envs is 0; expected 1 to 1000000"),
        (("MetaMaze", 1000001), "num_envs is 1000001; expected 1 to 1000000"),
        (("MetaMaze", 1, "gymnax", -1), "max_episode_steps is -1; expected 0 to 10**9"),
        (("MetaMaze", 1, "gymnax", 2**40), "max_episode_steps is 1099511627776; expected"),
        (("Breakout", 1, "minatar", 0, 1.5), "sticky_action_prob is 1.5; expected 0 to 1"),
        (("Breakout", 1, "minatar", 0, float("nan")), "sticky_action_prob is nan; expected"),
    ],
)
def test_wrong_settings_are_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        simulators.make_vec(*arguments)


@pytest.mark.parametrize(
    ("name", "actions", "error", "message"),
    [
        ("MetaMaze", [0, 4], ValueError, "an action is out of range; expected 0 to 3"),
        ("MetaMaze", [-1, 0], ValueError, "an action is out of range; expected 0 to 3"),
        ("MetaMaze", [2**32, 0], ValueError, "an action is out of range; expected 0 to 3"),
        ("MetaMaze", [0], ValueError, "actions have the shape (1,); expected (2,)"),
        ("MetaMaze", [0.5, 1], TypeError, "actions are float64; expected whole numbers"),
        ("MountainCarContinuous", [np.nan, 0], ValueError, "expected finite numbers"),
        ("MountainCarContinuous", [1e99, 0], ValueError, "expected finite numbers"),
        ("MountainCarContinuous", [[0, 0]], ValueError, "actions have the shape (1, 2)"),
    ],
)
def test_wrong_actions_are_refused(
    name: str, actions: list, error: type[Exception], message: str
) -> None:
    envs = simulators.make_vec(name, 2)
    envs.reset(seed=1)
    with pytest.raises(error, match=re.escape(message)):
        envs.step(actions)


def test_calls_in_the_wrong_order_are_refused() -> None:
    envs = simulators.make_vec("MetaMaze", 1)
    with pytest.raises(RuntimeError, match="needs a reset"):
        envs.step([0])
    with pytest.raises(ValueError, match="seed has 2 numbers; expected 1"):
        envs.reset([1, 2])
    envs.close()
    envs.close()
    with pytest.raises(RuntimeError, match="closed"):
        envs.reset()
    with pytest.raises(RuntimeError, match="closed"):
        envs.step([0])


def test_known_policies_score_as_published() -> None:
    """A throttle of 0.6 in the direction of motion gives 95.55 under gymnax's rules."""
    envs = simulators.make_vec("MountainCarContinuous", 256, max_episode_steps=200)
    observations, _ = envs.reset(seed=1)
    totals, counting = np.zeros(256), np.ones(256, bool)
    for _ in range(200):
        forces = 0.6 * np.sign(observations[:, 1] + 1e-9)
        observations, rewards, terminations, truncations, _ = envs.step(forces)
        totals += rewards * counting
        counting &= ~(terminations | truncations)
    assert 95 < totals.mean() < 96


def test_the_program_in_the_page_runs() -> None:
    programs = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert programs
    for program in programs:
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": str(BUILD / "python")},
            capture_output=True,
            text=True,
            check=True,
        )
        assert float(done.stdout.split()[-1]) > 90
