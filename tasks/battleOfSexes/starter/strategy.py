"""The row player of a repeated Battle of the Sexes. This one is the baseline: improve it."""

import random


def row_strategy(history):
    """Returns the row player's next choice, 0 or 1.

    history: the rounds of this game so far, oldest first, as (row's choice, partner's choice).
    """
    if not history:
        return 0
    own, partner = history[-1]
    dice = random.random()
    if dice < 0.7:
        return partner  # follow what the partner did last
    if dice < 0.8:
        return own  # keep this player's own choice
    return 0 if dice < 0.9 else 1  # play 0 or 1 at random
