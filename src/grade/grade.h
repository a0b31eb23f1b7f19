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
 * Sealed grading. The submission is copied out of the episode as it is at that moment, and scored
 * in sandboxes of its own that the episode has never touched; the episode may go on meanwhile, and
 * nothing that it does then counts.
 *
 * grade_begin() copies and starts; the grade is advanced whenever its waits come, until
 * grade_advance() says that it is over (which may be at the first call). One thread at a time.
 */
struct grade;

struct grade_request {
	struct owner *owner;
	const struct task *task;
	const char *layer;                /* of the task: what the submission finds around it */
	const struct sandbox_bind *binds; /* seen by what runs of the agent's */
	size_t n_binds;
	const char *python; /* an environment among them, which its programs run in; NULL: none */
	const int *gpus;    /* the episode's */
	size_t n_gpus;
	struct sandbox *episode; /* has the submission; asked for it, so it stays until grade_free() */
	const char *judge_key; /* hexadecimal: random numbers that an agent can't foresee */
};

enum grade_verdict {
	GRADE_SCORED,
	GRADE_NO_SUBMISSION, /* there is no such file */
	GRADE_REJECTED,      /* it can't be scored, and the reason is the submission's */
	GRADE_BROKEN,        /* it could not be scored, and the reason is ours or the task's */
};

struct grade_result {
	enum grade_verdict verdict;
	const struct score *score; /* holds the task's metric; NULL unless scored */
	const char *text;          /* why there is no score, for the agent; "" when scored */
	const char *integrity;     /* what was seen of tampering, else NULL */
	const char *grader_log;    /* the end of what the grader printed, for people; "" */
};

/* Absolute path inside of what is scored: a file, or the workspace. */
const char *grade_submission(struct arena *a, const struct task *task);

/* What is said to be scored. It is the same, but of MLGym's tasks in Python, where MLGym names a file that is none of
 * theirs. */
const char *grade_submission_name(struct arena *a, const struct task *task);

/* What the request points to must stay until grade_free(). */
int grade_begin(const struct grade_request *request, struct grade **out, struct fh_error *err);
void grade_waits(const struct grade *g, struct waits *w);
bool grade_advance(struct grade *g); /* true: over */

/* Ends it without a score, if it isn't over: `why` is the text. */
void grade_cancel(struct grade *g, const char *why);

/* Once it is over; lives until grade_free(). */
const struct grade_result *grade_result(const struct grade *g);
void grade_free(struct grade *g); /* NULL is fine */

#endif
