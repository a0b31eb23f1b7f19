/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_SPEC_H
#define ENV_SPEC_H

#include "base/arena.h"
#include "base/sha256.h"
#include "env/gym.h"

/*
 * The task of an environment and what its sandboxes see: fixed once the environment is open. The
 * arena owns the strings and the binds; the environment holds the GPUs until env_spec_release().
 */
struct env_spec {
	struct fh_gym *gym;
	struct gym_task *task;
	struct sandbox_bind *binds; /* the task's, Python's and the user's, in this order */
	size_t n_binds;
	const char *python;   /* folder of the user's Python environment; NULL: none */
	const char *writable; /* source of its binds, which an episode may write to; NULL */
	int *gpus;
	size_t n_gpus;
	char fingerprint[SHA256_HEX_BYTES];
	const char *submission; /* absolute path inside */
	const char *web_hosts;  /* allow-list for tools: web/hosts.h; NULL: none */
	const char *warning;    /* about imports that are lacking; NULL: none */
	struct arena arena;
};

/* Fills a zeroed spec; may block to make the task's data. After a failure it is released too. */
int env_spec_init(struct env_spec *spec, struct fh_gym *gym, const struct fh_env_options *options,
		struct fh_error *err);
void env_spec_release(struct env_spec *spec);

/* Sets `warning`; -ENOPKG: the task's evaluator lacks modules. It blocks: imports.h. */
int env_spec_check_imports(struct env_spec *spec, struct fh_error *err);

#endif
