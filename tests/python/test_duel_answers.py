# SPDX-License-Identifier: Apache-2.0
"""Duels: any answer of a player gives the judge legal moves or a fault."""

from __future__ import annotations

import os
import random
import sys
import threading
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


def ask_once(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Asks a player that answers so, and returns the moves that the judge gets."""
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
        player_end = duel.Player("seed", 10)
        return player_end.table("move", 3, lambda m: duel.is_int(m, 2), "0 or 1").moves()
    finally:
        player.join()
        for fd in (question, ask_fd, receive):
            os.close(fd)


def test_any_answer_is_legal_moves_or_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = random.Random(1)
    legal = 0
    for _ in range(3000):
        answer = changed(numbers)
        try:
            moves = ask_once(answer, monkeypatch)
        except duel.Fault as fault:
            assert str(fault).isprintable() and len(str(fault)) < 500, answer
        else:
            assert len(moves) == 3 and all(move in (0, 1) for move in moves), answer
            legal += 1
    assert 0 < legal < 3000
