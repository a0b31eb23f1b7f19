/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_MLGYM_H
#define TASK_MLGYM_H

#include "task/loading.h"

/*
 * Tasks of an MLGym checkout: configs/tasks/NAME.yaml. Relative paths start at the checkout. The
 * agent sees the task's evaluator. The published scores are the baseline, and the network is the
 * host's. Fumehood's own keys (metric, limits, variants, ...) work too. An unknown key is a
 * warning.
 */

/* The path of Python's environment in MLGym's images. */
#define MLGYM_CONDA_ENV "/home/agent/miniconda3/envs/mlgym_generic"
#define MLGYM_CONDA_PYTHON MLGYM_CONDA_ENV "/bin/python"

/* Merges the task's keys over MLGym's defaults. */
int mlgym_complete(struct task_loading *l);

/* Load parts of an MLGym task. They replace functions of load_parts.h, for keys that have another
 * meaning in MLGym. */
int mlgym_load_plain(struct task_loading *l);
int mlgym_load_datasets(struct task_loading *l);
int mlgym_load_grader(struct task_loading *l); /* call it after task_load_files() */
int mlgym_load_binds(struct task_loading *l);
void mlgym_load_description(struct task_loading *l);

/* Appends hints about a data set's missing files: their names in programs, their format, and the
 * scripts that make them. `path` is the data set's folder, relative to the checkout. */
void mlgym_say_missing(const struct task_loading *l, const char *path, struct buf *out);

/* Checks that each local data set has a file, and all files of MLGym's data set of that name. Also
 * checks for files that the evaluator can't run without. -ENODATA: the error names missing files,
 * with hints. */
int mlgym_check_data(const struct task_loading *l, const struct dataset *datasets, size_t n);

#endif
