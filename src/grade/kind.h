/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_KIND_H
#define GRADE_KIND_H

#include "base/arena.h"
#include "base/buf.h"
#include "grade/grade.h"
#include "grade/key.h"
#include "grade/program.h"

#define GRADE_PROGRAMS_MAX (1 + GRADER_PLAYERS_MAX)
/* Most bytes of a grading's message: a rejection and a player's log. A byte of the log may take 4
 * bytes when escaped. */
#define GRADE_TEXT_BYTES (SCORE_REJECTION_BYTES + 1024 + 4 * 2 * PROGRAM_LOG_BYTES)
#define GRADER_DIR "/grader" /* folder in the grader's sandbox with the task's hidden files */

/*
 * A kind of grader: one file with one const struct, and a line in the table of grade.c. A kind
 * decides which programs run in which sandboxes. grade.c does the rest: it copies the submission,
 * keeps the time limit, and reads the first program's result.
 */
struct grade_kind {
	/* Starts the grader's programs with grade_add(). The first program's output becomes the
	 * result. */
	int (*start)(struct grade *g, struct fh_error *err);

	bool gpus; /* true: programs of this kind of grader get the GPUs of the episode */

	/* Appends details for the agent to the message of a rejection. NULL: this kind of grader
	 * has none. */
	void (*explain)(struct grade *g, struct buf *text);
};

/* Returns true if the grader takes the whole workspace, not a file. Then mlgym.c copies it, and
 * grade.c copies no submission. */
static inline bool grade_takes_all(const struct task *task)
{
	return task->grader.kind == GRADER_MLGYM && task->grader.call != MLGYM_CSV;
}

struct grade {
	struct grade_request request;
	const struct grade_kind *kind;
	/* request to the episode's sandbox for a copy of the submission; 0: no request is open */
	uint32_t getting;
	/* job that pauses the episode before the programs start; NULL: none, or done */
	struct job *pausing;
	bool paused;       /* the episode is being paused, or is paused: sandbox_pause() */
	int submission_fd; /* descriptor of a sealed copy of the submission */
	char judge_key[SHA256_HEX_BYTES];
	struct program programs[GRADE_PROGRAMS_MAX];
	size_t n_programs;
	struct arena arena; /* memory for the argument lists and binds of the grader's programs */

	int64_t deadline_ns;
	/* the first program has ended and the verdict is set; other programs may still run */
	bool judged;
	bool finished; /* the result is final; programs may still be ending */
	bool over;     /* the result is final, and nothing is left of the programs */
	struct grade_result result;
	struct score score;
	struct buf text, grader_log;
	const char *submission;
	char *integrity;
};

#endif
