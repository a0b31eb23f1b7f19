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
	size_t n_put; /* so far */
	uint32_t id;  /* request that puts the next one */
};

/* 1: under way, and files_advance() goes on; 0: done. All that it points to must stay until
 * then. */
int files_begin(struct files *f, struct fh_error *err);
int files_advance(struct files *f, struct fh_error *err);

#endif
