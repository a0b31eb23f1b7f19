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
#define GRADE_PROGRAMS_MAX (1 + GRADER_PLAYERS_MAX)
/* Cap of a grading's text. It fits a rejection and a player's log, in which a byte may take 4
 * bytes. */
#define GRADE_TEXT_BYTES (SCORE_REJECTION_BYTES + 1024 + 4 * 2 * PROGRAM_LOG_BYTES)
#define GRADER_DIR "/grader" /* folder in the grader's sandbox with the task's hidden files */

struct grade_kind {
	/* Starts the grader's programs with grade_add(). The result is read from the first
	 * program. */
	int (*start)(struct grade *g, struct fh_error *err);

	bool gpus; /* the programs get the GPUs of the episode */

	/* Appends details to the text of a rejection, for the agent. NULL: there are none. */
	void (*explain)(struct grade *g, struct buf *text);
};

/* True if the grader takes the whole workspace. Then mlgym.c copies it, and grade.c copies no
 * submission. */
static inline bool grade_takes_all(const struct task *task)
{
	return task->grader.kind == GRADER_MLGYM && task->grader.call != MLGYM_CSV;
}

struct grade {
	struct grade_request request;
	const struct grade_kind *kind;
	/* request to the episode's sandbox for the submission; 0: no request is open */
	uint32_t getting;
	int submission_fd; /* descriptor of a sealed copy of the submission */
	char judge_key[SHA256_HEX_BYTES];
	struct program programs[GRADE_PROGRAMS_MAX];
	size_t n_programs;
	struct arena arena; /* memory for the plans of the programs */

	int64_t deadline_ns;
	/* the first program has ended, and its verdict is made; other programs may still run */
	bool judged;
	bool over;
	struct grade_result result;
	struct score score;
	struct buf text, grader_log;
	const char *submission;
	char *integrity;
};

#endif
