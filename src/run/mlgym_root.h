/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_MLGYM_ROOT_H
#define RUN_MLGYM_ROOT_H

#include "base/arena.h"
#include "base/error.h"
#include "run/warner.h"

/*
 * Finds the MLGym checkout whose tasks and agents are used. The first of these that is set names
 * it: --mlgym-root, $MLGYM_CONFIG_ROOT, $MLGYM_TASK_CONFIG_DIR. If none is set, the current folder
 * is used, with a warning, if it is a checkout. *out is NULL if there is no checkout, or
 * --mlgym-root is empty. Each may name a checkout, its folder configs, or its configs/tasks.
 * -EINVAL: the named folder is in no checkout (a folder with at least one task). Then the caller
 * must fail, and not play a task of Fumehood's of the same name.
 */
int mlgym_root(struct arena *arena, const char *option, const struct warner *warner,
		const char **out, struct fh_error *err);

/* Finds the MLGym checkout that the path `folder` names. `name` is the option or variable that
 * gave the path: errors mention it. */
int mlgym_root_find(struct arena *arena, const char *name, const char *folder, const char **out,
		struct fh_error *err);

/* Returns the MLGym checkout in whose configs/tasks the file `path` lies, as a heap string. `path`
 * is a real path. NULL: the file is in no checkout. */
char *mlgym_root_of_file(const char *path);

#endif
