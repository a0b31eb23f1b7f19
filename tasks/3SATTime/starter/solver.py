# SPDX-License-Identifier: Apache-2.0
"""A DPLL solver for practice. It makes the same decisions as the judge's, which is in C.

    DPLL(clauses, heuristic_fn).solve()    True if the clauses can be satisfied

A clause is a list of three literals of different variables. `num_decisions` counts the calls of the
heuristic.
"""


class DPLL:
    def __init__(self, clauses, heuristic_function):
        self.unresolved_clauses = list(clauses)  # clauses that have no true literal yet
        self.resolved_clauses = []
        self.assignments = {}
        self.conflict_count = {}
        self.assignment_history = []
        self.level = []
        self.num_decisions = 0
        self.heuristic_function = heuristic_function

    def solve(self):
        if not self.unresolved_clauses:
            return True
        ended = self.unit_propagate()
        if ended is not None:
            return ended
        variable, value = self.heuristic_function(
            self.unresolved_clauses,
            self.assignments,
            self.conflict_count,
            self.assignment_history,
            self.level,
        )
        self.num_decisions += 1
        for tried in (value, not value):
            self.assign(variable, tried)
            if self.solve():
                return True
            self.backtrack()
        return False

    def assign(self, variable, value):
        """Begins a level with a decision."""
        self.level.append([variable])
        self.assignments[variable] = value
        self.assignment_history.append(variable)
        literal = variable if value else -variable
        self._move(self.unresolved_clauses, self.resolved_clauses, lambda c: literal in c)

    def backtrack(self):
        """Takes back the last level, variable by variable."""
        for variable in self.level.pop():
            del self.assignments[variable]
            self._move(
                self.resolved_clauses,
                self.unresolved_clauses,
                lambda clause: not self.is_satisfied_clause(clause, self.assignments),
            )

    def unit_propagate(self):
        """Assigns what clauses with one free literal force, pass by pass.

        True: all clauses are satisfied. False: a conflict; only its count is kept. None: nothing is
        left to force.
        """
        assignments = dict(self.assignments)
        unresolved, resolved = list(self.unresolved_clauses), list(self.resolved_clauses)
        forced = []
        while units := [c for c in unresolved if self.is_unit_clause(c, assignments)]:
            for unit in units:
                free = [literal for literal in unit if abs(literal) not in assignments]
                if not free:
                    continue  # skip: another clause has just forced this variable
                literal = free[0]
                assignments[abs(literal)] = literal > 0
                forced.append(abs(literal))
                self._move(unresolved, resolved, lambda clause, x=literal: x in clause)
                if not unresolved:
                    return True
                if any(self.is_conflicted_clause(clause, assignments) for clause in unresolved):
                    last = abs(literal)
                    self.conflict_count[last] = self.conflict_count.get(last, 0) + 1
                    return False
        if forced:
            self.level[-1] += forced
        self.assignments = assignments
        self.assignment_history = self.assignment_history + forced
        self.unresolved_clauses, self.resolved_clauses = unresolved, resolved
        return None

    @staticmethod
    def is_satisfied_clause(clause, assignments):
        return any(assignments.get(abs(literal)) is (literal > 0) for literal in clause)

    @staticmethod
    def is_conflicted_clause(clause, assignments):
        return all(assignments.get(abs(literal)) is (literal < 0) for literal in clause)

    @staticmethod
    def is_unit_clause(clause, assignments):
        return sum(abs(literal) not in assignments for literal in clause) == 1

    @staticmethod
    def num_new_clauses(args):
        """Looks ahead: what would an assignment and its unit propagation leave?

        args: variable, value, unresolved clauses, assignments. The last two change: give copies.
        Returns the number of clauses that go from three free literals to two; 1e4 if all would be
        satisfied, -1e4 if there would be a conflict.
        """
        variable, value, clauses, assignments = args
        whole = [c for c in clauses if all(abs(literal) not in assignments for literal in c)]
        forced = [variable if value else -variable]
        while forced:
            for literal in forced:
                if abs(literal) in assignments:
                    continue  # skip: a conflict shows below, as a clause without a free literal
                assignments[abs(literal)] = literal > 0
                clauses[:] = [clause for clause in clauses if literal not in clause]
            if not clauses:
                return 1e4
            free = [[x for x in clause if abs(x) not in assignments] for clause in clauses]
            if not all(free):
                return -1e4
            forced = [literals[0] for literals in free if len(literals) == 1]
        return sum(
            clause in whole and sum(abs(literal) not in assignments for literal in clause) == 2
            for clause in clauses
        )

    @staticmethod
    def _move(source, target, moves):
        """Moves clauses to the end of another list, in order."""
        kept = []
        for clause in source:
            (target if moves(clause) else kept).append(clause)
        source[:] = kept
