# SPDX-License-Identifier: Apache-2.0
"""Writes finished episodes to files, and logs them to Weights & Biases."""

import importlib.util
import itertools
import json
from pathlib import Path
from statistics import mean
from typing import Any

COLUMNS = (
    "task",
    "improvement",
    "final_score",
    "baseline_score",
    "num_steps",
    "trajectory_preview",
)

Record = dict[str, Any]  # made by Episode.record()


def save(record: Record, folder: Path) -> Path:
    """Writes a record as {task}_pi{policy step}_{time}.json. Returns the new file.

    If another episode has that name already, a number follows the time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    task = record["task"].replace(":", "-")
    stem = f"{task}_pi{record['policy_step']}_{record['timestamp']}"
    text = json.dumps(record, indent=1)
    for number in itertools.count(1):
        path = folder / (f"{stem}.json" if number == 1 else f"{stem}_{number}.json")
        try:
            with path.open("x") as file:
                file.write(text)
        except FileExistsError:
            continue
        return path
    raise AssertionError


def batch_numbers(records: list[Record]) -> dict[str, float]:
    """Returns the numbers of a batch by their keys. Episodes without a score improved by 0."""
    gains = [record["metrics"]["improvement"] for record in records]
    scores = [record["metrics"]["final_score"] for record in records]
    numbers = {
        "batch/mean_improvement": mean(gains),
        "batch/max_improvement": max(gains),
        "batch/min_improvement": min(gains),
        "batch/num_trajectories": len(records),
        "batch/policy_step": max(record["policy_step"] for record in records),
    }
    scored = [score for score in scores if score is not None]
    if scored:
        numbers["batch/mean_final_score"] = mean(scored)
    for task in {record["task"] for record in records}:
        numbers[f"batch/{task}/mean_improvement"] = mean(
            record["metrics"]["improvement"] for record in records if record["task"] == task
        )
    return numbers


def episode_numbers(record: Record) -> dict[str, float]:
    """Returns the numbers of an episode by their keys."""
    numbers = {
        name: record["metrics"][name] for name in ("improvement", "final_score", "baseline_score")
    }
    numbers["num_steps"] = len(record["trajectory"])
    return {
        f"trajectory/{record['task']}/{name}": value
        for name, value in numbers.items()
        if value is not None
    }


def table_row(record: Record) -> list[Any]:
    """Returns a record's row of the table `trajectories`."""
    actions = [str(turn["action"] or "")[:100] for turn in record["trajectory"][:3]]
    metrics = record["metrics"]
    return [
        record["task"],
        metrics["improvement"],
        metrics["final_score"],
        metrics["baseline_score"],
        len(record["trajectory"]),
        "\n".join(actions),
    ]


class Board:
    """Logs episodes with the library wandb.

    Args:
        batch_size: number of episodes whose numbers are logged together.
        settings: arguments of wandb.init, which is called for the first episode. None: log only
            if the process has a run already.
        tags: tags of the run that is started, unless the settings have some.
    """

    def __init__(
        self, batch_size: int, settings: dict[str, Any] | None = None, tags: list[str] | None = None
    ) -> None:
        if settings is not None and importlib.util.find_spec("wandb") is None:
            raise ModuleNotFoundError("the package wandb is not installed", name="wandb")
        self.batch_size = batch_size
        self.settings = settings
        self.tags = ["fumehood", "rl", *(tags or [])]
        self.batch: list[Record] = []

    def _run(self) -> Any:
        if importlib.util.find_spec("wandb") is None:
            return None
        import wandb

        if wandb.run is None and self.settings is not None:
            wandb.init(**({"tags": self.tags} | self.settings))
        return wandb.run

    def add(self, record: Record) -> None:
        """Logs an episode, and the batch if it is the last of one."""
        run = self._run()
        if run is None:
            return
        import wandb

        run.log(episode_numbers(record))
        self.batch.append(record)
        if len(self.batch) >= self.batch_size:
            table = wandb.Table(columns=list(COLUMNS), data=[table_row(r) for r in self.batch])
            run.log(batch_numbers(self.batch) | {"trajectories": table})
            self.batch = []
