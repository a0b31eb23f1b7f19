"""Throws the coins and counts right guesses."""

import duel

GAMES, ROUNDS, CHANCE = 1000, 5, 0.7


def play(player, numbers):
    table = player.table("guess", GAMES, lambda move: duel.is_int(move, 2), "0 or 1")
    right = 0
    for number in range(ROUNDS):
        moves = table.moves()
        coins = numbers.chances(f"round {number}", GAMES, CHANCE)
        right += sum(move == coin for move, coin in zip(moves, coins, strict=True))
        table.reply([int(coin) for coin in coins])
    return {"Score": right / (GAMES * ROUNDS)}


if __name__ == "__main__":
    duel.judge(play)
