/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_SCORING_H
#define ENV_SCORING_H

#include "env/episode.h"
#include "env/spec.h"
#include "grade/grade.h"

/*
 * The scoring of a submission, as part of a step. The grading adds to the scores of the episode,
 * and to the result of the step.
 */
struct env_scoring {
	/* env/open.c sets the members down to `reward` when the environment is opened. */
	const struct env_spec *spec;
	const struct score *baseline; /* score of the task's baseline; empty: none */
	struct env_episode *episode;
	struct env_result *result;
	enum fh_reward_kind reward;

	/* why the episode is scored or ends, for its exit status: "submit", ... */
	const char *reason;
	struct grade *grade; /* NULL: no grading is under way, and there is no result of one */
	char judge_key[SHA256_HEX_BYTES];
	int64_t began_ns; /* time at which the grading began */
};

/* Begins s->grade. `reason` is why: REASON_VALIDATE or a reason that ends the episode. */
int scoring_begin(struct env_scoring *s, const char *reason, struct fh_error *err);

/* Takes the result of s->grade into the step, and appends it as text. */
void scoring_take(struct env_scoring *s, const struct grade_result *result, struct buf *text);

/* Ends the grading, so that its scores don't count as those of the step's end. */
void scoring_forget(struct env_scoring *s);
/* Ends the unfinished grading of a validate, which then does not count as one of the episode's. */
void scoring_abandon(struct env_scoring *s);

/* Sets the episode's scores so far in the step. */
void scoring_put(const struct env_scoring *s);

/* Sentence for an agent that has used up the task's validations. NULL: it may validate. */
const char *scoring_refuse(const struct env_scoring *s, struct buf *room);

/* Reasons for scoring besides the words of exit_* actions. */
#define REASON_SUBMIT "submit"
#define REASON_VALIDATE "validate"

#endif
