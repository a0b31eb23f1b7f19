/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_MLGYM_ROOT_H
#define RUN_MLGYM_ROOT_H

#include "base/arena.h"
#include "base/error.h"
#include "run/warner.h"

/* The checkout of MLGym whose tasks and agents are used: what --mlgym-root says, else what MLGym's own
 * variables do, $MLGYM_CONFIG_ROOT (its folder configs) or $MLGYM_TASK_CONFIG_DIR (configs/tasks), else the
 * current folder if it is one, which is said; NULL: none. Either may name the checkout, its configs or its
 * configs/tasks. -EINVAL: what was named is no checkout, so that no other task of that name is played. */
int mlgym_root(struct arena *arena, const char *option, const struct warner *warner,
		const char **out, struct fh_error *err);

/* The checkout that a folder is, or lies in as above. `name` says in the error what named the folder. */
int mlgym_root_find(struct arena *arena, const char *name, const char *folder, const char **out,
		struct fh_error *err);

/* The checkout in whose configs/tasks a file lies, by its real path; heap, NULL: none. */
char *mlgym_root_of_file(const char *path);

#endif
