/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_MLGYM_ROOT_H
#define RUN_MLGYM_ROOT_H

#include "base/arena.h"
#include "base/error.h"
#include "run/warner.h"

/*
 * Finds the MLGym checkout whose tasks and agents are used. The first of these that is set names
 * it: --mlgym-root, $MLGYM_CONFIG_ROOT, $MLGYM_TASK_CONFIG_DIR. If none is set, it is the current
 * folder, with a warning, or NULL. Each may name a checkout, its folder configs, or its
 * configs/tasks. -EINVAL: the named folder is in no checkout, which has at least one task. Don't
 * play Fumehood's task of the same name then.
 */
int mlgym_root(struct arena *arena, const char *option, const struct warner *warner,
		const char **out, struct fh_error *err);

/* Finds the MLGym checkout that `folder` names. Errors call the folder `name`, the option or
 * variable that gave it. */
int mlgym_root_find(struct arena *arena, const char *name, const char *folder, const char **out,
		struct fh_error *err);

/* The MLGym checkout in whose configs/tasks a file lies. `path` is a real path. Heap. NULL:
 * none. */
char *mlgym_root_of_file(const char *path);

#endif
