"""A known good answer for small formulas, where a decision costs more to think about than to try."""


def heuristic_fn(clauses, assignments, conflict_count, assignment_history, level):
    """Takes the first free literal of the last clause: after a conflict, one that was opened again."""
    for literal in clauses[-1]:
        if abs(literal) not in assignments:
            return abs(literal), literal > 0
