/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_PLAN_H
#define GRADE_PLAN_H

#include "grade/kind.h"

/* Helpers with which each kind of grader plans its programs. */

/* Starts a grader's program in a sandbox of its own, and adds the program to `g->programs`. */
int grade_add(struct grade *g, const struct program_plan *plan, struct fh_error *err);

/* A growing list of binds for one program's sandbox. */
struct grade_binds {
	struct sandbox_bind *binds;
	size_t n, size;
};

struct grade_binds grade_binds_new(struct grade *g);
void grade_bind(struct grade *g, struct grade_binds *b, const char *source, const char *folder,
		const char *target);

/* Adds binds for the host's folders and files that the episode's own sandbox sees. */
void grade_bind_episode(struct grade *g, struct grade_binds *b);

/* Adds binds for the task's hidden files, the judge's program and `simulators`, below GRADER_DIR.
 * Returns the program's path in the sandbox. */
const char *grade_bind_hidden(struct grade *g, struct grade_binds *b);

/* Makes the argument list "python3 -s -B PROGRAM FIRST MORE...". `first` may be NULL. `more` is
 * NULL-terminated, or NULL. */
const char *const *grade_python(
		struct grade *g, const char *program, const char *first, const char *const *more);

/* Names the hidden answers that a grading may use: "validate" or "final". "all": the task's end has
 * no others than its validates. */
const char *grade_part(const struct grade *g);

/* Makes the environment variables of a grader's program. judge_key may be NULL: the program is no
 * judge. */
const char *const *grade_env(struct grade *g, const char *judge_key);

#endif
