"""A known good answer: defect throughout."""


def row_strategy(history):
    """At most 5 of the partner's 11 strategies punish a defection, which costs less than it brings."""
    return 1
