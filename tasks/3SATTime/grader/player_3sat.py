# SPDX-License-Identifier: Apache-2.0
"""Plays for the agent in 3SATTime: keeps the arguments of heuristic_fn, and calls it.

The judge's solver sends what changed since the last decision of each instance, as
src/grade/sat/sat.h describes. Nothing here is trusted or hidden (player.py).
"""

from __future__ import annotations

import gc
import os
import sys
from array import array
from binascii import a2b_base64
from collections.abc import Callable
from typing import Any

import player

Heuristic = Callable[..., tuple[Any, Any]]


def numbers_of(text: str) -> list[int]:
    """Reads a text of the judge's sat.packed()."""
    return array("i", a2b_base64(text)).tolist()


class Mirror:
    """The solver's state in one instance, in the order in which the solver keeps it.

    It is written for speed, because its CPU time is part of the score `Time`.
    """

    def __init__(self, literals: str) -> None:
        each = iter(numbers_of(literals))
        self.formula = list(zip(each, each, each, strict=True))
        self.unresolved = dict(enumerate(self.formula))
        self.assignments: dict[int, bool] = {}
        self.conflict_count: dict[int, int] = {}
        self.assignment_history: list[int] = []
        self.level: list[list[int]] = []

    def change(self, changes: str) -> None:
        numbers = numbers_of(changes)
        kept, at = numbers[0], 1
        for level in self.level[kept:]:
            for variable in level:
                del self.assignments[variable]
        del self.level[kept:]

        # Five lists follow. The number before each is its length.
        new_level = numbers[at + 1 : (at := at + 1 + numbers[at])]
        if new_level:
            self.level.append(list(map(abs, new_level)))
            for literal in new_level:
                self.assignments[abs(literal)] = literal > 0
        self.assignment_history += numbers[at + 1 : (at := at + 1 + numbers[at])]
        for variable in numbers[at + 1 : (at := at + 1 + numbers[at])]:
            self.conflict_count[variable] = self.conflict_count.get(variable, 0) + 1
        # Move changed clauses to the end of the dictionary: the solver's list has the same order.
        for clause in numbers[at + 1 : (at := at + 1 + numbers[at])]:
            del self.unresolved[clause]
        for clause in numbers[at + 1 :]:
            self.unresolved[clause] = self.formula[clause]

    def decide(self, heuristic: Heuristic) -> Any:
        # Give the heuristic copies, so that changing its arguments does not change the solver's
        # state.
        return heuristic(
            list(map(list, self.unresolved.values())),
            self.assignments.copy(),
            self.conflict_count.copy(),
            self.assignment_history.copy(),
            list(map(list.copy, self.level)),
        )


def plain(decision: Any) -> Any:
    """Converts a decision to JSON, numpy's numbers and booleans too."""
    if not isinstance(decision, tuple | list) or len(decision) != 2:
        return player.plain(decision)
    variable, value = decision
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.item()
    return [player.plain(variable), value if isinstance(value, bool) else player.plain(value)]


class Table(player.Table):
    """Instances that are solved side by side."""

    def __init__(self, strategy: Heuristic, question: dict[str, Any]) -> None:
        super().__init__(strategy, question)
        self.mirrors = [Mirror(literals) for literals, _ in question["start"]]
        self.reply([(game, changes) for game, (_, changes) in enumerate(question["start"])])

    def reply(self, replies: list[Any]) -> None:
        """Takes over what changed in some instances, which are asked about. None: it has ended."""
        self.asked = []
        for game, changes in replies:
            mirror = self.mirrors[game]
            self.asked.append(mirror if changes is not None else None)
            if changes is not None:
                mirror.change(changes)

    def move(self) -> list[Any]:
        self.moves = moves = []
        for mirror in self.asked:
            moves.append(plain(mirror.decide(self.strategy)) if mirror else None)
        return moves


if __name__ == "__main__":
    # Find modules in the working directory, because a submitted heuristic may import the starter's
    # solver.py.
    sys.path.append(os.getcwd())
    # Search for cycles more rarely than after each 700 new objects: the mirrors have many, and none.
    gc.set_threshold(100_000)
    player.main(sys.argv[1], sys.argv[2:], Table)
