/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_MLGYM_FIND_H
#define TASK_MLGYM_FIND_H

#include "base/error.h"

/* Finds the file of an MLGym task. It is given by "NAME", "tasks/NAME.yaml", the path of a file, or
 * the `id` in a file. Returns a heap string; NULL: there is no such task. */
char *mlgym_find(const char *root, const char *name);

/* Lists the names of all tasks of an MLGym checkout, sorted, in an array that xfree_strings()
 * frees. */
int mlgym_list(const char *root, char ***out, struct fh_error *err);

#endif
