/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_KIND_H
#define GRADE_KIND_H

#include "base/arena.h"
#include "base/buf.h"
#include "grade/grade.h"
#include "grade/key.h"
#include "grade/program.h"

/*
 * A kind of grader: one file with one const struct, and a line in the table of grade.c. A kind says
 * which programs run in which sandboxes; the rest is common: the copy of the submission, the time
 * limit, and what the first program's result means.
 */
#define GRADE_PROGRAMS_MAX 2
/* A rejection and the end of a player's log, whose bytes may take four each: text is never cut. */
#define GRADE_TEXT_BYTES (SCORE_REJECTION_BYTES + 1024 + 4 * 2 * PROGRAM_LOG_BYTES)
#define GRADER_DIR "/grader" /* where the task's hidden files are, in a grader's sandbox */

struct grade_kind {
	/* Starts the programs, by grade_add(); the first one gives the result. */
	int (*start)(struct grade *g, struct fh_error *err);

	bool gpus; /* its programs have those of the episode */

	/* Adds to a rejection what the agent should know beside the grader's sentence; NULL:
	 * nothing. */
	void (*explain)(struct grade *g, struct buf *text);
};

extern const struct grade_kind grade_csv, grade_script, grade_duel, grade_mlgym;

/* mlgym.c: no file is taken from the episode before start(), which takes all that it wants itself. */
bool grade_takes_all(const struct task *task);

struct grade {
	struct grade_request request;
	const struct grade_kind *kind;
	uint32_t getting; /* the submission, until it is there: what the episode's porter was asked */
	int submission_fd; /* sealed copy */
	char judge_key[SHA256_HEX_BYTES];
	struct program programs[GRADE_PROGRAMS_MAX];
	size_t n_programs;
	struct arena arena; /* what the plans of the programs point to */

	int64_t deadline_ns;
	bool judged; /* the first program has given its result, and the others may still end */
	bool over;
	struct grade_result result;
	struct score score;
	struct buf text, grader_log;
	const char *submission;
	char *integrity;
};

int grade_add(struct grade *g, const struct program_plan *plan, struct fh_error *err);

/* Files that a program sees beside the host's and the layer's. Made for one program. */
struct grade_binds {
	struct sandbox_bind *binds;
	size_t n, size;
};

struct grade_binds grade_binds_new(struct grade *g);
void grade_bind(struct grade *g, struct grade_binds *b, const char *source, const char *folder,
		const char *target);

/* What the episode had bound. */
void grade_bind_episode(struct grade *g, struct grade_binds *b);

/* The task's hidden files and its judging program, under GRADER_DIR. Gives the program's path
 * inside. */
const char *grade_bind_hidden(struct grade *g, struct grade_binds *b);

/* "python3 PROGRAM FIRST MORE...": first may be NULL, more is NULL-terminated or NULL. */
const char *const *grade_python(
		struct grade *g, const char *program, const char *first, const char *const *more);

/* A program's whole environment: the same for every grade, but for the judge's key (NULL: none). */
const char *const *grade_env(struct grade *g, const char *judge_key);

#endif
