/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_SETUP_H
#define ENV_SETUP_H

#include "base/error.h"
#include "env/multiline.h"

#include <fumehood/env.h>

#include <stdbool.h>
#include <stddef.h>

/*
 * What an agent's tools need of an environment beside its task: files beside the workspace, a script that
 * each of an episode's shells runs before anything else (the first, and one that follows a shell that
 * ended), and a command that is asked for the tools' state after the reset and each step. None of it
 * counts as a step, and nothing that it prints is in an observation.
 */
#define SETUP_DIR "/home/agent/commands" /* at the front of PATH: what is documented is what runs */
#define SETUP_FILES_MAX 64
#define SETUP_FILE_BYTES_MAX (256 * 1024)
#define SETUP_STATE_BYTES_MAX 65536

struct env_setup_file {
	const char *name; /* no slash in it */
	const void *data;
	size_t n;
	bool executable;
};

struct env_setup {
	const struct env_setup_file *files;
	size_t n_files;
	const char *script; /* ends with status 0, or there is no episode; NULL: none */
	const char *state;  /* prints a JSON object; NULL: none is asked */
	const struct multiline *multiline; /* beside those of our own tools */
	size_t n_multiline;
};

/* From the next reset on; NULL takes it away. All is copied. -EINVAL, -E2BIG. */
int env_set_setup(struct fh_env *env, const struct env_setup *setup, struct fh_error *err);

/* The word up to which the lines after this one belong to a command of the environment; NULL: it is complete. Lives
 * until the next env_set_setup(). */
const char *env_multiline_end(const struct fh_env *env, const char *line);

/* "[key]" takes its place in all that steps show from now on (base/hide.h): a server that has it can have the agent
 * put it together. It is copied; NULL: there is none. */
void env_hide(struct fh_env *env, const char *secret);

/* The object that the state command printed after the last reset or step: the agent's word. NULL when
 * there is no such command, or it gave none. Lives as a step does. */
const char *env_state(const struct fh_env *env);

#endif
