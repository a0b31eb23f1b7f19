/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_MLGYM_H
#define TASK_MLGYM_H

#include "task/loading.h"

/*
 * Tasks of an MLGym checkout: configs/tasks/NAME.yaml. Relative paths start at the checkout. The
 * agent sees the task's evaluator. The published scores are the baseline. The agent has the host's
 * network. Fumehood's own keys (metric, limits, variants, ...) work too. An unknown key is a
 * warning.
 */

/* Path of the Python environment in MLGym's container images. */
#define MLGYM_CONDA_ENV "/home/agent/miniconda3/envs/mlgym_generic"
#define MLGYM_CONDA_PYTHON MLGYM_CONDA_ENV "/bin/python"

/* Merges the keys of an MLGym task over default values: MLGym's network and grader, and a guess of
 * the metric. */
int mlgym_complete(struct task_loading *l);

/* Functions that load parts of an MLGym task. They replace those of load_parts.h for keys that have
 * another meaning in MLGym. */
int mlgym_load_plain(struct task_loading *l);
int mlgym_load_datasets(struct task_loading *l);
int mlgym_load_grader(struct task_loading *l); /* call it after task_load_files() */
int mlgym_load_binds(struct task_loading *l);
void mlgym_load_description(struct task_loading *l);

/* Appends hints about a data set's missing files: names that programs use, formats, and scripts
 * that make the files. `path` is the data set's folder, relative to the checkout. */
void mlgym_say_missing(const struct task_loading *l, const char *path, struct buf *out);

/* Checks the files of each local data set. A folder must have at least one file, and all files
 * of MLGym's own data set of that name. Also checks for files that the evaluator can't run
 * without. -ENODATA: files are missing; the error names them, with hints. */
int mlgym_check_data(const struct task_loading *l, const struct dataset *datasets, size_t n);

#endif
