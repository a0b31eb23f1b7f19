# SPDX-License-Identifier: Apache-2.0
"""Asks the agent's code for its moves, for judges of duels. No answer is trusted.

A judge is a program of a task, run in a sandbox that never had any file of the agent:

    import duel

    def play(player, numbers):
        table = player.table("strategy", games=100, legal=lambda m: m in (0, 1), expected="0 or 1")
        moves = table.moves()
        ...
        return {"Score": score}

    if __name__ == "__main__":
        duel.judge(play)

The agent's code runs in the player's sandbox (player.py) and is asked over two pipes. A late, long,
untimely or illegal answer ends the duel: the agent gets a sentence and no score. With two players,
which run one after the other, play() gets both. Large answers come in memory that a judge shares
with each player.
docs/graders.md has the protocol.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
import os
import select
import sys
import time
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

RESULTS_FD, TO_PLAYER_FD, FROM_PLAYER_FD = 3, 4, 5
ANSWER_SECONDS = 30.0
MICRO_SECONDS = 10.0  # for variants whose rounds are short
MOVE_BYTES = 64  # limit of an answer, per game
CHUNK_BYTES = 1 << 16
SHOWN_CHARS = 60  # limit for a value that is shown to the agent
TEXT_CHARS = 300  # limit for a text of the player


class Fault(Exception):
    """A fault of the agent's code. The message is a sentence for the agent."""


class Tampering(Fault):
    """An answer that player.py never sends: the agent's code attacked the judge."""


class Numbers:
    """Random numbers from the judge's key, which no agent can foresee.

    The same key gives the same numbers, on every machine and with every version of Python.
    """

    def __init__(self, key: bytes) -> None:
        if len(key) != 32:
            raise ValueError("the judge's key must have 32 bytes")
        self._key = key

    def bytes(self, label: str, n: int) -> bytes:
        """Returns n bytes, different ones for each label."""
        return hashlib.shake_256(self._key + label.encode()).digest(n)

    def words(self, label: str, n: int) -> array[int]:
        """n independent numbers of 32 bits."""
        words = array("I", self.bytes(label, 4 * n))
        if sys.byteorder == "big":
            words.byteswap()
        return words

    def chances(self, label: str, n: int, probability: float) -> list[bool]:
        """Draws n times, each true with the given probability (to 32 bits)."""
        below = round(probability * 2**32)
        return [word < below for word in self.words(label, n)]

    def below(self, label: str, n: int, limit: int) -> list[int]:
        """n independent draws of 0 to limit - 1, equally probable but for limit / 2**32."""
        return [word * limit >> 32 for word in self.words(label, n)]


class Player:
    """The agent's code, at the other end of two pipes. `number` counts the `players` from 0."""

    def __init__(self, seed: str, seconds: float, number: int = 0, players: int = 1) -> None:
        self._seed = seed
        self._seconds = seconds
        self._ask_fd = TO_PLAYER_FD + 2 * number
        self._answer_fd = FROM_PLAYER_FD + 2 * number
        self._memory_fd = TO_PLAYER_FD + 2 * players + number
        self._unanswered = 0  # questions that were sent, and not answered yet
        self._received = b""  # the start of the next answer

        # Make the pipe non-blocking: a player that does not read must not block the judge in
        # write() past its deadline.
        os.set_blocking(self._ask_fd, False)

    def table(
        self,
        function: str,
        games: int,
        legal: Callable[[Any], bool],
        expected: str,
        start: list[Any] | None = None,
        noun: str = "game",
    ) -> Table:
        """Sets up games against a function. The first moves() starts them.

        start: what the player gets of each game at first; a task's own player reads it.
        noun: word for a game in sentences for the agent.
        """
        return Table(self, function, games, legal, expected, start, noun)

    def ask(self, question: dict[str, Any], answer_bytes: int) -> Any:
        """Sends a line and returns the parsed answer, which may be any JSON value."""
        self.send(question)
        return self.answer(answer_bytes)

    def send(self, question: dict[str, Any]) -> None:
        """Sends a line. The player reads it after those that are unanswered."""
        line = json.dumps(question, separators=(",", ":")).encode() + b"\n"
        try:
            self._send(line, self._deadline())
        except OSError:
            self._ended()
        self._unanswered += 1

    def answer(self, line_bytes: int) -> Any:
        """Returns the parsed answer to the first unanswered question."""
        deadline = self._deadline()
        self._unanswered -= 1
        try:
            line = self._receive_line(line_bytes, deadline)
        except OSError:
            self._ended()
        if self._received and not self._unanswered:
            raise Tampering("more than one answer came to one question")
        try:
            return json.loads(line.decode())
        except (ValueError, RecursionError):
            raise Tampering("the answer can't be read") from None

    def share(self) -> mmap.mmap:
        """Maps the memory that the player has mapped too. Call it before the first question.

        The agent's code may write to it at any time, while the judge reads it, too. So copy what is
        there, check the copy, and use nothing but the copy.
        """
        return mmap.mmap(self._memory_fd, 0)

    def end(self) -> None:
        """Ends the questions, and so the player. A second one starts when it has gone."""
        os.close(self._ask_fd)

    def opening(self, function: str, games: int) -> dict[str, Any]:
        """Returns the question that tells player.py to start games."""
        return {"function": function, "games": games, "seed": self._seed}

    def _deadline(self) -> float:
        return time.monotonic() + self._seconds

    def _send(self, line: bytes, deadline: float) -> None:
        left = memoryview(line)
        if not self._unanswered and select.select([self._answer_fd], [], [], 0)[0]:
            if not os.read(self._answer_fd, 1):
                self._ended()
            raise Tampering("an answer came before its question")
        while left:
            self._wait([], [self._ask_fd], deadline)
            left = left[os.write(self._ask_fd, left) :]

    def _receive_line(self, most: int, deadline: float) -> bytes:
        """Returns a line, and keeps the bytes that came after it."""
        data = bytearray(self._received)
        end = data.find(b"\n")
        while end < 0:
            self._wait([self._answer_fd], [], deadline)
            chunk = os.read(self._answer_fd, CHUNK_BYTES)
            if not chunk:
                self._ended()
            data += chunk
            end = data.find(b"\n", len(data) - len(chunk))
            if (end if end >= 0 else len(data)) >= most:
                raise Tampering(f"the answer is longer than {most} bytes")  # player.py sends less
        self._received = bytes(data[end + 1 :])
        return bytes(data[: end + 1])

    def _wait(self, reads: list[int], writes: list[int], deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0 or not any(select.select(reads, writes, [], left)):
            raise Fault(f"no answer within {self._seconds:g} s: it is too slow, or loops")

    @staticmethod
    def _ended() -> NoReturn:
        raise Fault("the process ended instead of answering")


class Table:
    """Games against a function, side by side: call moves(), then reply(), once for each round.

    The player keeps a history for its own use. The judge never reads it.

    After the first moves(), a judge whose task has its own player may instead ask() about some
    games. It can ask about others before it reads the answer(). So both sides are at work.
    """

    def __init__(
        self,
        player: Player,
        function: str,
        games: int,
        legal: Callable[[Any], bool],
        expected: str,
        start: list[Any] | None,
        noun: str,
    ) -> None:
        self._player = player
        self._function = function
        self._games = games
        self._legal = legal
        self._expected = expected
        self._noun = noun
        self._question = player.opening(function, games)
        if start is not None:
            self._question["start"] = start
        self._rounds: Counter[int] = Counter()  # calls of ask(), by game
        self._asked: deque[Sequence[int]] = deque()  # games of each unanswered question
        self._round = 0  # calls of moves()

    def moves(self) -> list[Any]:
        """Returns the next move of each game, all of them legal. Raises Fault."""
        self._round += 1
        self._ask(range(self._games), self._question)
        return self._answer()[1]

    def ask(self, replies: dict[int, Any]) -> None:
        """Asks for the next moves of some games, with the other player's moves. Raises Fault."""
        self._rounds.update(replies.keys())
        self._ask(list(replies), {"replies": list(replies.items())})

    def is_asked(self) -> bool:
        """Whether an answer is to come."""
        return bool(self._asked)

    def answer(self) -> list[tuple[int, Any]]:
        """Returns games and legal moves of the first unanswered question. Raises Fault."""
        return list(zip(*self._answer(), strict=True))

    def refusal(self, game: int, move: Any, why: str = "") -> Fault:
        """Returns the fault of an illegal move. Raise it if only the game tells what is legal."""
        return Fault(
            f"{self._place(game)}: {self._function} returned {shown(move)}, "
            f"expected {self._expected}{why and ': '}{why}"
        )

    def reply(self, replies: list[Any]) -> None:
        """Adds the other player's move of each game to the next question."""
        if len(replies) != self._games:
            raise ValueError("one reply for each game")
        self._question = {"replies": replies}

    def _ask(self, games: Sequence[int], question: dict[str, Any]) -> None:
        self._asked.append(games)
        with self._named(games):
            self._player.send(question)

    def _answer(self) -> tuple[Sequence[int], list[Any]]:
        games = self._asked.popleft()
        with self._named(games):
            answer = self._player.answer(CHUNK_BYTES + MOVE_BYTES * self._games)
            raised = isinstance(answer, dict) and isinstance(answer.get("raised"), str)
            if not raised and (not isinstance(answer, list) or len(answer) != len(games)):
                raise Tampering("not one move for each game")
        if raised:
            self._raised(answer, games)
        legal = self._legal
        for game, move in zip(games, answer, strict=True):
            if not legal(move):
                raise self.refusal(game, move)
        return games, answer

    @contextlib.contextmanager
    def _named(self, games: Sequence[int]) -> Iterator[None]:
        """Adds round and function to a fault of the player."""
        try:
            yield
        except Fault as fault:
            place = f"round {self._round_of(games[0])}"
            raise type(fault)(f"{place}: {self._function}: {fault}") from None

    def _round_of(self, game: int) -> int:
        return self._round + self._rounds[game]

    def _raised(self, answer: dict[str, Any], games: Sequence[int]) -> NoReturn:
        text, at, line = answer["raised"], answer.get("at"), answer.get("line")
        where = f"round {self._round_of(games[0])}"
        if is_int(at, len(games)):
            where = self._place(games[at])
        if is_int(line, 1 << 31):
            where += f", line {line}"
        raised = "" if answer.get("unfit") is True else f"{self._function} raised "
        raise Fault(f"{where}: {raised}{printable(text)}")

    def _place(self, game: int) -> str:
        return f"{self._noun} {game + 1}, round {self._round_of(game)}"


def is_int(value: Any, below: int) -> bool:
    """Whether value is an int from 0 to below - 1; booleans and 1.0 are not."""
    return type(value) is int and 0 <= value < below


def shown(value: Any) -> str:
    """Shows a value of the player as Python source, cut."""
    text = repr(value)
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "..."


def printable(text: str) -> str:
    """Shows a text of the player on one line, cut, and printable."""
    return "".join(c if c.isprintable() else " " for c in text[:TEXT_CHARS])


def judge(
    play: Callable[..., dict[str, float]], seconds: float = ANSWER_SECONDS, players: int = 1
) -> None:
    """Runs a duel and reports the metrics that play(player, numbers) returns, or the agent's fault.

    seconds: a player's timeout for a round of all games.
    players: as the task has; play() gets one argument for each, before the numbers.
    """
    numbers = Numbers(bytes.fromhex(os.environ["FUMEHOOD_JUDGE_KEY"]))
    labels = ["player", "player 2"][:players]
    seeds = [numbers.bytes(label, 16).hex() for label in labels]
    asked = [Player(seed, seconds, number, players) for number, seed in enumerate(seeds)]
    try:
        report: dict[str, Any] = play(*asked, numbers)
    except Fault as fault:
        report = {"error": str(fault)}
        if isinstance(fault, Tampering):
            report["integrity"] = True
    with open(RESULTS_FD, "w") as results:
        results.write(json.dumps(report) + "\n")
