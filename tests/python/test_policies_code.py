# SPDX-License-Identifier: Apache-2.0
"""Policies that are code: the judge and the player of the variants `full`, with a few episodes."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from conftest import PYTHON, ROOT
from test_duel import KEY, run_duel

np = pytest.importorskip("numpy")

CAR = ROOT / "tasks/rlMountainCarContinuous"
# The task of each game, how often its solution plays, and the bounds of the mean reward.
GAMES = {
    "Breakout": ("rlBreakoutMinAtar", 4, 84, 84),
    "MetaMaze": ("rlMetaMazeMisc", 24, 90, 145),
    "MountainCarContinuous": ("rlMountainCarContinuous", 16, 95.3, 95.8),
}


def judge(
    packed: Path, game: str, episodes: int, key: str = KEY, python: str = PYTHON
) -> dict[str, Any]:
    player = [str(CAR / "grader/player_policy.py"), str(packed), "Policy"]
    args = [game, str(episodes)]
    program = CAR / "grader/judge_code.py"
    return run_duel(program, player, key, args, memory=1 << 20, python=python)


def pack(folder: Path, *files: Path) -> Path:
    with zipfile.ZipFile(folder / "policy.zip", "w") as packed:
        for file in files:
            packed.write(file, file.name)
    return folder / "policy.zip"


@pytest.mark.parametrize("game", GAMES)
def test_scores_of_solutions(tmp_path: Path, game: str) -> None:
    task, episodes, low, high = GAMES[game]
    packed = pack(tmp_path, ROOT / "tasks" / task / "solution/full/policy.py")
    report = judge(packed, game, episodes)
    assert low <= report["Reward Mean"] <= high, report
    assert judge(packed, game, episodes) == report
    other = judge(packed, game, episodes, "7c" * 32)
    assert (other == report) == (game == "Breakout"), other


def test_the_judge_draws_the_actions(tmp_path: Path) -> None:
    """A policy of equal logits is worth what random actions are. Each checkpoint is asked."""
    program = tmp_path / "policy.py"
    program.write_text(
        "import numpy as np\n"
        "class Policy:\n"
        "    def __init__(self, checkpoint, episodes):\n"
        "        assert checkpoint in range(5) and episodes == 64\n"
        "    def __call__(self, seen):\n"
        "        assert seen.shape == (64, 15) and seen.dtype == 'f4'\n"
        "        return np.zeros((64, 4))\n"
    )
    report = judge(pack(tmp_path, program), "MetaMaze", 64)
    assert report["Reward Mean"] == pytest.approx(7.8, abs=3), report  # 320 episodes, sd 9.5


# --- PyTorch --------------------------------------------------------------------------------------


def workspace(folder: Path) -> Path:
    shutil.copytree(CAR / "starter/full", folder)
    (folder / "simulators").symlink_to(ROOT / "build/python/simulators")
    return folder


def train(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", "baseline.py", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_missing_pytorch_is_named(tmp_path: Path) -> None:
    folder = workspace(tmp_path / "w")
    (folder / "torch.py").write_text("raise ImportError(name='torch')")
    done = train(folder, "Breakout")
    assert done.returncode == 1
    assert done.stderr.startswith("PyTorch is missing: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [["20000"], ["20000", "reinforce"]])
@pytest.mark.parametrize("game", GAMES)
def test_a_baseline_trains_and_is_judged(tmp_path: Path, game: str, arguments: list[str]) -> None:
    pytest.importorskip("torch")
    folder = workspace(tmp_path / "w")
    done = train(folder, game, *arguments)
    assert done.returncode == 0, done.stderr
    report = judge(folder / "policy.zip", game, 4, python=sys.executable)
    assert -1000 < report["Reward Mean"] < 100, report
