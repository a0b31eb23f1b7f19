# SPDX-License-Identifier: Apache-2.0
"""rlBreakoutMinAtar: games that a key wires, and solutions that climb."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import PolicyTask, check_climb

np = pytest.importorskip("numpy")
import simulators  # noqa: E402

BREAKOUT = PolicyTask("rlBreakoutMinAtar", "wiredBreakout-micro")
KEY = "7c" * 32


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return BREAKOUT.make_workspace(tmp_path / "workspace", KEY)


def test_worlds_differ_in_all_that_is_drawn(tmp_path: Path) -> None:
    worlds = []
    for number in range(12):
        folder = BREAKOUT.make_workspace(tmp_path / str(number), f"{number:064x}")
        worlds.append(json.loads((folder / "data/world.json").read_text()))
    for name, values in (("turns", 4), ("mirrored", 2), ("planes", 6), ("actions", 4)):
        assert len({str(world[name]) for world in worlds}) >= values, name
    for world in worlds:
        assert world["steps"] == 200
        assert sorted(world["planes"]) == [0, 1, 2, 3] and sorted(world["actions"]) == [0, 1, 2]
        assert all(0.5 <= abs(b) <= 1.5 for b in world["brightness"])


def test_a_board_shows_all_of_the_game(
    workspace: Path, load: Callable[[Path], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Undoing the wiring by hand gives the simulator's own pictures, rewards and ends."""
    monkeypatch.chdir(workspace)
    board = load(workspace / "board.py")
    world = json.loads((workspace / "data/world.json").read_text())
    wired = board.Board(8)
    plain = simulators.make_vec("Breakout", 8, max_episode_steps=200)
    pictures, states = wired.reset(3), plain.reset(seed=3)[0]
    random = np.random.default_rng(1)
    for _ in range(50):
        seen = (pictures - world["darkness"]) / world["brightness"]
        seen = np.rot90(seen, -world["turns"], (1, 2))[..., np.argsort(world["planes"])]
        seen = seen[:, :, ::-1] if world["mirrored"] else seen
        assert np.array_equal(seen.round(5), states)
        actions = random.integers(3, size=8)
        pictures, rewards, ended = wired.step(actions)
        states, paid, lost, cut, _ = plain.step(np.array(world["actions"])[actions])
        assert np.array_equal(rewards, paid) and np.array_equal(ended, lost | cut)


def zeros(units: int) -> dict[str, Any]:
    return {
        "0.relu.weight": np.zeros((5, 400, units), "f"),
        "0.relu.bias": np.zeros((5, units), "f"),
        "1.linear.weight": np.zeros((5, units, 3), "f"),
        "1.linear.bias": np.zeros((5, 3), "f"),
    }


def test_the_judge_plays_and_refuses(workspace: Path) -> None:
    np.savez(workspace / "policy.npz", **zeros(24))
    first, same = BREAKOUT.judge(workspace, KEY), BREAKOUT.judge(workspace, KEY)
    assert first == same != BREAKOUT.judge(workspace, "11" * 32)
    assert 0.2 < first["Reward Mean"] < 0.6  # scores of random actions
    np.savez(workspace / "policy.npz", **zeros(25))
    sentence = "its layers multiply 10075 times for an action; the limit is 10000"
    assert BREAKOUT.judge(workspace, KEY) == {"error": f"policy.npz: {sentence}"}


# Programs in order of their expected scores, from the baseline to the solution. Each takes a seed
# as argument.
CLIMB = {
    "the baseline": ("baseline.py",),
    **{
        f"{table} rounds for the table, {rounds} for the network": (
            "-c",
            f"import solve, sys; solve.solve(int(sys.argv[1]), {table}, {rounds})",
        )
        for table, rounds in ((400, 100), (700, 300), (900, 500))
    },
    "the solution": ("solve.py",),
}


def test_a_model_can_climb(tmp_path: Path) -> None:
    def in_game(number: int) -> list[float]:
        return BREAKOUT.climb(CLIMB.values(), tmp_path / str(number), number)

    check_climb(in_game, ends=(1.5, 13))
    # A policy that was trained for one drawn game must be worth nothing in another.
    other = BREAKOUT.make_workspace(tmp_path / "other", "22" * 32)
    shutil.copy(tmp_path / "0/policy.npz", other)
    assert BREAKOUT.judge(other, KEY)["Reward Mean"] < 1.5
