/* SPDX-License-Identifier: Apache-2.0 */
#include "grade/sat/sat.h"

#include "base/mem.h"

#include <endian.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Invariants when a heuristic is asked:
 *
 *   - every clause is in one of the lists `open` (not satisfied yet) and `closed`
 *   - every open clause has two or three unassigned literals, so only unit propagation can bring
 *     a conflict
 *   - `n_true` and `n_free` have the number of true and unassigned literals of each clause
 *   - `trail` has the assigned variables in order, cut into levels by `levels`
 */

#define LITERALS 3

/* A list of clauses. `open` and `told` have the order that a heuristic sees, `closed` the order in
 * which they were satisfied. */
struct clauses {
	int *items;
	int n;
};

struct numbers {
	int32_t *items;
	int n;
};

/* A decision, and the assignments that unit propagation derived from it. */
struct level {
	int start;   /* index in `trail` of the variable that the search decided on */
	bool second; /* true: the variable's other value has failed before */
};

struct sat {
	int n_variables, n_clauses;
	int32_t (*literals)[LITERALS]; /* literals of each clause: variables, negative if negated */
	struct clauses *users;         /* clauses that have a literal, by sat_side() of it */
	int *user_items;               /* items of all `users` */
	int8_t *values;                /* value of each variable: 1 true, -1 false, 0 unassigned */
	int8_t *n_true, *n_free;       /* by clause */
	int *trail, n_trail;
	struct level *levels;
	int n_levels;
	struct clauses open, closed;
	/* copies of `open` and `closed`, the lists of clauses, to restore after a conflict */
	struct clauses saved_open, saved_closed;
	/* unit clauses (with one literal left) that this pass of the unit propagation found */
	struct clauses units;

	/* Changes since the last decision, to report to the heuristic that decides: */
	struct clauses told; /* the list of open clauses at the last decision */
	/* number of decision levels that are the same as at the last decision */
	int kept;
	struct numbers assigned, conflicts;
};

/* --- life ------------------------------------------------------------------------------------- */

void fh_sat_draw(const unsigned char *bytes, int variables, int clauses, int32_t *out_literals)
{
	for (int i = 0; i < clauses; i++, bytes += 16, out_literals += LITERALS) {
		uint32_t words[LITERALS + 1];
		int drawn[LITERALS] = { 0 };

		memcpy(words, bytes, sizeof(words));
		for (int k = 0; k <= LITERALS; k++)
			words[k] = le32toh(words[k]);
		for (int k = 0; k < LITERALS; k++) {
			int v = (int)((uint64_t)words[k] * (uint32_t)(variables - k) >> 32);

			/* `v` is an index among the variables that the clause lacks. Make it an
			 * index among all: add 1 for each smaller variable that the clause has. */
			int at = 0;

			while (at < k && v >= drawn[at]) {
				v++;
				at++;
			}
			memmove(drawn + at + 1, drawn + at, (size_t)(k - at) * sizeof(*drawn));
			drawn[at] = v;
			/* Keep the literals of a clause in the order of drawing, unsorted. */
			out_literals[k] = words[3] >> k & 1 ? v + 1 : -(v + 1);
		}
	}
}

static struct clauses clauses_new(int n)
{
	return (struct clauses){ .items = xcalloc((size_t)n + 1, sizeof(int)) };
}

static void clauses_copy(struct clauses *to, const struct clauses *from)
{
	memcpy(to->items, from->items, (size_t)from->n * sizeof(*from->items));
	to->n = from->n;
}

static bool sat_is_clause(const struct sat *s, const int32_t *c)
{
	for (int k = 0; k < LITERALS; k++)
		if (c[k] == 0 || c[k] == INT32_MIN || abs(c[k]) > s->n_variables)
			return false;
	return abs(c[0]) != abs(c[1]) && abs(c[0]) != abs(c[2]) && abs(c[1]) != abs(c[2]);
}

static int sat_side(int32_t literal)
{
	return literal > 0 ? 2 * literal : -2 * literal + 1;
}

static void sat_find_users(struct sat *s)
{
	const int32_t *literals = s->literals[0];
	int *next = s->user_items;

	for (int i = 0; i < s->n_clauses * LITERALS; i++)
		s->users[sat_side(literals[i])].n++;
	for (int side = 0; side < 2 * (s->n_variables + 1); side++) {
		s->users[side].items = next;
		next += s->users[side].n;
		s->users[side].n = 0;
	}
	for (int i = 0; i < s->n_clauses * LITERALS; i++) {
		struct clauses *users = &s->users[sat_side(literals[i])];

		users->items[users->n++] = i / LITERALS;
	}
}

struct sat *fh_sat_new(int variables, int clauses, const int32_t *literals)
{
	struct sat *s;

	if (variables < LITERALS || clauses < 0 || variables > INT16_MAX || clauses > INT16_MAX)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	s->n_variables = variables;
	s->n_clauses = clauses;
	s->literals = xcalloc((size_t)clauses + 1, sizeof(*s->literals));
	memcpy(s->literals, literals, (size_t)clauses * sizeof(*s->literals));
	s->users = xcalloc(2 * ((size_t)variables + 1), sizeof(*s->users));
	s->user_items = xcalloc((size_t)clauses * LITERALS + 1, sizeof(*s->user_items));
	s->values = xcalloc((size_t)variables + 1, sizeof(*s->values));
	s->n_true = xcalloc((size_t)clauses + 1, sizeof(*s->n_true));
	s->n_free = xcalloc((size_t)clauses + 1, sizeof(*s->n_free));
	s->trail = xcalloc((size_t)variables, sizeof(*s->trail));
	s->levels = xcalloc((size_t)variables, sizeof(*s->levels));
	s->open = clauses_new(clauses);
	s->closed = clauses_new(clauses);
	s->saved_open = clauses_new(clauses);
	s->saved_closed = clauses_new(clauses);
	s->units = clauses_new(clauses);
	s->told = clauses_new(clauses);
	s->assigned.items = xcalloc((size_t)fh_sat_room(s), sizeof(int32_t));
	s->conflicts.items = xcalloc((size_t)fh_sat_room(s), sizeof(int32_t));
	for (int i = 0; i < clauses; i++) {
		s->open.items[s->open.n++] = i;
		s->n_free[i] = LITERALS;
		if (!sat_is_clause(s, s->literals[i])) {
			fh_sat_free(s);
			return NULL;
		}
	}
	clauses_copy(&s->told, &s->open);
	sat_find_users(s);
	return s;
}

void fh_sat_free(struct sat *s)
{
	if (!s)
		return;
	free(s->literals);
	free(s->users);
	free(s->user_items);
	free(s->values);
	free(s->n_true);
	free(s->n_free);
	free(s->trail);
	free(s->levels);
	free(s->open.items);
	free(s->closed.items);
	free(s->saved_open.items);
	free(s->saved_closed.items);
	free(s->units.items);
	free(s->told.items);
	free(s->assigned.items);
	free(s->conflicts.items);
	free(s);
}

/* --- setting clauses and variables ------------------------------------------------------------ */

/* Returns a literal's value. 1: true, -1: false, 0: its variable is unassigned. */
static int sat_value(const struct sat *s, int32_t literal)
{
	return literal > 0 ? s->values[literal] : -s->values[-literal];
}

/* Moves n_moves clauses between the lists of open and closed ones. A literal made them true, or
 * open again. */
static void sat_move(struct sat *s, struct clauses *from, struct clauses *to, int n_moves)
{
	bool closes = to == &s->closed;
	int n = 0, i = 0;

	for (; n_moves; i++) {
		int clause = from->items[i];

		if ((s->n_true[clause] > 0) == closes) {
			to->items[to->n++] = clause;
			n_moves--;
		} else {
			from->items[n++] = clause;
		}
	}
	memmove(from->items + n, from->items + i, (size_t)(from->n - i) * sizeof(*from->items));
	from->n -= i - n;
}

static void sat_assign(struct sat *s, int32_t literal)
{
	const struct clauses *made_true = &s->users[sat_side(literal)];
	const struct clauses *shortened = &s->users[sat_side(-literal)];
	int n_closed = 0;

	s->values[abs(literal)] = literal > 0 ? 1 : -1;
	s->trail[s->n_trail++] = abs(literal);
	for (int i = 0; i < made_true->n; i++) {
		s->n_free[made_true->items[i]]--;
		n_closed += !s->n_true[made_true->items[i]]++;
	}
	for (int i = 0; i < shortened->n; i++)
		s->n_free[shortened->items[i]]--;
	sat_move(s, &s->open, &s->closed, n_closed);
}

/* Makes a variable free. Returns how many clauses are no longer true, which the caller moves. */
static int sat_take_back(struct sat *s, int variable)
{
	int32_t literal = s->values[variable] > 0 ? variable : -variable;
	const struct clauses *made_true = &s->users[sat_side(literal)];
	const struct clauses *shortened = &s->users[sat_side(-literal)];
	int n_opened = 0;

	s->values[variable] = 0;
	for (int i = 0; i < made_true->n; i++) {
		s->n_free[made_true->items[i]]++;
		n_opened += !--s->n_true[made_true->items[i]];
	}
	for (int i = 0; i < shortened->n; i++)
		s->n_free[shortened->items[i]]++;
	return n_opened;
}

static bool sat_is_false(const struct sat *s, int clause)
{
	return !s->n_true[clause] && !s->n_free[clause];
}

/* --- search ----------------------------------------------------------------------------------- */

enum propagation { SOLVED, CONFLICT, UNDECIDED };

/* Assigns the last free variable of a unit clause, so that the clause is true. */
static enum propagation sat_propagate_unit(struct sat *s, int clause)
{
	const int32_t *c = s->literals[clause];
	const struct clauses *shortened;
	int32_t unit = 0;

	for (int k = 0; k < LITERALS && !unit; k++)
		if (!sat_value(s, c[k]))
			unit = c[k];
	/* No literal is unassigned: another unit clause of this pass assigned the same variable. */
	if (!unit)
		return UNDECIDED;
	sat_assign(s, unit);
	if (!s->open.n)
		return SOLVED;
	shortened = &s->users[sat_side(-unit)];
	for (int i = 0; i < shortened->n; i++)
		if (sat_is_false(s, shortened->items[i])) {
			s->conflicts.items[s->conflicts.n++] = abs(unit);
			return CONFLICT;
		}
	return UNDECIDED;
}

/* Unit propagation: assigns the variables of unit clauses, pass by pass. Each pass first collects
 * all unit clauses, because the order of assignments depends on that. */
static enum propagation sat_propagate_all(struct sat *s)
{
	enum propagation result = UNDECIDED;

	do {
		s->units.n = 0;
		for (int i = 0; i < s->open.n; i++)
			if (s->n_free[s->open.items[i]] == 1)
				s->units.items[s->units.n++] = s->open.items[i];
		for (int i = 0; i < s->units.n && result == UNDECIDED; i++)
			result = sat_propagate_unit(s, s->units.items[i]);
	} while (s->units.n && result == UNDECIDED);
	return result;
}

/* Does unit propagation. After a conflict, undoes the assignments of this propagation, and counts
 * the conflict. */
static enum propagation sat_propagate(struct sat *s)
{
	int before = s->n_trail;
	enum propagation result;

	clauses_copy(&s->saved_open, &s->open);
	clauses_copy(&s->saved_closed, &s->closed);
	result = sat_propagate_all(s);
	if (result == CONFLICT) {
		while (s->n_trail > before)
			sat_take_back(s, s->trail[--s->n_trail]);
		clauses_copy(&s->open, &s->saved_open);
		clauses_copy(&s->closed, &s->saved_closed);
	}
	for (int i = before; i < s->n_trail; i++)
		s->assigned.items[s->assigned.n++] = s->trail[i];
	return result;
}

static void sat_push(struct sat *s, int32_t literal, bool second)
{
	s->levels[s->n_levels++] = (struct level){ .start = s->n_trail, .second = second };
	s->assigned.items[s->assigned.n++] = abs(literal);
	sat_assign(s, literal);
}

/* Undoes the assignments of the last decision level. Clauses return to the list `open` in the order
 * in which their variables were assigned. */
static void sat_pop(struct sat *s)
{
	int start = s->levels[--s->n_levels].start;

	for (int i = start; i < s->n_trail; i++) {
		sat_move(s, &s->closed, &s->open, sat_take_back(s, s->trail[i]));
	}
	s->n_trail = start;
	if (s->n_levels < s->kept)
		s->kept = s->n_levels;
}

/* Goes back to the last decision whose other value is untried, and tries that value. Returns false
 * if there is no such decision. */
static bool sat_go_back(struct sat *s)
{
	while (s->n_levels) {
		struct level last = s->levels[s->n_levels - 1];
		int variable = s->trail[last.start];
		int32_t other = s->values[variable] > 0 ? -variable : variable;

		sat_pop(s);
		if (!last.second) {
			sat_push(s, other, true);
			return true;
		}
	}
	return false;
}

/* --- changes that the heuristic is told ------------------------------------------------------- */

int fh_sat_room(const struct sat *s)
{
	/*
	 * An upper limit of the numbers that a call may write. 6: the counts before its lists.
	 * 8 per variable: the lists of variables. For each level, the search may undo it, try its
	 * other value, and meet a conflict. 2 per clause: the lists of clauses.
	 */
	return 6 + 8 * s->n_variables + 2 * s->n_clauses;
}

static void numbers_add(struct numbers *to, const struct numbers *list)
{
	to->items[to->n++] = list->n;
	memcpy(to->items + to->n, list->items, (size_t)list->n * sizeof(*list->items));
	to->n += list->n;
}

static void numbers_add_level(struct numbers *to, const struct sat *s)
{
	int start = s->n_levels > s->kept ? s->levels[s->n_levels - 1].start : s->n_trail;

	to->items[to->n++] = s->n_trail - start;
	for (int i = start; i < s->n_trail; i++)
		to->items[to->n++] = s->trail[i] * s->values[s->trail[i]];
}

/* Describes how the list of open clauses changed since the last decision. First come clauses that
 * have left the list, then clauses that were appended to it. The others keep their order. */
static void numbers_add_clauses(struct numbers *to, const struct sat *s)
{
	int32_t *n_left = &to->items[to->n++];
	int next = 0;

	*n_left = 0;
	for (int i = 0; i < s->told.n; i++) {
		if (next < s->open.n && s->told.items[i] == s->open.items[next]) {
			next++;
			continue;
		}
		to->items[to->n++] = s->told.items[i];
		++*n_left;
	}
	to->items[to->n++] = s->open.n - next;
	for (; next < s->open.n; next++)
		to->items[to->n++] = s->open.items[next];
}

static int sat_tell(struct sat *s, int32_t *out)
{
	struct numbers told = { .items = out };

	told.items[told.n++] = s->kept;
	numbers_add_level(&told, s);
	numbers_add(&told, &s->assigned);
	numbers_add(&told, &s->conflicts);
	numbers_add_clauses(&told, s);
	clauses_copy(&s->told, &s->open);
	s->kept = s->n_levels;
	s->assigned.n = s->conflicts.n = 0;
	return told.n;
}

static int sat_search(struct sat *s, int32_t *out)
{
	while (s->open.n) {
		switch (sat_propagate(s)) {
		case SOLVED:
			return SAT_SATISFIABLE;
		case UNDECIDED:
			return sat_tell(s, out);
		case CONFLICT:
			break;
		}
		if (!sat_go_back(s))
			return SAT_UNSATISFIABLE;
	}
	return SAT_SATISFIABLE;
}

int fh_sat_begin(struct sat *s, int32_t *out)
{
	return sat_search(s, out);
}

int fh_sat_decide(struct sat *s, int variable, int value, int32_t *out)
{
	if (variable < 1 || variable > s->n_variables || s->values[variable])
		return SAT_ILLEGAL;
	sat_push(s, value ? variable : -variable, false);
	return sat_search(s, out);
}
