/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_PYTHON_H
#define SANDBOX_PYTHON_H

#include "base/arena.h"
#include "base/error.h"
#include "sandbox/sandbox.h"

/*
 * A Python environment of this machine (venv, conda) for sandboxes. It lies at the same path
 * inside, since its scripts name that path in their first lines. So does the installation that its
 * interpreter belongs to, if that lies elsewhere. A sandbox sees no other files of this machine by
 * it.
 *
 * A sandbox may write to "ENV:rw" (sandbox_options.writable). On this machine the environment stays
 * unchanged.
 */
#define PYTHON_BINDS_MAX 6
#define AGENT_PATH "/fumehood/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct python_env {
	const char *spec; /* dir as it was given, absolute, and ":rw" if it may be written to */
	const char *dir;
	const char *writable; /* source of its binds that a sandbox may write to; NULL: none */
	struct sandbox_bind binds[PYTHON_BINDS_MAX];
	size_t n_binds;
};

/*
 * Finds an environment's binds, which live in the arena. -ENOENT, -EINVAL: it is no environment, or
 * can't be shown; the error says why.
 */
int python_env_find(
		struct arena *a, const char *spec, struct python_env *out, struct fh_error *err);

/* Returns "PATH=..." with the environment's programs first, then `rest`. */
const char *python_env_path(struct arena *a, const char *dir, const char *rest);

#endif
