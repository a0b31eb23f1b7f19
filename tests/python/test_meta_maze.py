# SPDX-License-Identifier: Apache-2.0
"""rlMetaMazeMisc: mazes that a key wires, and solutions that climb."""

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

MAZE = PolicyTask("rlMetaMazeMisc", "wiredMaze")
KEY = "7c" * 32


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return MAZE.make_workspace(tmp_path / "workspace", KEY)


def test_a_maze_shows_all_of_the_simulator(
    workspace: Path, load: Callable[[Path], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Undoing the wiring by hand gives the simulator's own observations, rewards and ends."""
    monkeypatch.chdir(workspace)
    world = json.loads((workspace / "data/world.json").read_text())
    assert sorted(world["sensors"]) == list(range(15)) and world["sensors"] != list(range(15))
    assert sorted(world["actions"]) == [0, 1, 2, 3]
    assert all(0.5 <= abs(b) <= 1.5 for b in world["brightness"])
    wired = load(workspace / "maze.py").Maze(8)
    plain = simulators.make_vec("MetaMaze", 8, max_episode_steps=199)
    observations, states = wired.reset(3), plain.reset(seed=3)[0]
    random = np.random.default_rng(1)
    for _ in range(250):
        seen = (observations - world["darkness"]) / world["brightness"]
        assert np.allclose(seen[:, np.argsort(world["sensors"])], states, atol=1e-3)
        actions = random.integers(4, size=8)
        observations, rewards, ended = wired.step(actions)
        states, paid, reached, cut, _ = plain.step(np.array(world["actions"])[actions])
        assert np.array_equal(rewards, paid) and np.array_equal(ended, reached | cut)


def zeros(units: int) -> dict[str, Any]:
    return {
        "0.gru.weight": np.zeros((5, 15, 3 * units), "f"),
        "0.gru.recurrent": np.zeros((5, units, 3 * units), "f"),
        "0.gru.bias": np.zeros((5, 3 * units), "f"),
        "1.linear.weight": np.zeros((5, units, 4), "f"),
        "1.linear.bias": np.zeros((5, 4), "f"),
    }


def test_the_judge_plays_and_refuses(workspace: Path) -> None:
    np.savez(workspace / "policy.npz", **zeros(50))
    first, same = MAZE.judge(workspace, KEY), MAZE.judge(workspace, KEY)
    assert first == same != MAZE.judge(workspace, "11" * 32)
    assert 5.5 < first["Reward Mean"] < 10  # scores of random actions
    np.savez(workspace / "policy.npz", **zeros(51))
    sentence = "its layers multiply 10302 times for an action; the limit is 10000"
    assert MAZE.judge(workspace, KEY) == {"error": f"policy.npz: {sentence}"}


# Programs in order of their expected scores, from the baseline to the solution. Each takes a seed
# as argument.
CLIMB = {
    "the baseline": ("baseline.py",),
    **{
        f"{rounds} rounds of the solution": (
            "-c",
            f"import solve, sys; solve.train(int(sys.argv[1]), {rounds})",
        )
        for rounds in (65, 90, 150)
    },
    "the solution": ("solve.py",),
}


def test_a_model_can_climb(tmp_path: Path) -> None:
    def in_maze(number: int) -> list[float]:
        return MAZE.climb(CLIMB.values(), tmp_path / str(number), number)

    check_climb(in_maze, ends=(26, 36))
    # A policy that was trained for one drawn maze must be worth nothing in another.
    other = MAZE.make_workspace(tmp_path / "other", "22" * 32)
    shutil.copy(tmp_path / "0/policy.npz", other)
    assert MAZE.judge(other, KEY)["Reward Mean"] < 26
