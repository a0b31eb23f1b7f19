/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_DATASET_H
#define TASK_DATASET_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A data set: datasets/<id>.yaml, with the paths of its files. All strings live in the arena that
 * is passed to dataset_load().
 */
#define DATASET_FILES_MAX 10000

struct node;

struct dataset_file {
	const char *path;      /* path of the file in the data set's folder */
	const char *source;    /* absolute path of the file on this machine */
	const char *target;    /* path of the file in the workspace's data folder */
	const char *sha256;    /* expected hash, lower-case hexadecimal; NULL: not checked */
	bool hidden;           /* the file is not put into the workspace */
	const struct node *at; /* the file's place in datasets/<id>.yaml; NULL: it has none */
};

/* The program that generates a data set's files, from a key that no agent knows. */
struct dataset_make {
	const char *program;     /* absolute path of the program */
	const char *const *args; /* arguments of the program, NULL-terminated */
	int64_t timeout_ms;
	/* hash of all inputs of the generated files, except the machine's secret */
	const char *recipe;
};

struct dataset {
	const char *id;
	const char *name, *description;
	/* name of the data set's folder in <state>/data, from dataset_store() */
	const char *store;
	const char *dir; /* absolute path of the folder with the files */
	/* how to generate the files; NULL: they are not generated */
	const struct dataset_make *make;
	const struct dataset_file *files;
	size_t n_files;
};

/* Folders to search for `datasets/<id>.yaml`, in this order. The installed folder comes last. */
struct dataset_places {
	const char *task_dir;
	const char *root;      /* folder with `datasets` and `tasks`; NULL: none */
	const char *state_dir; /* the state folder; NULL: the user's default */
	uint64_t data_seed;    /* selects generated data: another seed gives another key */
};

/*
 * Loads a data set. `name` is an id, or "datasets/<id>.yaml". -ENOENT: there is no such data set.
 * -ENODATA: a file of the data set is missing; the message says how to get it.
 *
 * A data set with `make` loads even before its files are generated. The name of the files' folder
 * is a hash of all inputs: the machine's secret, the program, the data seed, ... So other inputs
 * get another folder, and a folder never changes while a process reads it.
 */
int dataset_load(struct arena *a, const struct dataset_places *places, const char *name,
		struct dataset *out, struct fh_error *err);

/*
 * Returns the name of a data set's folder in <state>/data, a heap string. For the tasks that come
 * with Fumehood the name is ID. For tasks of another folder it is ID@HASH, with the hash of that
 * folder's real path. Tasks of different folders share no data: the author of one task could reveal
 * its data to agents.
 */
char *dataset_store(const char *id, const char *tasks_dir);

/* False if the data set's files were not generated yet. */
bool dataset_is_there(const struct dataset *dataset);

/* Compares each file with its sha256, if it has one. -EINVAL: a file differs; the message names
 * the first. */
int dataset_verify(const struct dataset *dataset, struct fh_error *err);

#endif
