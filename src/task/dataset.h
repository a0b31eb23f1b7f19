/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_DATASET_H
#define TASK_DATASET_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Data sets: datasets/<id>.yaml, and where its files lie. All strings belong to the arena that the
 * data set was loaded into.
 */
#define DATASET_FILES_MAX 10000

struct dataset_file {
	const char *path;   /* in the data set's folder */
	const char *source; /* absolute */
	const char *target; /* beneath the workspace's data folder */
	const char *sha256; /* lower-case hexadecimal; NULL: not said */
	bool hidden;        /* not for the workspace */
};

/* What makes the files of a data set, from a key that no agent knows. */
struct dataset_make {
	const char *program;     /* absolute */
	const char *const *args; /* NULL-terminated */
	int64_t timeout_ms;
	const char *recipe; /* a hash of all that the files follow from, the machine's secret aside */
};

struct dataset {
	const char *id;
	const char *name, *description;
	const char *store;               /* names its folder in <state>/data: dataset_store() */
	const char *dir;                 /* absolute */
	const struct dataset_make *make; /* NULL: nothing does */
	const struct dataset_file *files;
	size_t n_files;
};

/* Folders that hold `datasets`, in the order they are looked at; then the installed one. */
struct dataset_places {
	const char *task_dir;
	const char *root;      /* holds `tasks`, too; NULL: none */
	const char *state_dir; /* NULL: the user's own */
};

/*
 * `name` is an id, or "datasets/<id>.yaml". -ENOENT when there is no such data set, -ENODATA,
 * with how to get it, when a file of it is missing.
 *
 * A data set that is made is loaded before it is there, too. Its folder's name depends on all that
 * its files do (the machine's secret, the program, ...), so that one that stands is never changed:
 * others may be reading it.
 */
int dataset_load(struct arena *a, const struct dataset_places *places, const char *name,
		struct dataset *out, struct fh_error *err);

/*
 * What is kept in <state>/data belongs to the tasks of one folder, which is named by its real path. Those that
 * come with us have <state>/data/<id>, those of any other folder <state>/data/<id>@<hash of its path>, of our
 * data sets, too: whoever wrote a task, or a data set's file, can tell agents all that the data holds, hidden or
 * not. This is the last part, a heap string.
 */
char *dataset_store(const char *id, const char *tasks_dir);

/* True unless it is made and was not yet. */
bool dataset_is_there(const struct dataset *dataset);

/* Compares the files that have a sha256. -EBADMSG names the first that differs. */
int dataset_verify(const struct dataset *dataset, struct fh_error *err);

#endif
