"""A known good answer: the literal that the shortest clauses name most often, in both signs."""

WEIGHTS = (0, 0, 25, 1)  # weight of a clause, by its number of free literals
BALANCE = 64


def heuristic_fn(clauses, assignments, conflict_count, assignment_history, level):
    """Assigning a variable of many short clauses forces others soon, whichever value it gets."""
    weights = {}
    for clause in clauses:
        free = [literal for literal in clause if abs(literal) not in assignments]
        for literal in free:
            weights[literal] = weights.get(literal, 0) + WEIGHTS[len(free)]

    def worth(variable):
        true, false = weights.get(variable, 0), weights.get(-variable, 0)
        return true * false * BALANCE + true + false

    best = max({abs(literal) for literal in weights}, key=worth)
    return best, weights.get(best, 0) >= weights.get(-best, 0)
