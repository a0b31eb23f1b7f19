# SPDX-License-Identifier: Apache-2.0
"""Plays for the agent in a duel: runs the agent's file and answers the judge's questions.

    python3 -s -B player.py FILE FUNCTION...

Each question is a line of JSON on descriptor 3, each answer a line of JSON on descriptor 4
(docs/graders.md). A question covers a round of all games, since to wake a process costs more than
a move.

The agent's code lives in this process, so nothing here is trusted or hidden. The score, the random
numbers and the other player are in the judge's sandbox. The checks here are for honest mistakes:
they say what went wrong and where, and never hang.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import mmap
import operator
import os
import random
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from types import ModuleType
from typing import Any

QUESTIONS_FD, ANSWERS_FD, MEMORY_FD = 3, 4, 5
LINE_BYTES = 16 << 20  # the longest question
ANSWER_BYTES, MOVE_BYTES = 64 << 10, 64  # limit of an answer: a base, and bytes per game
TEXT_CHARS = 300  # the longest text about an exception

Strategy = Callable[[list[tuple[Any, Any]]], Any]
Loader = Callable[[str], ModuleType]


class Unfit(Exception):
    """A fault of the submission. The text is a sentence for the agent."""


class Table:
    """Games played side by side, each with its history of (own move, the other's reply)."""

    def __init__(self, strategy: Strategy, question: dict[str, Any]) -> None:
        self.strategy = strategy
        self.games: int = question["games"]
        self.histories: list[list[tuple[Any, Any]]] = [[] for _ in range(self.games)]
        self.moves: list[Any] = []

    def reply(self, replies: list[Any]) -> None:
        """Ends a round with the other player's replies, one for each game."""
        for history, move, reply in zip(self.histories, self.moves, replies, strict=True):
            history.append((move, reply))

    def move(self) -> Any:
        """Begins a round of all games. An exception of the strategy leaves `moves` incomplete."""
        strategy = self.strategy
        self.moves = moves = []
        for history in self.histories:
            # Pass a copy: a strategy that changes its argument must not change the game.
            move = strategy(history.copy())
            moves.append(move if type(move) is int else plain(move))
        return moves


def plain(value: Any) -> Any:
    """Converts to JSON: numpy's integers and booleans to int, unknown objects to their repr."""
    try:
        return operator.index(value)
    except TypeError:
        pass
    return value if isinstance(value, str | float | list | tuple | None) else repr(value)


def load(path: str) -> ModuleType:
    """Imports the agent's file as a module that is named like the file."""
    name = os.path.splitext(os.path.basename(path))[0]
    with open(path, "rb") as file:
        if b"\0" in file.read():
            raise Unfit(f"{os.path.basename(path)} has a NUL byte: write Python source in UTF-8")
    spec = importlib.util.spec_from_file_location(name, path)
    if not spec or not spec.loader:
        raise Unfit(f"{os.path.basename(path)} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def line_of(path: str, error: BaseException) -> int:
    """Returns the line of the agent's file that failed; 0 if it was not reached."""
    line = 0
    if isinstance(error, SyntaxError) and error.filename == path:
        line = error.lineno or 0
    trace = error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def print_traceback(path: str, error: BaseException) -> None:
    """Prints the part of the traceback from the agent's file on, if the error came from there."""
    import traceback  # slow to import, and rarely needed

    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename != path:
        trace = trace.tb_next
    if not trace and not isinstance(error, SyntaxError):
        return  # the sentence that the agent gets says as much
    sys.stdout.flush()
    traceback.print_exception(error.with_traceback(trace))


def encode(value: Any, games: int = 0) -> bytes:
    try:
        line = json.dumps(value, separators=(",", ":"), default=repr).encode() + b"\n"
    except (ValueError, RecursionError):
        raise Unfit("a move is nested too deep, or a number of thousands of digits") from None
    most = ANSWER_BYTES + MOVE_BYTES * games
    if len(line) > most:
        raise Unfit(f"the moves of a round have {len(line)} bytes, more than {most}")
    return line


class Player:
    """The agent's file, and the games that are being played with one of its functions."""

    def __init__(self, path: str, allowed: list[str], kind: type[Table], load: Loader) -> None:
        self.path = path
        self.allowed = allowed
        self.kind = kind
        self.load = load
        self.module: ModuleType | None = None
        self.table: Table | None = None

    def answer(self, question: dict[str, Any]) -> bytes:
        """Plays one round of all games."""
        try:
            if "games" in question:
                self.table = None
                self.table = self.kind(self.strategy(question), question)
            elif self.table:
                self.table.reply(question["replies"])
            if not self.table:
                return encode(None)
            return encode(self.table.move(), self.table.games)
        except BaseException as error:  # exit() in the agent's code raises SystemExit
            return encode(self.complaint(error))

    def strategy(self, question: dict[str, Any]) -> Strategy:
        name = question["function"]
        if name not in self.allowed:
            raise Unfit(f"{name} is none of this player's functions")
        # Seed the agent's random numbers, so that a replay gets the same score.
        random.seed(question["seed"])
        if not self.module:
            self.module = self.load(self.path)
        function = getattr(self.module, name, None)
        if not callable(function):
            raise Unfit(f"{os.path.basename(self.path)} has no function {name}")
        return function

    def complaint(self, error: BaseException) -> dict[str, Any]:
        """Returns the answer about an exception, and prints the traceback to standard error."""
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        unfit = isinstance(error, Unfit)
        said: dict[str, Any] = {"raised": (str(error) if unfit else text)[:TEXT_CHARS]}
        if unfit:
            said["unfit"] = True  # the text is a sentence of ours, without a class's name
        if line := line_of(self.path, error):
            said["line"] = line
        if self.table:
            said["at"] = len(self.table.moves)
        with contextlib.suppress(OSError):  # the agent's code may have closed its outputs
            print_traceback(self.path, error)
        return said


def share() -> mmap.mmap:
    """Maps the memory that the judge has mapped too, if task.yaml has `shared_memory`."""
    os.set_inheritable(MEMORY_FD, False)
    return mmap.mmap(MEMORY_FD, 0)


def main(path: str, allowed: list[str], kind: type[Table] = Table, load: Loader = load) -> None:
    """Answers questions until they end. A task's own player gives its kind of table. It may also
    give a function that loads the agent's file."""
    # Close the judge's pipes for programs that the agent's code starts: these must not hold them
    # open.
    os.set_inheritable(QUESTIONS_FD, False)
    os.set_inheritable(ANSWERS_FD, False)
    player = Player(os.path.abspath(path), allowed, kind, load)
    with open(QUESTIONS_FD, "rb") as questions, open(ANSWERS_FD, "wb") as answers:
        while question := questions.readline(LINE_BYTES):
            answers.write(player.answer(json.loads(question)))
            answers.flush()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    # Exit at once, not by sys.exit(): threads that the agent's code left running would keep the
    # process.
    os._exit(0)


# --- for players of tasks -------------------------------------------------------------------------


def main_packed(program: str, kind: type[Table]) -> None:
    """Does as main(), for a submission that is a zip file with a program at its top."""
    folder = tempfile.mkdtemp()

    def unpack(path: str) -> ModuleType:
        if not zipfile.is_zipfile(sys.argv[1]):
            raise Unfit("it is not a zip file")
        with zipfile.ZipFile(sys.argv[1]) as archive:
            if program not in archive.namelist():
                raise Unfit(f"it has no file {program} at its top")
            size = sum(file.file_size for file in archive.infolist())
            room = shutil.disk_usage(folder).free
            if size > room:
                raise Unfit(f"it unpacks to {size} bytes, and there is room for {room}")
            try:
                archive.extractall(folder)
            except Exception as error:  # zipfile has no single class for damaged or encrypted files
                raise Unfit(f"it can't be unpacked: {error}") from None
        sys.path.insert(0, folder)
        return load(path)

    main(os.path.join(folder, program), sys.argv[2:], kind, unpack)


def check_shape(function: str, numbers: Any, shape: tuple[int, ...]) -> None:
    """Raises Unfit unless numbers are an array, or a tensor, of that shape."""
    found = getattr(numbers, "shape", None)
    if found is None:
        raise Unfit(f"{function}() returned {type(numbers).__name__}, expected an array")
    if tuple(found) != shape:
        raise Unfit(f"{function}() returned the shape {list(found)}, expected {list(shape)}")


def copy_numbers(numbers: Any, to: Any) -> None:
    """Copies an array, or a tensor of any type and device, to an array in shared memory."""
    if hasattr(numbers, "detach"):
        sys.modules["torch"].from_numpy(to).copy_(numbers.detach())
        return
    import numpy as np

    with np.errstate(over="ignore"):  # overflow gives infinity, which a judge refuses
        np.copyto(to, numbers, casting="unsafe")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: player.py FILE FUNCTION...")
    main(sys.argv[1], sys.argv[2:])
