# SPDX-License-Identifier: Apache-2.0
"""Duels: whatever a player answers, the judge has legal moves or a fault to tell, and nothing else."""

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
    """The moves that a judge gets from a player that gives this answer to its question."""
    question, ask = os.pipe()
    receive, reply = os.pipe()
    monkeypatch.setattr(duel, "TO_PLAYER_FD", ask)
    monkeypatch.setattr(duel, "FROM_PLAYER_FD", receive)

    def play() -> None:
        os.read(question, 4096)
        os.write(reply, answer)
        os.close(reply)

    player = threading.Thread(target=play)
    player.start()
    try:
        table = duel.Player("seed", 10).table("move", 3, lambda m: duel.is_int(m, 2), "0 or 1")
        return table.moves()
    finally:
        player.join()
        for fd in (question, ask, receive):
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
