"""Two players guess the coins of one game and of two.

`twice.py early` asks the second too early.
"""

import sys

import duel


def guessed(player, numbers, games):
    table = player.table("guess", games, lambda move: duel.is_int(move, 2), "0 or 1")
    coins = numbers.chances("coins", games, 0.5)
    return sum(move == coin for move, coin in zip(table.moves(), coins, strict=True))


def play(first, second, numbers):
    if sys.argv[1:] == ["early"]:
        return {"Score": guessed(second, numbers, 2)}
    right = guessed(first, numbers, 1)
    first.end()
    return {"Score": (right + guessed(second, numbers, 2)) / 3}


if __name__ == "__main__":
    duel.judge(play, seconds=5, players=2)
