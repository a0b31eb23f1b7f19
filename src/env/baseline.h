/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_BASELINE_H
#define ENV_BASELINE_H

#include "env/spec.h"
#include "grade/score.h"

/* Most steps of an episode that plays a baseline. It needs two: the command and a submit. With a
 * limit of 2 the submit would count as truncated. */
#define BASELINE_STEPS_MAX 3
/* Salt of the judges when a baseline is played. It is fixed, so that machines with the same secret
 * get the same score. */
#define BASELINE_JUDGE_SALT 1

/*
 * Finds the score of the spec's baseline without playing it. False: no file has it yet. *out is
 * replaced on success; it is empty if the task has no baseline.
 */
bool baseline_find(const struct env_spec *spec, struct score *out);

/*
 * Gets the baseline score of the environment's task. The task may publish it, or an earlier call
 * may have saved it in a file of the state folder. Otherwise the baseline is played in `env` by the
 * public API, and its score is saved in that file. Blocks: while a process plays a baseline, a lock
 * keeps other processes waiting. *out is replaced; it is empty if the task has no baseline.
 */
int baseline_get(struct fh_env *env, const struct env_spec *spec, struct score *out,
		struct fh_error *err);

struct baseline_failure {
	const char *command;
	const struct fh_step *step;
	/* packages that the task needs and its Python lacks, as in "jax, flax"; "": none known */
	const char *missing;
};

/*
 * Says that a command of a task failed: the Python modules that it lacks, or the end of its output.
 * Returns -EIO.
 */
int baseline_say_failed(const struct baseline_failure *failure, struct fh_error *err);

#endif
