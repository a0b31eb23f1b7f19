# SPDX-License-Identifier: Apache-2.0
"""Plays for the agent in a duel: runs the agent's file and answers the judge's questions.

    python3 -s -B player.py FILE FUNCTION...

A question is a line of JSON on descriptor 3, its answer a line of JSON on descriptor 4 (the lines
are in docs/graders.md). One question covers one round of all games, because a process that waits
costs more to wake than a move costs to make.

The agent's code lives in this very process, so nothing here can be trusted or hidden: the score,
the random numbers and the other player are the judge's, in a sandbox of its own. What is done
here is for honest mistakes: say what went wrong, where, and never hang for it.
"""

from __future__ import annotations

import importlib.util
import json
import operator
import os
import random
import sys
from collections.abc import Callable
from types import ModuleType, TracebackType
from typing import Any

QUESTIONS_FD, ANSWERS_FD = 3, 4
LINE_BYTES = 16 << 20  # the longest line
TEXT_CHARS = 300  # the longest text about an exception

Strategy = Callable[[list[tuple[Any, Any]]], Any]


class Table:
    """Games played side by side, each with its history of (own move, the other's reply)."""

    def __init__(self, strategy: Strategy, games: int) -> None:
        self.strategy = strategy
        self.histories: list[list[tuple[Any, Any]]] = [[] for _ in range(games)]
        self.moves: list[Any] = []

    def reply(self, replies: list[Any]) -> None:
        """Ends a round: the other's replies, one for each game."""
        for history, move, reply in zip(self.histories, self.moves, replies, strict=True):
            history.append((move, reply))

    def move(self) -> list[Any]:
        """Begins a round: asks the strategy in each game. On an exception, `moves` is short."""
        strategy = self.strategy
        self.moves = moves = []
        for history in self.histories:
            # A copy: a strategy that changes its argument must not change the game.
            move = strategy(history.copy())
            moves.append(move if type(move) is int else plain(move))
        return moves


def plain(value: Any) -> Any:
    """What JSON can carry: numpy's integers and booleans as int, strange objects as their repr."""
    try:
        return operator.index(value)
    except TypeError:
        pass
    return value if isinstance(value, str | float | list | tuple | None) else repr(value)


def load(path: str) -> ModuleType:
    """Imports the agent's file, under its own name."""
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if not spec or not spec.loader:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def find(module: ModuleType, name: str, allowed: list[str]) -> Strategy:
    if name not in allowed:
        raise LookupError(f"{name} is none of this player's functions")
    function = getattr(module, name, None)
    if not callable(function):
        raise LookupError(f"{os.path.basename(module.__file__ or '')} has no function {name}")
    return function


def line_of(path: str, trace: TracebackType | None) -> int:
    """The line of the agent's file that was being run, 0 if it was not reached."""
    line = 0
    while trace:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def complain(path: str, error: BaseException, at: int | None) -> dict[str, Any]:
    """The answer after an exception; the whole traceback goes to standard error."""
    import traceback  # slow to import, and rarely needed

    traceback.print_exception(error)
    line = line_of(path, error.__traceback__)
    if isinstance(error, SyntaxError) and error.filename == path:
        line = error.lineno or 0
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    answer: dict[str, Any] = {"raised": text[:TEXT_CHARS]}
    if line:
        answer["line"] = line
    if at is not None:
        answer["at"] = at
    return answer


def encode(value: Any) -> bytes:
    line = json.dumps(value, separators=(",", ":"), default=repr).encode() + b"\n"
    if len(line) > LINE_BYTES:
        raise ValueError(f"moves of {len(line)} bytes")
    return line


def answer(path: str, allowed: list[str], state: dict[str, Any], question: dict[str, Any]) -> bytes:
    """Plays one round. `state` keeps the module and the table between rounds."""
    table: Table | None = None
    try:
        if "games" in question:
            # The agent's own random numbers follow the seed, so that a score can be had again.
            random.seed(question["seed"])
            if "module" not in state:
                state["module"] = load(path)
            strategy = find(state["module"], question["function"], allowed)
            state["table"] = Table(strategy, question["games"])
        else:
            state["table"].reply(question["replies"])
        table = state["table"]
        return encode(table.move())
    except BaseException as error:  # exit() in the agent's code is an answer too
        return encode(complain(path, error, len(table.moves) if table else None))


def main(path: str, allowed: list[str]) -> None:
    # Programs that the agent's code starts must not hold the judge's pipes open.
    os.set_inheritable(QUESTIONS_FD, False)
    os.set_inheritable(ANSWERS_FD, False)
    state: dict[str, Any] = {}
    with open(QUESTIONS_FD, "rb") as questions, open(ANSWERS_FD, "wb") as answers:
        while question := questions.readline(LINE_BYTES):
            answers.write(answer(path, allowed, state, json.loads(question)))
            answers.flush()
    sys.stdout.flush()
    # Not sys.exit(): threads that the agent's code left running would keep the process.
    os._exit(0)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: player.py FILE FUNCTION...")
    main(os.path.abspath(sys.argv[1]), sys.argv[2:])
