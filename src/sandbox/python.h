/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_PYTHON_H
#define SANDBOX_PYTHON_H

#include "base/arena.h"
#include "base/error.h"
#include "sandbox/sandbox.h"

#define PYTHON_BINDS_MAX 6

/*
 * A Python environment of this machine (venv, conda) for sandboxes. It has the same path inside,
 * since its scripts name that path in their first lines. The interpreter may belong to an
 * installation in another folder, which is shown too. An environment shows no other files of this
 * machine.
 *
 * A sandbox may write to "ENV:rw" (sandbox_options.writable). On this machine the environment stays
 * unchanged.
 */
struct python_env {
	/* absolute path of the Python environment, with ":rw" at its end if it may be written to */
	const char *spec;
	const char *dir;
	const char *writable; /* source of the binds to which a sandbox may write; NULL: none */
	struct sandbox_bind binds[PYTHON_BINDS_MAX];
	size_t n_binds;
};

/*
 * Finds the binds that show a Python environment to a sandbox. They live in the arena. -ENOENT,
 * -EINVAL: the folder is not an environment, or can't be shown; the error says why.
 */
int python_env_find(
		struct arena *a, const char *spec, struct python_env *out, struct fh_error *err);

/* Returns "PATH=..." with the folder of the Python environment's programs first, then `rest`. */
const char *python_env_path(struct arena *a, const char *dir, const char *rest);

#endif
