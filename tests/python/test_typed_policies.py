# SPDX-License-Identifier: Apache-2.0
"""Rules that are typed, and turned into weights without training. They fail behind the sensors.

A rule may be a teacher: the solutions of the tasks train networks by imitation of one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import PolicyTask

np = pytest.importorskip("numpy")
from simulators.games import open_world  # noqa: E402

from simulators import policies  # noqa: E402

COPIES = 64

Rule = Callable[[Any], Any]
Orders = list[tuple[int, ...]]


def follow_the_ball(plain: Any) -> Any:
    """Breakout: which of stay, left and right brings the paddle under the ball."""
    paddle, ball = (plain[..., plane].any(1).argmax(1) for plane in (0, 1))
    return np.eye(3)[1 + np.sign(ball - paddle).astype(int)]


def push_along(plain: Any) -> Any:
    """Mountain car: a force the way that the car moves."""
    return np.sign(plain[:, 1:]) + (plain[:, 1:] == 0)


def write(path: Path, weights: Any, order: tuple[int, ...], scale: float) -> None:
    """Writes five equal policies of one linear layer. A switched engine is the order (-1,)."""
    switched = order[0] * weights if weights.shape[1] == 1 else weights[:, np.argsort(order)]
    weights = scale * switched
    arrays = {
        "0.linear.weight": np.repeat(weights[None, :-1], 5, 0),
        "0.linear.bias": np.repeat(weights[None, -1], 5, 0),
    }
    if weights.shape[1] == 1:
        arrays["log_std"] = np.full(5, -4.0)
    np.savez(path, **arrays)


def fit(folder: Path, rule: Rule, orders: Orders) -> tuple[Any, float]:
    """Weights by which the sensors give the rule's outputs best, and the rule's own score.

    Least squares gives the weights, and no step is trained. The rule plays by what happens without
    sensors. It tries each order of the actions, as an agent would. Half of the copies also draw
    random actions.
    """
    game = open_world(COPIES, folder)
    random = np.random.default_rng(1)
    seen, wanted, scores = [], [], []
    for order in orders:
        observations = game.reset(1)
        going, score = np.arange(COPIES) % 2 == 0, 0.0
        for _ in range(game.steps):
            outputs = rule(game.plain())
            seen.append(np.c_[observations.reshape(COPIES, -1), np.ones(COPIES)])
            wanted.append(outputs)
            if outputs.shape[1] == 1:
                actions = order[0] * outputs[:, 0]
            else:
                actions = np.array(order)[outputs.argmax(1)]
                drawn = (random.random(COPIES) < 0.3) & (np.arange(COPIES) % 2 == 1)
                actions = np.where(drawn, random.integers(3, size=COPIES), actions)
            observations, rewards, ended = game.step(actions)
            score += rewards[going].sum() / (COPIES / 2)
            going &= ~ended
        scores.append(score)
    return np.linalg.lstsq(np.concatenate(seen), np.concatenate(wanted), rcond=None)[0], max(scores)


def best(folder: Path, rule: Rule, orders: Orders) -> tuple[float, float]:
    """The best score that the rule's weights get in any order and scale, and the rule's own."""
    weights, own = fit(folder, rule, orders)
    scores = []
    for order, scale in itertools.product(orders, (1, 3, 30)):
        write(folder / "policy.npz", weights, order, scale)
        game = open_world(policies.CHECKPOINTS * 16, folder)
        policy = policies.load(
            folder / "policy.npz", game.shape, *game.limits, n_actions=game.n_actions
        )
        scores.append(policies.play(policy, game, 1, game.steps).mean())
    return float(max(scores)), own


# For each task: its rule, and the orders that its actions may have. The rule itself exceeds the
# first score, and its weights stay below the second. Baselines have 4 and -20, solutions 19 and 95.
RULES = {
    ("rlBreakoutMinAtar", "wiredBreakout-micro"): (
        follow_the_ball,
        list(itertools.permutations(range(3))),
        15,
        3,
    ),
    ("rlMountainCarContinuous", "wiredCar"): (push_along, [(1,), (-1,)], 80, 15),
}


@pytest.mark.parametrize("task", RULES, ids=lambda task: task[0])
def test_a_typed_rule_needs_training(tmp_path: Path, task: tuple[str, str]) -> None:
    rule, orders, good, poor = RULES[task]
    for number in range(1, 4):
        folder = PolicyTask(*task).make_workspace(tmp_path / str(number), f"{number:064x}")
        typed, own = best(folder, rule, orders)
        assert own > good and typed < poor, (typed, own)
