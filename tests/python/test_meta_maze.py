# SPDX-License-Identifier: Apache-2.0
"""rlMetaMazeMisc: mazes that a key wires, and solutions that climb."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import PolicyTask, check_climb

np = pytest.importorskip("numpy")
MAZE = PolicyTask("rlMetaMazeMisc", "wiredMaze")
KEY = "7c" * 32


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return MAZE.make_workspace(tmp_path / "workspace", KEY)


def zeros(units: int) -> dict[str, Any]:
    return {
        "0.gru.weight": np.zeros((5, 16, 3 * units), "f"),
        "0.gru.recurrent": np.zeros((5, units, 3 * units), "f"),
        "0.gru.bias": np.zeros((5, 3 * units), "f"),
        "1.linear.weight": np.zeros((5, units, 4), "f"),
        "1.linear.bias": np.zeros((5, 4), "f"),
    }


def test_the_judge_plays_and_refuses(workspace: Path) -> None:
    np.savez(workspace / "policy.npz", **zeros(8))
    first, same = MAZE.judge(workspace, KEY), MAZE.judge(workspace, KEY)
    assert first == same != MAZE.judge(workspace, "11" * 32)
    assert 5.5 < first["Reward Mean"] < 10  # scores of random actions
    np.savez(workspace / "policy.npz", **zeros(9))
    sentence = "its layers multiply 711 times for an action; the limit is 640"
    assert MAZE.judge(workspace, KEY) == {"error": f"policy.npz: {sentence}"}


# Programs in order of their expected scores, from the baseline to the solution. Each takes a seed
# as argument.
CLIMB = {
    "the baseline": ("baseline.py",),
    **{
        f"{teacher} rounds for the teacher, {rounds} for the student": (
            "-c",
            f"import solve, sys; solve.solve(int(sys.argv[1]), {teacher}, {rounds})",
        )
        for teacher, rounds in ((75, 300), (110, 400), (160, 600))
    },
    "the solution": ("solve.py",),
}


def test_a_model_can_climb(tmp_path: Path) -> None:
    def in_maze(number: int) -> list[float]:
        return MAZE.climb(CLIMB.values(), tmp_path / str(number), number)

    check_climb(in_maze, ends=(20, 42))
    # A policy that was trained for one drawn maze must be worth nothing in another.
    other = MAZE.make_workspace(tmp_path / "other", "22" * 32)
    shutil.copy(tmp_path / "0/policy.npz", other)
    assert MAZE.judge(other, KEY)["Reward Mean"] < 20
