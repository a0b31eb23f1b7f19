"""A known good answer: ask for the better meeting place from the start, and stay with it."""


def row_strategy(history):
    """The partner copies our first choice, and the rest of the past tells nothing more."""
    return 0
