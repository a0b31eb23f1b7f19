# SPDX-License-Identifier: Apache-2.0
"""rlBreakoutMinAtar: games that a key wires, and solutions that climb."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import PolicyTask, check_climb

np = pytest.importorskip("numpy")
from simulators.games import open_world  # noqa: E402

BREAKOUT = PolicyTask("rlBreakoutMinAtar", "wiredBreakout-micro")
KEY = "7c" * 32


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return BREAKOUT.make_workspace(tmp_path / "workspace", KEY)


def test_a_key_decides_the_wiring(tmp_path: Path) -> None:
    """Copies of two worlds start alike, and other sensors show them."""
    seen, plain = [], []
    for number in (1, 1, 2):
        folder = BREAKOUT.make_workspace(tmp_path / str(len(seen)), f"{number:064x}")
        world = json.loads((folder / "data/world.json").read_text())
        assert sorted(world) == ["game", "steps", "wiring"] and world["steps"] == 200
        game = open_world(8, folder)
        seen.append(game.reset(3))
        plain.append(game.plain())
    assert seen[0].shape == (8, 64) and plain[0].shape == (8, 10, 10, 4)
    assert np.array_equal(plain[0], plain[2]) and np.array_equal(seen[0], seen[1])
    assert np.abs(seen[0] - seen[2]).mean() > 0.1


def zeros(units: int) -> dict[str, Any]:
    return {
        "0.relu.weight": np.zeros((5, 64, units), "f"),
        "0.relu.bias": np.zeros((5, units), "f"),
        "1.linear.weight": np.zeros((5, units, 3), "f"),
        "1.linear.bias": np.zeros((5, 3), "f"),
    }


def test_the_judge_plays_and_refuses(workspace: Path) -> None:
    np.savez(workspace / "policy.npz", **zeros(149))
    first, same = BREAKOUT.judge(workspace, KEY), BREAKOUT.judge(workspace, KEY)
    assert first == same != BREAKOUT.judge(workspace, "11" * 32)
    assert 0.2 < first["Reward Mean"] < 0.6  # scores of random actions
    np.savez(workspace / "policy.npz", **zeros(150))
    sentence = "its layers multiply 10050 times for an action; the limit is 10000"
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
        for table, rounds in ((600, 220), (1000, 300), (1000, 400))
    },
    "the solution": ("solve.py",),
}


def test_a_model_can_climb(tmp_path: Path) -> None:
    def in_game(number: int) -> list[float]:
        return BREAKOUT.climb(CLIMB.values(), tmp_path / str(number), number)

    check_climb(in_game, ends=(5, 13))
    # A policy that was trained for one drawn game must be worth nothing in another.
    other = BREAKOUT.make_workspace(tmp_path / "other", "22" * 32)
    shutil.copy(tmp_path / "0/policy.npz", other)
    assert BREAKOUT.judge(other, KEY)["Reward Mean"] < 5
