# SPDX-License-Identifier: Apache-2.0
"""Duels: any answer of a player gives the judge legal moves or a fault."""

from __future__ import annotations

import os
import random
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "src/grade/python"))
import duel  # noqa: E402

ANSWERS = [
    b"[0,1,1]",
    b"[0,true,1.0]",
    b'{"raised":"ValueError: no","at":1,"line":7}',
    b'[0,1,"\\ud800\\u0000"]',
    b"[[[]],1e999,-0.0]",
    b'{"raised":"\xc3\xa9\x1b[2J","at":1e3,"line":"x"}',
]
PIECES = [b"[" * 2000, b"9" * 5000, b"\n", b"\xff", b"null", b"NaN", b'"', b"}", b",", b"]", b"\0"]


def changed(numbers: random.Random) -> bytes:
    """An answer with pieces of it left out, doubled, or replaced."""
    answer = numbers.choice(ANSWERS)
    for _ in range(numbers.randrange(4)):
        start = numbers.randrange(len(answer) + 1)
        end = min(len(answer), start + numbers.randrange(5))
        put = numbers.choice([b"", answer[start:end] * 2, numbers.choice(PIECES)])
        answer = answer[:start] + put + answer[end:]
    return answer + b"\n"


Ask = Callable[[duel.Player], Any]


def ask_once(answer: bytes, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Asks a player that answers so, and returns what the judge gets."""
    question, ask_fd = os.pipe()
    receive, reply = os.pipe()
    monkeypatch.setattr(duel, "TO_PLAYER_FD", ask_fd)
    monkeypatch.setattr(duel, "FROM_PLAYER_FD", receive)

    def play() -> None:
        os.read(question, 4096)
        os.write(reply, answer)
        os.close(reply)

    player = threading.Thread(target=play)
    player.start()
    try:
        return ask(duel.Player("seed", 10))
    finally:
        player.join()
        for fd in (question, ask_fd, receive):
            os.close(fd)


def moves_of(player: duel.Player) -> list[Any]:
    return player.table("move", 3, lambda m: duel.is_int(m, 2), "0 or 1").moves()


def bytes_of(player: duel.Player) -> Any:
    return player.ask_bytes({}, 5)


def test_any_answer_is_legal_moves_or_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = random.Random(1)
    legal = 0
    for _ in range(3000):
        answer = changed(numbers)
        try:
            moves = ask_once(answer, moves_of, monkeypatch)
        except duel.Fault as fault:
            assert str(fault).isprintable() and len(str(fault)) < 500, answer
        else:
            assert len(moves) == 3 and all(move in (0, 1) for move in moves), answer
            legal += 1
    assert 0 < legal < 3000


def test_bytes_follow_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask_once(b'{"bytes":5}\nab\nde', bytes_of, monkeypatch) == b"ab\nde"
    assert ask_once(b'{"raised":"no"}\n', bytes_of, monkeypatch) == {"raised": "no"}
    wrong = {
        b'{"bytes":5}\nabcdef': "more than one answer",
        b'{"bytes":5}\nabc': "ended instead of answering",
        b'{"bytes":6}\nabcdef': "more than one answer",
        b"[0]\n[1]\n": "more than one answer",
        b"x" * 65536: "longer than 65536 bytes",
    }
    for answer, text in wrong.items():
        with pytest.raises(duel.Fault, match=text):
            ask_once(answer, bytes_of, monkeypatch)


def test_any_answer_is_bytes_or_json_or_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = random.Random(2)
    kinds = set()
    for _ in range(1000):
        answer = numbers.choice([changed(numbers), b'{"bytes":5}\n' + changed(numbers)])
        try:
            got = ask_once(answer, bytes_of, monkeypatch)
        except duel.Fault as fault:
            assert str(fault).isprintable(), answer
            kinds.add("fault")
        else:
            assert not isinstance(got, bytearray) or len(got) == 5, answer
            kinds.add(type(got))
    assert {"fault", bytearray, dict, list} <= kinds
