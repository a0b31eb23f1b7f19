/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_PYTHON_H
#define SANDBOX_PYTHON_H

#include "base/arena.h"
#include "base/error.h"
#include "sandbox/sandbox.h"

/*
 * A Python environment of this machine (venv, conda) for sandboxes. It lies at its own place
 * inside, since its scripts name that in their first lines. So does the installation that its
 * interpreter belongs to, if that is elsewhere. Nothing else of this machine is shown by it.
 *
 * "ENV:rw" is one that a sandbox may write to (sandbox_options.writable). It stays as it is on this
 * machine.
 */
#define PYTHON_BINDS_MAX 6
#define AGENT_PATH "/fumehood/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct python_env {
	const char *spec; /* as it was given, absolute: dir, and ":rw" */
	const char *dir;
	const char *writable; /* source of its own binds if a sandbox may write to them; NULL */
	struct sandbox_bind binds[PYTHON_BINDS_MAX];
	size_t n_binds;
};

/* Lives in the arena. -ENOENT, -EINVAL: it is no environment, or can't be shown; a sentence says
 * why. */
int python_env_find(
		struct arena *a, const char *spec, struct python_env *out, struct fh_error *err);

/* "PATH=..." with its programs first; `rest` comes after them. */
const char *python_env_path(struct arena *a, const char *dir, const char *rest);

#endif
