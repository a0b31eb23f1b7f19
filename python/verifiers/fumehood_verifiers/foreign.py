# SPDX-License-Identifier: Apache-2.0
"""Rollouts whose agent is a command of its own, which `fumehood run --agent-command` plays."""

import asyncio
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fumehood
from fumehood.rewards import Account

NAME = "fumehood"
ERROR_BYTES = 2000  # most bytes of the messages of a program that failed


def program() -> str:
    """Returns the path of the program `fumehood`.

    It is what the variable FUMEHOOD names, the one that the package carries, or that of PATH.
    """
    places = [os.environ.get("FUMEHOOD"), Path(fumehood.__file__).parent / "bin" / NAME]
    found = next((str(p) for p in places if p and Path(p).exists()), None)
    found = found or shutil.which(NAME)
    if found is None:
        raise FileNotFoundError(f"there is no program {NAME}: install it, or set FUMEHOOD")
    return found


@dataclass(frozen=True)
class Command:
    """A command line that plays an episode inside its sandbox.

    url and key: the address of the model, and its key. The sandbox gets neither of them.
    options: more options of `fumehood run`, as {"python": "/venv", "bind": ["/a", "/b"]}.
    """

    command: str
    task: str
    seed: int
    model: str
    url: str
    key: str
    calls: int  # most calls of the model
    timeout_s: float | None = None  # None: an hour
    gpu: bool = False
    options: dict[str, Any] | None = None

    def words(self, out: str) -> list[str]:
        """Returns the arguments of the program. Records go to the folder `out`."""
        words = ["run", "--json", "--quiet", "--out", out, "--task", self.task]
        words += ["--model", f"openai:{self.model}", "--url", self.url, "--seed", str(self.seed)]
        words += ["--per-instance-cost-limit", "0", "--agent-calls", str(self.calls)]
        words += ["--agent-command", self.command]
        if self.timeout_s is not None:
            words += ["--agent-timeout", str(self.timeout_s)]
        if self.gpu:
            words += ["--gpus-per-agent", "1"]
        for name, value in (self.options or {}).items():
            for one in value if isinstance(value, list) else [value]:
                words += [f"--{name.replace('_', '-')}", str(one)]
        return words


@dataclass(frozen=True)
class Played:
    """An episode that a command played: its account, and its record by `fumehood run --json`."""

    account: Account
    result: dict[str, Any]
    error: str  # why it failed; "": it did not

    def record(self, example_id: int, policy_step: int, timestamp: str) -> dict[str, Any]:
        """Returns the episode as a dict for JSON, like `Episode.record`."""
        variant = self.result["variant"]
        scores = list(enumerate(self.account.scores, 1))
        return {
            "task": self.result["task"] + (f":{variant}" if variant else ""),
            "example_id": example_id,
            "policy_step": policy_step,
            "trajectory": self.result["turns"],
            "metrics": {
                "baseline_score": self.account.baseline,
                "final_score": scores[-1][1] if scores else None,
                "improvement": self.account.improvement() or 0.0,
                "validation_history": scores,
            },
            "info": {
                "seed": self.result["seed"],
                "exit_status": self.result["exit_status"],
                "best": self.result["best"],
                "errors": self.account.errors,
                "api_calls": self.result["api_calls"],
            },
            "timestamp": timestamp,
        }


def _turns(trajectory: Path) -> list[dict[str, Any]]:
    """Returns the steps of a record: the command, and how the episode ended."""
    steps = json.loads(trajectory.read_text())["trajectory"]
    keys = {"completion": "response", "action": "action", "observation": "observation"}
    return [{new: step[old] for new, old in keys.items()} for step in steps]


async def play(command: Command) -> Played:
    """Plays an episode. The sandbox ends with this coroutine, also when that is cancelled.

    Raises RuntimeError if there was no episode: the task, an option or the machine is wrong.
    """
    with tempfile.TemporaryDirectory(prefix="fumehood-") as out:
        child = await asyncio.create_subprocess_exec(
            program(),
            *command.words(out),
            env=os.environ | {"OPENAI_API_KEY": command.key},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            told, said = await child.communicate()
        finally:
            if child.returncode is None:
                child.kill()
                await child.wait()
        said_text = said.decode(errors="replace").strip()[-ERROR_BYTES:]
        if not told.strip():
            raise RuntimeError(said_text or f"{NAME} ended with status {child.returncode}")
        result = json.loads(told)
        trajectory = result["trajectory"]
        if trajectory is None:
            raise RuntimeError(result.get("error") or said_text)
        result["turns"] = _turns(Path(trajectory)) if Path(trajectory).exists() else []
    info = fumehood.describe(command.task)
    baseline = (result["baseline"] or {}).get(info.metric)
    assert info.metric  # it was played
    account = Account(info.metric, info.maximize, baseline)
    account.scores = [score[info.metric] for score in result["scores"] if info.metric in score]
    account.steps = max(result["api_calls"], 1)
    account.errors = int("exit_error" in result["exit_status"])
    return Played(account, result, result.get("error") or "")
