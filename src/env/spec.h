/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_SPEC_H
#define ENV_SPEC_H

#include "base/arena.h"
#include "base/sha256.h"
#include "env/gym.h"

/*
 * The task of an environment and the binds of its sandboxes: fixed once the environment is open.
 * The arena owns the strings and the binds; the environment holds the GPUs until
 * env_spec_release().
 */
struct env_spec {
	struct fh_gym *gym;
	struct gym_task *task;
	/* Binds of the task, of Python and of the user, in this order. */
	struct sandbox_bind *binds;
	size_t n_binds;
	const char *python; /* folder of the user's Python environment; NULL: none */
	/* path on this machine of the Python environment that an episode may write to; NULL:
	 * none */
	const char *writable;
	struct gpu_lease *gpus; /* NULL: none */
	char fingerprint[SHA256_HEX_BYTES];
	const char *submission; /* absolute path of the task's submission in the sandbox */
	/* hosts that the agent's tools may fetch from: web/hosts.h; NULL: none */
	const char *web_hosts;
	struct cancel *cancel; /* request that ends the opening; NULL: none */
	const char *warning;   /* sentence about missing imports; NULL: none */
	struct arena arena;
};

/*
 * Fills a zeroed `spec` of an environment, whose `gym` and `cancel` are set. May block to make the
 * task's data. Other threads may read `gym` meanwhile. Release the spec after a failure too.
 */
int env_spec_init(
		struct env_spec *spec, const struct fh_env_options *options, struct fh_error *err);
/*
 * Fills a zeroed spec whose `gym` and `task` are set: the binds, and the fingerprint of the machine
 * with them. Needs only the gym's state_dir, so that a task can be described without sandboxes.
 */
int env_spec_bind(
		struct env_spec *spec, const struct fh_env_options *options, struct fh_error *err);
void env_spec_release(struct env_spec *spec);

/*
 * Sets `warning` if modules that starter code imports are missing. -ENOPKG: the task's evaluator
 * lacks modules. Blocks: see imports.h.
 */
int env_spec_check_imports(struct env_spec *spec, struct fh_error *err);

#endif
