"""A known good answer: give two fields up, and hold four in strength."""


def row_strategy(history):
    """The other colonel's soldiers are spread over six fields, so 30 are more than it often has."""
    return [30, 30, 30, 30, 0, 0]
