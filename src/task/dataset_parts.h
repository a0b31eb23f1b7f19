/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_DATASET_PARTS_H
#define TASK_DATASET_PARTS_H

#include "task/config.h"
#include "task/dataset.h"

/* Functions for the programs that make a data set's files, parts of dataset_load(). Results live in
 * the arena. */

/* Finds the program that makes a data set's files, and the modules it imports. `home` is the folder
 * that holds the folder `datasets`. */
int dataset_make_load(struct arena *a, const char *home, const struct make_config *config,
		struct dataset_make **out, struct fh_error *err);

/*
 * Sets the recipe of generated files, a hash. It covers the program, its modules and arguments,
 * which files are hidden, and the data seed. If one of these changes, the files are generated anew
 * from another key. Without modules, and for data seed 0, nothing is added, so that data of older
 * builds stays valid.
 */
int dataset_make_hash(struct arena *a, const struct dataset_config *config, uint64_t data_seed,
		struct dataset_make *make, struct fh_error *err);

#endif
