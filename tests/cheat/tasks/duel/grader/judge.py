# SPDX-License-Identifier: Apache-2.0
"""Gives a point for each move 0. The player has 8 seconds for an answer."""

import duel

GAMES, ROUNDS = 50, 3


def play(player, numbers):
    table = player.table("guess", GAMES, lambda move: duel.is_int(move, 2), "0 or 1")
    right = 0
    for number in range(ROUNDS):
        right += sum(move == 0 for move in table.moves())
        table.reply([int(coin) for coin in numbers.chances(f"coins {number}", GAMES, 0.5)])
    return {"Score": right / (GAMES * ROUNDS)}


if __name__ == "__main__":
    duel.judge(play, seconds=8)
