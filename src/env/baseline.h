/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_BASELINE_H
#define ENV_BASELINE_H

#include "env/spec.h"
#include "grade/score.h"

/* The terms that an environment must have while its baseline is played. */
/* The baseline's command and a submit; the third step is never reached. */
#define BASELINE_STEPS_MAX 3
#define BASELINE_JUDGE_SALT 1 /* fixed, so that machines that share the secret get the same score */

/*
 * Gets the baseline of the environment's task. It is published, or kept from before. Otherwise it
 * is played in `env` by the public API, and kept. Blocks: while a process plays a baseline, a lock
 * keeps other processes waiting. *out is replaced; it is empty if the task has no baseline.
 */
int baseline_get(struct fh_env *env, const struct env_spec *spec, struct score *out,
		struct fh_error *err);

#endif
