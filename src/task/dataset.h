/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_DATASET_H
#define TASK_DATASET_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Data sets: datasets/<id>.yaml, with the places of its files. All strings belong to the arena that
 * dataset_load() got.
 */
#define DATASET_FILES_MAX 10000

struct dataset_file {
	const char *path;   /* in the data set's folder */
	const char *source; /* absolute */
	const char *target; /* beneath the workspace's data folder */
	const char *sha256; /* lower-case hexadecimal; NULL: not given */
	bool hidden;        /* stays out of the workspace */
};

/* The program that makes a data set's files, from a key that no agent knows. */
struct dataset_make {
	const char *program;     /* absolute */
	const char *const *args; /* NULL-terminated */
	int64_t timeout_ms;
	const char *recipe; /* hash of all inputs of the files, except the machine's secret */
};

struct dataset {
	const char *id;
	const char *name, *description;
	const char *store;               /* names its folder in <state>/data: dataset_store() */
	const char *dir;                 /* absolute */
	const struct dataset_make *make; /* NULL: its files are not made */
	const struct dataset_file *files;
	size_t n_files;
};

/* Folders that hold `datasets`, in the order of the search; the installed one is last. */
struct dataset_places {
	const char *task_dir;
	const char *root;      /* also holds `tasks`; NULL: none */
	const char *state_dir; /* NULL: the user's own */
};

/*
 * `name` is an id, or "datasets/<id>.yaml". -ENOENT: there is no such data set. -ENODATA: one of
 * its files is missing; the message says how to get it.
 *
 * A data set with a `make` also loads before its files are made. The name of its folder follows
 * from all that its files follow from: the machine's secret, the program, ... So an existing folder
 * never changes while others read it.
 */
int dataset_load(struct arena *a, const struct dataset_places *places, const char *name,
		struct dataset *out, struct fh_error *err);

/*
 * Returns the name of a data set's folder in <state>/data, a heap string. It is ID for the tasks
 * that come with Fumehood. It is ID@HASH for those of another folder; HASH is of its real path.
 * Folders share no data, since a task's author can tell agents all that its data has.
 */
char *dataset_store(const char *id, const char *tasks_dir);

/* False if its files are still to be made. */
bool dataset_is_there(const struct dataset *dataset);

/* Compares the files that have a sha256. -EBADMSG names the first that differs. */
int dataset_verify(const struct dataset *dataset, struct fh_error *err);

#endif
