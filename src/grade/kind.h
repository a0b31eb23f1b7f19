/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_KIND_H
#define GRADE_KIND_H

#include "base/arena.h"
#include "base/buf.h"
#include "grade/grade.h"
#include "grade/key.h"
#include "grade/program.h"

/*
 * A kind of grader: one file with one const struct, and a line in the table of grade.c. A kind
 * decides which programs run in which sandboxes. grade.c does the rest: it copies the submission,
 * keeps the time limit, and reads the first program's result.
 */
#define GRADE_PROGRAMS_MAX 2
/* Room for a rejection and a player's log, whose bytes take up to 4 each: no text is cut. */
#define GRADE_TEXT_BYTES (SCORE_REJECTION_BYTES + 1024 + 4 * 2 * PROGRAM_LOG_BYTES)
#define GRADER_DIR "/grader" /* has the task's hidden files, in a grader's sandbox */

struct grade_kind {
	/* Starts the programs with grade_add(); the first one gives the result. */
	int (*start)(struct grade *g, struct fh_error *err);

	bool gpus; /* gives the programs the episode's GPUs */

	/* Adds to the text of a rejection, for the agent; NULL: nothing. */
	void (*explain)(struct grade *g, struct buf *text);
};

extern const struct grade_kind grade_csv, grade_script, grade_duel, grade_mlgym;

/* True for the calls of mlgym.c that take the whole workspace: grade.c copies no submission
 * then. */
bool grade_takes_all(const struct task *task);

struct grade {
	struct grade_request request;
	const struct grade_kind *kind;
	uint32_t getting;  /* the request to the episode's porter for the submission; 0: none */
	int submission_fd; /* sealed copy of the submission */
	char judge_key[SHA256_HEX_BYTES];
	struct program programs[GRADE_PROGRAMS_MAX];
	size_t n_programs;
	struct arena arena; /* for the programs' plans */

	int64_t deadline_ns;
	bool judged; /* the first program gave its result; others may still run */
	bool over;
	struct grade_result result;
	struct score score;
	struct buf text, grader_log;
	const char *submission;
	char *integrity;
};

int grade_add(struct grade *g, const struct program_plan *plan, struct fh_error *err);

/* The binds of one program. */
struct grade_binds {
	struct sandbox_bind *binds;
	size_t n, size;
};

struct grade_binds grade_binds_new(struct grade *g);
void grade_bind(struct grade *g, struct grade_binds *b, const char *source, const char *folder,
		const char *target);

/* Adds the episode's binds. */
void grade_bind_episode(struct grade *g, struct grade_binds *b);

/* Adds the task's hidden files and its judging program, under GRADER_DIR. Returns the program's
 * path inside. */
const char *grade_bind_hidden(struct grade *g, struct grade_binds *b);

/* Makes "python3 -s -B PROGRAM FIRST MORE...": first may be NULL, more is NULL-terminated or
 * NULL. */
const char *const *grade_python(
		struct grade *g, const char *program, const char *first, const char *const *more);

/* Makes a program's whole environment; judge_key may be NULL. */
const char *const *grade_env(struct grade *g, const char *judge_key);

#endif
