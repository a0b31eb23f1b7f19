/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_MLGYM_H
#define TASK_MLGYM_H

#include "task/load.h"

/*
 * Tasks of an MLGym checkout, as its configs/tasks/NAME.yaml have them: paths begin at the checkout, the
 * agent sees its evaluator, the published scores are the baseline, and the network is the host's. All that
 * is ours can be said too (metric, limits, variants, ...); a key that nobody knows is a warning.
 */

/* Where a program finds the Python that MLGym's images have. */
#define MLGYM_CONDA_ENV "/home/agent/miniconda3/envs/mlgym_generic"
#define MLGYM_CONDA_PYTHON MLGYM_CONDA_ENV "/bin/python"

/* The file of a task: "NAME", "tasks/NAME.yaml", the path of a file, or the id that a file holds. Heap; NULL
 * when there is none. */
char *mlgym_find(const char *root, const char *name);

/* Names of all its tasks: what mlgym_find() takes, sorted, as task_list() gives them. */
int mlgym_list(const char *root, char ***out, struct fh_error *err);

/* Puts what MLGym means, where the file says nothing, beneath the file's keys. */
int mlgym_complete(struct task_loading *l);

/* Fills what MLGym's keys say otherwise than ours: in place of the functions of load.h. */
int mlgym_load_plain(struct task_loading *l);
int mlgym_load_datasets(struct task_loading *l);
int mlgym_load_grader(struct task_loading *l); /* after the files */
int mlgym_load_binds(struct task_loading *l);
int mlgym_load_description(struct task_loading *l);

/* Appends what the checkout tells of the files of a data set that it lacks: which ones its programs read, and
 * what makes them. `path` is its folder, from the checkout on. */
void mlgym_say_missing(const struct task_loading *l, const char *path, struct buf *out);

/* Names of the task classes that are known; NULL-terminated, by enum mlgym_call. */
extern const char *const mlgym_entrypoints[];

#endif
