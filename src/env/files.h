/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_FILES_H
#define ENV_FILES_H

#include "env/memory.h"
#include "env/setup.h"
#include "sandbox/sandbox.h"

/* Puts the agent's memory and the files of its commands into a new episode's sandbox, one at a
 * time. */
struct files {
	struct sandbox *sb;
	struct memory *memory;
	const struct env_setup *setup;
	size_t n_put; /* number of files written into the sandbox so far */
	uint32_t id;  /* id of the request to the sandbox that puts a file */
};

/*
 * Begins to write the files into the sandbox. 1: call files_advance() later; 0: done. All data that
 * `f` points to must stay until it is done.
 */
int files_begin(struct files *f, struct fh_error *err);
int files_advance(struct files *f, struct fh_error *err);

#endif
