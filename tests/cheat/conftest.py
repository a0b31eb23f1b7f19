# SPDX-License-Identifier: Apache-2.0
"""What the cheats share: episodes of every task, and what an honest submission is worth there.

A cheat that works would change a score, or see one where there is none. Each test also shows that its
trick was played: a trap that snaps in the agent's own hands, or what the grader says of it.
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
    """A task, an honest submission, its score, and how far an honest one may be from that."""

    task: str
    file: str
    honest: str  # the commands that make it
    score: float | None  # None: any
    near: float = 0.0
    root: Path | None = None  # the checkout of MLGym that it is of
    function: str = ""  # that a duel asks for moves


GAMES = [
    Game("duel", "strategy.py", "true", 2 / 3),
    Game("script", "answer.txt", "echo 5 >answer.txt", 0.25),
    Game("titanicSurvival:micro", "submission.csv", "python3 baseline.py", 0.78),
    # Its dice are thrown anew in each episode: the mean, and six standard deviations.
    Game("battleOfSexes", "strategy.py", "true", 1.0213, 0.02),
    Game("rows", "submission.csv", "cp sample_submission.csv submission.csv", 0.5, root=MLGYM),
]
# In these the agent's code runs in the evaluator's own process: see test_mlgym.py.
IN_PROCESS = [
    Game("coin", "strategy.py", "true", 0.4, root=MLGYM),
    Game("model", "checkpoint.yaml", "python3 src/train.py", 5 / 12, root=MLGYM),
]
BY_TASK = {game.task: game for game in GAMES + IN_PROCESS}


def duels() -> dict[str, Game]:
    """Every duel that there is, with its starting point as the honest strategy."""
    found = {}
    for path in sorted([*TASKS.glob("*/task.yaml"), *OURS.glob("*/task.yaml")]):
        task = yaml.safe_load(path.read_text())
        grader = task.get("grader", {})
        if grader.get("kind") == "duel":
            game = BY_TASK.get(task["id"]) or Game(task["id"], grader["submission"], "true", None)
            found[game.task] = replace(game, function=grader["functions"][0])
    return found


DUELS = duels()
BY_TASK.update(DUELS)
# `make check` leaves the longest games to `make test`.
DUELS_OR_LONG = [t if t == "duel" else pytest.param(t, marks=pytest.mark.long) for t in DUELS]
GAMES_OR_LONG = [
    pytest.param(t, marks=pytest.mark.long) if t in ("battleOfSexes", "rows") else t
    for t in (game.task for game in GAMES)
]


class Episode:
    """A conversation with a `fumehood env` of its own, recorded in a folder."""

    def __init__(self, program: str, state: Path, out: Path, game: Game):
        self.game = game
        self.out = out
        words = ["env", "--task", game.task, "--tasks-dir", TASKS, "--out", out]
        words += ["--mlgym-root", game.root] if game.root else []
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
        return answer["observation"].rstrip("\n")  # of MLGym's tasks it ends without

    def put(self, path: str, text: str) -> None:
        end = f"END{secrets.token_hex(4)}"
        assert self.sh(f"cat >{path} <<'{end}'\n{text}\n{end}") == ""

    def validate(self) -> dict:
        """The step that scored, by a program that nothing planted stands in front of."""
        return self.step("/fumehood/bin/validate")

    def assert_honest(self, answer: dict) -> float:
        """It was scored, and worth what an honest one is."""
        assert "score" in answer["info"], answer
        value = next(iter(answer["info"]["score"].values()))
        assert self.game.score is None or abs(value - self.game.score) <= self.game.near + 1e-9, (
            answer
        )
        return value

    def recorded(self) -> list[dict]:
        """All events of the episode so far."""
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


@pytest.fixture
def begin(program, state, tmp_path):
    """Begins an episode of a task."""
    begun = []

    def one(task: str) -> Episode:
        begun.append(Episode(program, state, tmp_path / f"out{len(begun)}", BY_TASK[task]))
        return begun[-1]

    yield one
    for episode in begun:
        episode.end()
