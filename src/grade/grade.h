/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_GRADE_H
#define GRADE_GRADE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/waits.h"
#include "grade/score.h"
#include "sandbox/sandbox.h"
#include "task/task.h"

/*
 * Sealed grading. The submission is copied out of the episode and scored in fresh sandboxes that
 * the episode has never touched. The episode may go on meanwhile without any effect on the score.
 *
 * grade_begin() asks for the copy. Call grade_advance() whenever its waits come, until it returns
 * true, perhaps at the first call. Only one thread at a time may use a grade.
 */
struct grade;

struct grade_request {
	struct owner *owner;
	const struct task *task;
	const char *layer;                /* the task's starting files */
	const struct sandbox_bind *binds; /* the episode's */
	size_t n_binds;
	const char *python; /* a Python environment among the binds, for the programs; NULL: none */
	const int *gpus;    /* the episode's */
	size_t n_gpus;
	struct sandbox *episode; /* has the submission; must stay open until grade_free() */
	const char *judge_key;   /* from judge_key() */
};

enum grade_verdict {
	GRADE_SCORED,
	GRADE_NO_SUBMISSION, /* the file is missing */
	GRADE_REJECTED,      /* no score: the submission is at fault */
	GRADE_BROKEN,        /* no score: the task or Fumehood is at fault */
};

struct grade_result {
	enum grade_verdict verdict;
	const struct score *score; /* has the task's metric; NULL unless scored */
	const char *text;          /* for the agent, why there is no score; "" when scored */
	const char *integrity;     /* the tampering that was seen, else NULL */
	const char *grader_log;    /* for people, the end of the grader's output; "" for none */
};

/* Absolute path inside of the submission: a file, or the workspace. */
const char *grade_submission(struct arena *a, const struct task *task);

/* The submission's name in messages: the path above, except for MLGym's Python tasks. There MLGym
 * names a file that the task does not have. */
const char *grade_submission_name(struct arena *a, const struct task *task);

/* All pointers of the request must stay valid until grade_free(). */
int grade_begin(const struct grade_request *request, struct grade **out, struct fh_error *err);
void grade_waits(const struct grade *g, struct waits *w);
bool grade_advance(struct grade *g); /* true: over */

/* Ends a grade that is not over, without a score; `why` becomes its text. */
void grade_cancel(struct grade *g, const char *why);

/* Valid once the grade is over, until grade_free(). */
const struct grade_result *grade_result(const struct grade *g);
void grade_free(struct grade *g); /* NULL is fine */

#endif
