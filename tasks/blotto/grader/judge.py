# SPDX-License-Identifier: Apache-2.0
"""Judges blotto: the mean outcome. The argument is the number of games, by default 10,000."""

from __future__ import annotations

import sys
from typing import Any

import duel

GAMES = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
ROUNDS = 10
SOLDIERS, FIELDS = 120, 6


def is_legal(move: Any) -> bool:
    if not isinstance(move, list) or len(move) != FIELDS:
        return False
    return all(duel.is_int(n, SOLDIERS + 1) for n in move) and sum(move) <= SOLDIERS


def opponents(numbers: duel.Numbers, battle: int) -> list[list[int]]:
    """The other colonel's soldiers in this battle of all games."""
    drawn = numbers.below(f"soldiers {battle}", GAMES * FIELDS, SOLDIERS + 1)
    fields = numbers.below(f"field {battle}", GAMES, FIELDS)
    sent = []
    for game, field in enumerate(fields):
        raw = drawn[game * FIELDS : (game + 1) * FIELDS]
        total = sum(raw)
        soldiers = [n * SOLDIERS // total for n in raw] if total else [0] * FIELDS
        soldiers[field] += SOLDIERS - sum(soldiers)
        sent.append(soldiers)
    return sent


def outcome(row: list[int], column: list[int]) -> int:
    """1 if the row player wins the battle, -1 if the other does, 0 if nobody does."""
    won = sum((r > c) - (r < c) for r, c in zip(row, column, strict=True))
    return (won > 0) - (won < 0)


def play(player: duel.Player, numbers: duel.Numbers) -> dict[str, float]:
    expected = f"{FIELDS} whole numbers from 0 on, {SOLDIERS} together at most"
    table = player.table("row_strategy", GAMES, is_legal, expected)
    total = 0
    for battle in range(1, ROUNDS + 1):
        columns = opponents(numbers, battle)
        total += sum(map(outcome, table.moves(), columns))
        table.reply(columns)
    return {"Score": total / (GAMES * ROUNDS)}


if __name__ == "__main__":
    duel.judge(play, duel.MICRO_SECONDS if len(sys.argv) > 1 else duel.ANSWER_SECONDS)
