# SPDX-License-Identifier: Apache-2.0
"""The tasks that environments can open, and what each of them asks for."""

from dataclasses import dataclass
from typing import Any

from . import _core


@dataclass(frozen=True)
class Task:
    """A task, as its file describes it. Members of unreadable files are None or empty.

    Scores are dicts {metric: value}. Times are in seconds.
    """

    id: str
    variant: str  # the variant that is described; "" for the task without a variant
    problem: str | None  # why it can't be opened, such as missing data; None: no reason is known
    variants: tuple[tuple[str, str | None], ...]  # pairs of name and problem, the default first
    warnings: tuple[str, ...]
    name: str | None  # for people
    description: str | None  # for the agent
    metric: str | None  # the deciding metric
    maximize: bool
    max_steps: int
    training_timeout_s: float
    short_timeout_s: float
    folder: str | None
    grader: str | None
    submission: str | None  # graded file, relative to the workspace; "": all of it
    final: bool  # only the score of an episode's end counts
    starter: tuple[str, ...]  # files in the workspace
    data: tuple[str, ...]  # files in the workspace's folder `data`
    published: dict[str, float] | None  # the baseline's scores that the task's file states
    baseline: dict[str, float] | None  # the baseline's score on this machine, if it is known
    missing: tuple[str, ...]  # for each data set that lacks files: which, and how to get them
    comparable: bool  # scores can be compared with published ones
    why_comparable: str | None  # sentences why they can, or can't; None: its file does not tell


def tasks(**places: Any) -> list[Task]:
    """Returns all tasks with their default variants, sorted by id.

    places: tasks_dir, state_dir and mlgym_root, as for Gym.
    """
    return [Task(**item) for item in _core.tasks(**places)]


def describe(task: str, variant: str | None = None, *, data_seed: int = 0, **places: Any) -> Task:
    """Returns one task, "T" or "T:VARIANT". MissingError: there is no such task."""
    return Task(**_core.describe(task, variant=variant, data_seed=data_seed, **places)[0])
