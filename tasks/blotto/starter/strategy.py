"""A colonel who sends 120 soldiers to six fields. This one is the baseline: improve it."""

import random

SOLDIERS, FIELDS = 120, 6


def row_strategy(history):
    """Returns how many soldiers go to each of the six fields.

    history: the battles of this game so far, oldest first, as (own soldiers, the other's soldiers).
    """
    # Give random fields a share of 10 to 30 soldiers each. A field may get more than one share.
    sent = [0] * FIELDS
    for _ in range(random.randint(1, FIELDS)):
        sent[random.randrange(FIELDS)] += random.randint(10, 30)

    # Give each field that has no soldiers yet a random number of the soldiers that are left.
    left = SOLDIERS - sum(sent)
    if left > 0:
        for field in [f for f in range(FIELDS) if sent[f] == 0]:
            sent[field] = random.randint(0, left)
            left -= sent[field]

    # Scale the numbers of soldiers, so that they add up to exactly 120.
    total = sum(sent)
    sent = [soldiers * SOLDIERS // total for soldiers in sent]
    sent[random.randrange(FIELDS)] += SOLDIERS - sum(sent)
    return sent
