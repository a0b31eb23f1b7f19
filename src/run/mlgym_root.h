/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_MLGYM_ROOT_H
#define RUN_MLGYM_ROOT_H

#include "base/arena.h"
#include "base/error.h"
#include "run/warner.h"

/*
 * Finds the checkout of MLGym whose tasks and agents are used. The first of these names it:
 * --mlgym-root; $MLGYM_CONFIG_ROOT; $MLGYM_TASK_CONFIG_DIR; the current folder, with a warning. A
 * name may be that of the checkout, its configs or its configs/tasks. NULL: none. -EINVAL: the name
 * is no checkout's. Our own task of the same name must not be played then.
 */
int mlgym_root(struct arena *arena, const char *option, const struct warner *warner,
		const char **out, struct fh_error *err);

/* Finds the checkout of a folder as above. `name` is the option or variable that named it. */
int mlgym_root_find(struct arena *arena, const char *name, const char *folder, const char **out,
		struct fh_error *err);

/* The checkout in whose configs/tasks a file lies, by its real path; heap, NULL: none. */
char *mlgym_root_of_file(const char *path);

#endif
