"""Decides what the solver assigns next. This one is the baseline: improve it."""

import random


def heuristic_fn(clauses, assignments, conflict_count, assignment_history, level):
    """Returns a variable that is not assigned, and the value to try first, True or False.

    clauses: the clauses that are not satisfied yet, lists of three literals. The literal 7 is
        variable 7, and -7 is its negation. Literals of assigned variables are false in them.
    assignments: the value of each assigned variable, by variable.
    conflict_count: how often unit propagation ended in a conflict, by the variable assigned last.
    assignment_history: variables in the order in which they were assigned, with those that were
        taken back since.
    level: for each decision, a list of its variable and of those that it forced.
    """
    literals = set().union(*clauses)
    free = sorted({abs(literal) for literal in literals} - assignments.keys())
    return free[random.randrange(len(free))], True
