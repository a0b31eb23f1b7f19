# SPDX-License-Identifier: Apache-2.0
"""Judges battleOfSexes: the mean payoff per round. The argument is the number of games, by default 10,000."""

from __future__ import annotations

import sys

import duel

GAMES = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
ROUNDS = 10
LOYALTY = 0.8  # probability that the partner plays what the row player chose in the first round
PAYOFFS = ((2, 0), (0, 1))  # payoffs of the row player, by both players' choices


def play(player: duel.Player, numbers: duel.Numbers) -> dict[str, float]:
    table = player.table("row_strategy", GAMES, lambda move: duel.is_int(move, 2), "0 or 1")
    partner = [1] * GAMES
    first = table.moves()
    total = payoff(first, partner)
    for number in range(2, ROUNDS + 1):
        table.reply(partner)
        loyal = numbers.chances(f"round {number}", GAMES, LOYALTY)
        partner = [
            choice if copies else 1 - choice for choice, copies in zip(first, loyal, strict=True)
        ]
        total += payoff(table.moves(), partner)
    return {"Score": total / (GAMES * ROUNDS)}


def payoff(moves: list[int], partner: list[int]) -> int:
    """Adds up the row player's payoffs in one round of all games."""
    return sum(PAYOFFS[row][column] for row, column in zip(moves, partner, strict=True))


if __name__ == "__main__":
    duel.judge(play, duel.MICRO_SECONDS if len(sys.argv) > 1 else duel.ANSWER_SECONDS)
