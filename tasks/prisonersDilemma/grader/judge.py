# SPDX-License-Identifier: Apache-2.0
"""Judges prisonersDilemma: the mean payoff per round. The argument is the number of games, by default 10,000."""

from __future__ import annotations

import sys

import duel

GAMES = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
ROUNDS = 10
PAYOFFS = ((3, 0), (5, 1))  # payoffs of the row player, by both players' choices
STAY = 12  # probability in 30ths that the mixed strategy repeats its own choice

# A game is the list of its rounds so far, each as (row player's choice, column player's choice).
Game = list[tuple[int, int]]


def tit_for_tat(game: Game) -> int:
    return game[-1][0] if game else 0


def suspicious(game: Game) -> int:
    return game[-1][0] if game else 1


def defected_twice(game: Game) -> bool:
    return len(game) >= 2 and game[-1][0] == game[-2][0] == 1


def forgiving(game: Game) -> int:
    return 0 if defected_twice(game) else tit_for_tat(game)


def two_tats(game: Game) -> int:
    return int(defected_twice(game))


def grim(game: Game) -> int:
    return int(any(row == 1 for row, _ in game))


def pavlov(game: Game) -> int:
    return int(bool(game) and game[-1][0] != game[-1][1])


# The partner's strategies that depend only on the game so far. COIN and MIXED are the numbers of
# strategies that also use random numbers.
STRATEGIES = (
    tit_for_tat,
    suspicious,
    forgiving,
    two_tats,
    grim,
    pavlov,
    lambda game: 0,
    lambda game: 1,
)
COIN, MIXED, KNOWN = 8, 10, 11


def mixed(game: Game, dice: int) -> int:
    """dice: one of 30 equally probable numbers."""
    if not game:
        return 1
    if dice < 10:
        return 0
    if dice < 15:
        return 1
    row, own = game[-1]
    return own if dice < 15 + STAY else 1 - row


def choice(game: Game, strategy: int, dice: int) -> int:
    """Returns the partner's choice by one of its strategies."""
    if strategy < COIN:
        return STRATEGIES[strategy](game)
    return dice % 2 if strategy < MIXED else mixed(game, dice)


def play(player: duel.Player, numbers: duel.Numbers) -> dict[str, float]:
    table = player.table("row_strategy", GAMES, lambda move: duel.is_int(move, 2), "0 or 1")
    games: list[Game] = [[] for _ in range(GAMES)]
    total = 0
    for number in range(1, ROUNDS + 1):
        drawn = numbers.below(f"strategy {number}", GAMES, KNOWN)
        dice = numbers.below(f"dice {number}", GAMES, 30)
        replies = [choice(*each) for each in zip(games, drawn, dice, strict=True)]
        for game, row, column in zip(games, table.moves(), replies, strict=True):
            game.append((row, column))
            total += PAYOFFS[row][column]
        table.reply(replies)
    return {"Score": total / (GAMES * ROUNDS)}


if __name__ == "__main__":
    duel.judge(play, duel.MICRO_SECONDS if len(sys.argv) > 1 else duel.ANSWER_SECONDS)
