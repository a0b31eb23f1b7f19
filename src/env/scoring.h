/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_SCORING_H
#define ENV_SCORING_H

#include "env/state.h"

/*
 * Scoring of a submission, as part of a step. An agent's command (env/command.h)
 * is also scored while it runs. The tool `validate` then calls the environment, and waits for the
 * score.
 */

/* Begins env->grade. `reason` is why: REASON_VALIDATE or a reason that ends the episode. */
int scoring_begin(struct fh_env *env, const char *reason, struct fh_error *err);

/* Takes the result of env->grade into env->step, and appends it as text. */
void scoring_take(struct fh_env *env, const struct grade_result *result, struct buf *text);

/* Sentence for an agent that has used up the task's validations. NULL: it may validate. */
const char *scoring_refuse(const struct fh_env *env, struct buf *room);

/* Serves `validate` and `submit` while an agent's command runs. Call it after calls_advance(). */
void scoring_beside(struct fh_env *env);
/* While this is true, the sandbox copies a submission, and nothing else may be asked of it. */
bool scoring_is_copying(const struct fh_env *env);

/* Adds the descriptors and the deadline of a grading beside the command. */
void scoring_waits(const struct fh_env *env, struct waits *w);

/* Ends a grading that goes on when the command has ended. The step scores the submission then. */
void scoring_end_beside(struct fh_env *env);

/* Reasons for scoring besides the words of exit_* actions. */
#define REASON_SUBMIT "submit"
#define REASON_VALIDATE "validate"

#endif
