"""Throws coins; the score is the share of calls that were right."""

import duel

GAMES, ROUNDS = 20, 3


def play(player, numbers):
    table = player.table("call", GAMES, lambda move: duel.is_int(move, 2), "0 or 1")
    right = 0
    for number in range(ROUNDS):
        moves = table.moves()
        coins = numbers.chances(f"coins {number}", GAMES, 0.5)
        right += sum(move == coin for move, coin in zip(moves, coins, strict=True))
        table.reply([int(coin) for coin in coins])
    return {"Score": right / (GAMES * ROUNDS)}


if __name__ == "__main__":
    duel.judge(play)
