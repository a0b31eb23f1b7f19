# SPDX-License-Identifier: Apache-2.0
"""Shared by the cheats: episodes of tasks, and the score of an honest submission in each.

A cheat that works would change a score, or get one without a right. Each test also shows that its
trick was played. The trap works for the agent's own commands, or the grader reports the trick.
"""

import json
import os
import secrets
import select
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml

TASKS = Path(__file__).resolve().parent / "tasks"
OURS = TASKS.parents[2] / "tasks"
MLGYM = TASKS.parents[1] / "fixtures/mlgym-root"
ANSWER_S = 700.0


@dataclass(frozen=True)
class Game:
    """A task, an honest submission, its score, and the largest deviation from that score."""

    task: str
    file: str
    honest: str  # commands that make an honest submission
    score: float | None  # score of the honest submission; None: any
    near: float = 0.0
    root: Path | None = None  # checkout of MLGym that has the task
    function: str = ""  # the function that a duel asks for moves


GAMES = [
    Game("duel", "strategy.py", "true", 2 / 3),
    Game("script", "answer.txt", "echo 5 >answer.txt", 0.25),
    # Each machine draws other passengers: the allowed deviation is five standard deviations of the
    # score of half of them.
    Game("titanicSurvival:micro", "submission.csv", "python3 baseline.py", 0.65, 0.12),
    # The judge's random numbers differ between episodes: the allowed deviation is six standard
    # deviations of the score of 400 games.
    Game("battleOfSexes", "strategy.py", "true", 1.0213, 0.1),
    Game("rows", "submission.csv", "cp sample_submission.csv submission.csv", 0.5, root=MLGYM),
]
# Tasks of MLGym whose evaluator runs the agent's code in its own process: see test_mlgym.py.
IN_PROCESS = [
    Game("coin", "strategy.py", "true", 0.4, root=MLGYM),
    Game("model", "checkpoint.yaml", "python3 src/train.py", 5 / 12, root=MLGYM),
]
# Task whose judge asks a model for predictions instead of a strategy. test_model.py tests it.
MODEL = Game("languageModelingFineWeb", "model.zip", "python3 baseline.py", None)
BY_TASK = {game.task: game for game in [*GAMES, *IN_PROCESS, MODEL]}


# Code in judges that sets the number of games, and code that plays fewer. Copies of the tasks use
# the latter to save time.
GAMES_LINE = ("else 10_000", "else 400")
FEWER = {
    "3SATTime": ("[(50, 213)] * 96", "[(30, 128)] * 4"),
    "battleOfSexes": GAMES_LINE,
    "blotto": GAMES_LINE,
    "prisonersDilemma": GAMES_LINE,
}


def copy_task(folder: Path, task: str, changes: dict[str, tuple[str, str]]) -> Path:
    """Copies a task of ours, and replaces a text in each of some files."""
    copy = shutil.copytree(OURS / task, folder / task)
    for name, (old, new) in changes.items():
        text = (copy / name).read_text()
        assert text.count(old) == 1, (name, old)
        (copy / name).write_text(text.replace(old, new))
    return copy


def duels() -> dict[str, Game]:
    """All duels of strategies, each with its starter as the honest one."""
    found = {}
    for path in sorted([*TASKS.glob("*/task.yaml"), *OURS.glob("*/task.yaml")]):
        task = yaml.safe_load(path.read_text())
        grader = task.get("grader", {})
        if grader.get("kind") == "duel" and grader["submission"].endswith(".py"):
            game = BY_TASK.get(task["id"]) or Game(task["id"], grader["submission"], "true", None)
            found[game.task] = replace(game, function=grader["functions"][0])
    return found


DUELS = duels()
BY_TASK.update(DUELS)
# Mark the longest games: `make check` skips them, `make test` plays them.
DUELS_OR_LONG = [t if t == "duel" else pytest.param(t, marks=pytest.mark.long) for t in DUELS]
GAMES_OR_LONG = [
    pytest.param(t, marks=pytest.mark.long) if t in ("battleOfSexes", "rows") else t
    for t in (game.task for game in GAMES)
]


class Episode:
    """An episode in its own process of `fumehood env`, recorded in a folder."""

    def __init__(
        self, program: str, state: Path, out: Path, game: Game, task: str | Path, *more: str
    ):
        self.game = game
        self.out = out
        words = ["env", "--task", task, "--tasks-dir", TASKS, "--out", out]
        words += ["--mlgym-root", game.root] if game.root else []
        words += more
        self.child = subprocess.Popen(
            [program, *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env={**os.environ, "FUMEHOOD_STATE": str(state)},
        )
        self.data = bytearray()
        self.reset()

    def ask(self, **request) -> dict:
        self.child.stdin.write(json.dumps(request).encode() + b"\n")
        while b"\n" not in self.data:
            assert select.select([self.child.stdout], [], [], ANSWER_S)[0], "no answer"
            chunk = self.child.stdout.read(1 << 16)
            assert chunk, "it ended"
            self.data += chunk
        line, _, self.data = self.data.partition(b"\n")
        answer = json.loads(line)
        assert "error" not in answer, answer
        return answer

    def reset(self, seed: int = 1) -> dict:
        return self.ask(op="reset", seed=seed)

    def step(self, action: str) -> dict:
        return self.ask(op="step", action=action)

    def sh(self, action: str) -> str:
        answer = self.step(action)
        assert answer["info"]["outcome"] == "ok", answer
        return answer["observation"].rstrip("\n")  # MLGym's tasks have no newline at the end

    def put(self, path: str, text: str) -> None:
        end = f"END{secrets.token_hex(4)}"
        assert self.sh(f"cat >{path} <<'{end}'\n{text}\n{end}") == ""

    def validate(self) -> dict:
        """Scores the submission. The path of the program avoids functions and aliases."""
        return self.step("/fumehood/bin/validate")

    def assert_honest(self, answer: dict) -> float:
        """Checks that a step was scored like an honest submission. Returns the score."""
        assert "score" in answer["info"], answer
        value = next(iter(answer["info"]["score"].values()))
        assert self.game.score is None or abs(value - self.game.score) <= self.game.near + 1e-9, (
            answer
        )
        return value

    def recorded(self) -> list[dict]:
        """All recorded events of the episode so far."""
        (log,) = self.out.rglob("events.jsonl")
        return [json.loads(line) for line in log.read_text().splitlines()]

    def end(self) -> None:
        self.child.stdin.close()
        assert self.child.wait(ANSWER_S) == 0
        self.child.stdout.close()


@pytest.fixture(scope="session")
def program() -> str:
    path = os.environ.get("FUMEHOOD") or shutil.which("fumehood")
    assert path, "FUMEHOOD names no program"
    return os.path.abspath(path)


@pytest.fixture(scope="session")
def state(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="session")
def fewer(tmp_path_factory) -> dict[str, Path]:
    """Copies of the tasks in FEWER, by their names."""
    folder = tmp_path_factory.mktemp("tasks")
    return {
        task: copy_task(folder, task, {"grader/judge.py": change}) for task, change in FEWER.items()
    }


@pytest.fixture
def begin(program, state, tmp_path, fewer):
    """A function that begins an episode of a task, or of a copy of it, with more options."""
    begun = []

    def one(task: str, copy: str | Path | None = None, *more: str) -> Episode:
        game = BY_TASK.get(task) or Game(task, "", "true", None)
        out = tmp_path / f"out{len(begun)}"
        begun.append(Episode(program, state, out, game, copy or fewer.get(task, task), *more))
        return begun[-1]

    yield one
    for episode in begun:
        episode.end()
