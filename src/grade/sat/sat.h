/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_SAT_SAT_H
#define GRADE_SAT_SAT_H

#include <stdint.h>

/*
 * fh-sat.so: a DPLL solver for 3-SAT that asks its caller for each decision. Judges load it through
 * src/grade/python/sat.py. It prints nothing, and reads nothing but its arguments.
 *
 * The solver keeps its clauses in the same order as MLGym's, because heuristics see that order.
 * fh_sat_begin() and fh_sat_decide() run up to the next decision. They return what changed for the
 * heuristic since the decision before, as numbers:
 *
 *   levels that are left, from the first on
 *   count, literals of the new level (empty at the first decision)
 *   count, variables that were assigned, in order; also those that were taken back since
 *   count, variables whose conflict count grew by 1, in order
 *   count, clauses that left the list of unresolved clauses
 *   count, clauses that were appended to it, in order
 *
 * A variable is 1, 2, ...; a literal is a variable or its negative; a clause is 0, 1, ...
 */
struct sat;

/* Negative results of fh_sat_begin() and fh_sat_decide(). Other results are a count of numbers. */
enum {
	SAT_SATISFIABLE = -1,
	SAT_UNSATISFIABLE = -2,
	/* the variable that was decided on does not exist, or is assigned; nothing changed */
	SAT_ILLEGAL = -3,
};

#pragma GCC visibility push(default)

/* Draws random clauses of 3 different variables each, from 16 random bytes a clause. There must be
 * 3 variables or more. */
void fh_sat_draw(const unsigned char *bytes, int variables, int clauses, int32_t *out_literals);

/* Makes a SAT solver. Returns NULL if a clause does not have 3 literals of different variables.
 * Returns NULL, too, for fewer than 3 variables, and for more than 32767 variables or clauses. */
struct sat *fh_sat_new(int variables, int clauses, const int32_t *literals);
void fh_sat_free(struct sat *s);

/* Returns how many items `out` needs in fh_sat_begin() and fh_sat_decide(): the most that a call
 * writes. */
int fh_sat_room(const struct sat *s);

/* fh_sat_begin() and fh_sat_decide() return how many numbers they wrote to `out`, or a negative
 * SAT_ state. After a state other than SAT_ILLEGAL, only fh_sat_free() may be called. */
int fh_sat_begin(struct sat *s, int32_t *out);
int fh_sat_decide(struct sat *s, int variable, int value, int32_t *out);

#pragma GCC visibility pop

#endif
