"""The row player of a repeated prisoner's dilemma. This one is the baseline: improve it."""

import random


def row_strategy(history):
    """Returns the row player's next choice: 0 cooperates, 1 defects.

    history: the rounds of this game so far, oldest first, as (row's choice, partner's choice).
    """
    if not history:
        return random.randrange(2)
    own, partner = history[-1]
    # Probability of repeating the partner's last choice, and of repeating this player's own.
    # Otherwise play the opposite of the partner's choice.
    follow, stay = (0.75, 0.15) if partner == 1 else (0.6, 0.3)
    dice = random.random()
    if dice < follow:
        return partner
    return own if dice < follow + stay else 1 - partner
