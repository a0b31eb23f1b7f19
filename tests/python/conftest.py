# SPDX-License-Identifier: Apache-2.0
"""Shared by tests of tasks: generated data, and the tasks' programs."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import mean, stdev
from types import ModuleType
from typing import Any

import pytest
import yaml
from package_programs import SLOW_TASK

ROOT = Path(__file__).resolve().parents[2]
DATASETS = ROOT / "datasets"
PYTHON = "/usr/bin/python3"
KEY = "5f" * 32
CLIMBS = int(os.environ.get("CLIMBS", "1"))

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # tests run in parallel already
sys.path.append(str(DATASETS))  # programs that make data import modules from there


def lacks(name: str) -> bool:
    done = subprocess.run([PYTHON, "-c", f"import {name}"], capture_output=True, check=False)
    return done.returncode != 0


def describe_data(name: str) -> dict[str, Any]:
    return yaml.safe_load((DATASETS / f"{name}.yaml").read_text())


def run_maker(
    name: str,
    *arguments: str | Path,
    key: str = "",
    cwd: Path | None = None,
    options: tuple[str, ...] = (),
) -> subprocess.CompletedProcess[str]:
    """Runs the program that makes a data set, with its modules beside it as in its sandbox."""
    described = describe_data(name)
    maker = described.get("make") or described["layout"]
    with tempfile.TemporaryDirectory() as beside:
        for path in (maker["program"], *maker["modules"]):
            shutil.copy(ROOT / path, beside)
        program = Path(beside, Path(maker["program"]).name)
        return subprocess.run(
            [PYTHON, "-B", *options, str(program), *map(str, arguments)],
            cwd=cwd,
            env={"FUMEHOOD_DATA_KEY": key, "OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )


def make_data(name: str, folder: Path, key: str, options: tuple[str, ...] = ()) -> Path:
    """Makes a data set in a new folder."""
    described = describe_data(name)
    folder.mkdir(parents=True)
    arguments = described["make"]["args"]
    done = run_maker(name, *arguments, key=key, cwd=folder, options=options)
    assert done.returncode == 0, done.stderr
    made = {path.name for path in folder.iterdir()}
    assert made == {file["path"] for file in described["files"]}
    return folder


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], ModuleType]:
    """A function that imports a program. During the test, programs can import each other."""

    def load(path: Path) -> ModuleType:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)  # dataclasses look modules up there
        spec.loader.exec_module(module)
        return module

    return load


def check_climb(climb: Callable[[int], list[float]], ends: tuple[float, float]) -> None:
    """Checks a ladder of solutions, which `climb` scores in the world of a number.

    The first score is the baseline's, and the last is the solution's. By default there is a single
    world: scores rise from below to above `ends`. The variable CLIMBS gives more worlds. Then each
    solution is a deviation above the last, and the ends are five apart. The larger deviation of
    both sides counts.
    """
    worlds = [climb(number) for number in range(CLIMBS)]
    scores = list(zip(*worlds, strict=True))
    means = [mean(s) for s in scores]
    assert means[0] < ends[0] and means[-1] > ends[1], worlds
    assert means == sorted(means), worlds
    if CLIMBS > 1:
        deviations = [stdev(s) for s in scores]
        assert means[-1] - means[0] > 5 * max(deviations[0], deviations[-1]), worlds
        for i in range(len(means) - 1):
            assert means[i + 1] - means[i] > max(deviations[i : i + 2]), worlds


@pytest.fixture
def slow_gym(tmp_path: Path) -> str:
    """The expression of a gym with a task `slow`, whose baseline takes long."""
    folder = tmp_path / "tasks/slow"
    folder.mkdir(parents=True)
    (folder / "task.yaml").write_text(SLOW_TASK)
    (folder / "judge.py").write_text("")
    return f"fumehood.Gym(tasks_dir={str(tmp_path / 'tasks')!r}, state_dir={str(tmp_path)!r})"


# --- tasks whose submission is a policy -----------------------------------------------------------


class PolicyTask:
    """A task whose submission is policy.npz, and its data set for the variant `micro`."""

    def __init__(self, name: str, data: str) -> None:
        self.folder, self.data = ROOT / "tasks" / name, data
        described = yaml.safe_load((self.folder / "task.yaml").read_text())["variants"]["micro"]
        self.files = [*described["starter_code"], *described["solution"]["files"]]
        self.program = self.find(described["grader"]["program"])
        self.episodes = described["grader"]["args"][0]

    def find(self, name: str) -> Path:
        """A file or folder of the task, or of the data set policy-programs."""
        shared = name.removeprefix("policy-programs:")
        return (self.folder if shared == name else ROOT / "tasks") / shared

    def make_workspace(self, folder: Path, key: str) -> Path:
        """An agent's workspace, with our solution."""
        folder.mkdir(parents=True)
        for path in map(self.find, self.files):
            for file in path.iterdir() if path.is_dir() else [path]:
                shutil.copy(file, folder)
        make_data(self.data, folder / "data", key)
        return folder

    def judge(self, folder: Path, key: str) -> dict[str, Any]:
        """The judge's report about policy.npz."""
        subprocess.run(
            ["bash", "-c", 'exec "$@" 3>result', "-", PYTHON, "-B", self.program, self.episodes],
            cwd=folder,
            check=True,
            env={**os.environ, "FUMEHOOD_JUDGE_KEY": key},
        )
        return json.loads((folder / "result").read_text())

    def climb(self, programs: Iterable[Sequence[str]], folder: Path, number: int) -> list[float]:
        """The scores of programs, which get a seed as argument, in the world of a number."""
        key = f"{number:064x}"
        self.make_workspace(folder, key)
        scores = []
        for program in programs:
            run_program(folder, *program, str(number))
            scores.append(self.judge(folder, key)["Reward Mean"])
        return scores


def run_program(folder: Path, *arguments: str) -> None:
    subprocess.run([PYTHON, "-B", *arguments], cwd=folder, check=True, env=os.environ)
