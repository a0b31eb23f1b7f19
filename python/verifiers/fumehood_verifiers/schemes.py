# SPDX-License-Identifier: Apache-2.0
"""Reward schemes by name, with a state for each task."""

from pathlib import Path
from typing import Any

from fumehood.rewards import Account, PathName, Scheme, make


class Schemes:
    """A reward scheme for each of several tasks, because thresholds of tasks differ.

    Args:
        name: name of a scheme in fumehood.rewards.
        persist_path: file with the state of a scheme.
        per_task: whether each task has a file: `best.json` becomes `best-titanic.json`.
        options: tau and batch_size, as for fumehood.rewards.make.
    """

    def __init__(
        self,
        name: str,
        persist_path: PathName | None = None,
        *,
        per_task: bool = False,
        **options: Any,
    ) -> None:
        self.name = name
        self.persist_path = Path(persist_path) if persist_path else None
        self.per_task = per_task
        self.options = options
        self._schemes: dict[str, Scheme] = {}
        make(name, **options)  # refuses unknown names at once

    def _path(self, task: str) -> Path | None:
        path = self.persist_path
        if not (path and self.per_task):
            return path
        return path.with_name(f"{path.stem}-{task.replace(':', '-')}{path.suffix}")

    def __call__(self, task: str, account: Account) -> float:
        """Returns the reward of an episode."""
        scheme = self._schemes.get(task)
        if scheme is None:
            scheme = make(self.name, persist_path=self._path(task), **self.options)
            self._schemes[task] = scheme
        return scheme(account)
