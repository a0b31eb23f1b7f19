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
 * Sealed grading. The submission is copied out of the episode and scored in fresh sandboxes, which
 * the episode can't reach. Meanwhile the episode may go on without any effect on the score.
 *
 * grade_begin() requests the copy. Call grade_advance() whenever a descriptor or deadline of
 * grade_waits() is ready. The grading is finished when it returns true, perhaps at the first call.
 * Only one thread at a time may use a grade.
 */
struct grade;

struct grade_request {
	struct owner *owner;
	const struct task *task;
	const char *layer; /* path of the layer with the task's starting files */
	/* binds of the episode: host paths that its sandbox sees */
	const struct sandbox_bind *binds;
	size_t n_binds;
	/* path of a Python environment among `binds`, for the grader's programs; NULL: none */
	const char *python;
	const struct gpu_lease *gpus; /* GPUs that the episode has; NULL: none */
	/* sandbox with the submission; must stay open until grade_free() */
	struct sandbox *episode;
	const char *judge_key; /* key from judge_key(), which seeds the judge's random numbers */
	/* true: the grading ends the episode; false: the agent only asked for a `validate` */
	bool final;
};

enum grade_verdict {
	GRADE_SCORED,
	GRADE_NO_SUBMISSION, /* the submission's file is missing */
	GRADE_REJECTED,      /* no score: the submission is bad */
	GRADE_BROKEN,        /* no score: the task or Fumehood has failed */
};

struct grade_result {
	enum grade_verdict verdict;
	const struct score *score; /* metrics, including the task's own; NULL unless scored */
	/* reason for the agent why there is no score; "" if there is one */
	const char *text;
	const char *integrity; /* description of detected tampering; NULL: none */
	/* There is no score, and the reason depends on the submission's form alone. So it tells
	 * nothing about hidden answers. */
	bool form_only;
	const char *grader_log; /* last part of the grader's output, for people; "": no output */
};

/* Returns the submission's name for messages: usually its path in the task. MLGym's Python tasks
 * have no such path, so the name is that of MLGym's file. */
const char *grade_submission_name(struct arena *a, const struct task *task);

/* Starts a grading. All pointers of the request must stay valid until grade_free(). */
int grade_begin(const struct grade_request *request, struct grade **out, struct fh_error *err);
#define GRADE_FDS (SANDBOX_FDS * 4) /* most descriptors that grade_waits() adds */
void grade_waits(const struct grade *g, struct waits *w);
bool grade_advance(struct grade *g); /* returns true when the grading is finished */

/* Returns true while the episode's sandbox copies the submission, which must not be disturbed. */
bool grade_is_copying(const struct grade *g);

/* Stops an unfinished grading without a score; `why` becomes the message of its result. */
void grade_cancel(struct grade *g, const char *why);

/* The result of a finished grading. Valid until grade_free(). */
const struct grade_result *grade_result(const struct grade *g);
void grade_free(struct grade *g); /* `g` may be NULL */

#endif
