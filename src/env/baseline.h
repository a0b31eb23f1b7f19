/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_BASELINE_H
#define ENV_BASELINE_H

#include "env/spec.h"
#include "grade/score.h"

/* The terms that an environment must have while its baseline is played. */
#define BASELINE_STEPS_MAX 3  /* the command and a submit; the third is never reached */
#define BASELINE_JUDGE_SALT 1 /* the same on each machine that shares the secret */

/*
 * Gets the baseline of the environment's task. It is published, or kept from before. Otherwise it
 * is played in `env` by the public API, and kept. It blocks: while a process plays a baseline, a
 * lock keeps the others waiting. *out is replaced; empty: the task has none.
 */
int baseline_get(struct fh_env *env, const struct env_spec *spec, struct score *out,
		struct fh_error *err);

#endif
