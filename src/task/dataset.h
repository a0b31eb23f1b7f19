/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASK_DATASET_H
#define TASK_DATASET_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A data set: its files, where each comes from, and the program that makes them. */

#define DATASET_FILES_MAX 10000
#define DATASET_MODULES_MAX 16

struct node;

struct dataset_file {
	const char *path;   /* path of the file, relative to the data set's folder */
	const char *source; /* absolute path of the file on this machine */
	const char *target; /* path of the file, relative to the workspace's data folder */
	const char *sha256; /* expected hash, lower-case hexadecimal; NULL: not checked */
	bool hidden;        /* the file is not put into the workspace */
	/* line in datasets/<id>.yaml that names the file, for errors; NULL: none */
	const struct node *at;
};

/*
 * The program that generates a data set's files. The program's random numbers come from a key that
 * no agent knows.
 */
struct dataset_make {
	const char *program; /* absolute path of the program that generates the files */
	/* absolute paths of the modules that the program imports, NULL-terminated */
	const char *const *modules;
	const char *const *args; /* arguments of the program, NULL-terminated */
	int64_t timeout_ms;
	/* hash of all inputs of the generated files, except the machine's secret */
	/* hash as a hexadecimal string; NULL for a program that lays out fetched files */
	const char *recipe;
};

/* A file of a data set to fetch, from Hugging Face or from a URL. If it has neither, the user
 * brings the file. */
struct dataset_source {
	/* repository: "datasets/OWNER/NAME", or "OWNER/NAME" of a model; NULL: none */
	const char *huggingface;
	const char *path;     /* path of the file in the repository */
	const char *revision; /* branch, tag or commit of the repository */
	const char *url;      /* URL of the file to fetch; NULL: none */
	const char *name;     /* name of the fetched file, without folders */
	const char *sha256;   /* expected hash, lower-case hexadecimal; NULL: not given */
	/* absolute path of the fetched file: in the folder `fetched` if there is a `layout`
	 * program, else in `dir` */
	const char *target;
};

/*
 * A data set: datasets/<id>.yaml, with the paths of its files. All strings live in the arena that
 * is passed to dataset_load().
 */
struct dataset {
	const char *id;
	const char *name, *description;
	/* Name of the folder in <state>/data with the data set's files, from dataset_store(); NULL:
	 * its files came with the tasks. */
	const char *store;
	const char *dir; /* absolute path of the folder with the data set's files */
	/* Program that generates the data set's files; NULL: they are not generated. */
	const struct dataset_make *make;
	const struct dataset_file *files;
	size_t n_files;
	const struct dataset_source *sources; /* files to fetch */
	size_t n_sources;
	const char *fetched; /* absolute path of the folder of fetched files; NULL: none */
	/* program that makes the data set's files from fetched ones; NULL: none */
	const struct dataset_make *layout;
	/* Python packages that the program `layout` needs, NULL-terminated; NULL: there is no such
	 * program */
	const char *const *packages;
	const char *how_to_get; /* sentence that tells users how to get the data set; NULL: none */
};

/*
 * Folders to search for `datasets/<id>.yaml`: task_dir, then root, then the installed folder. The
 * other members say how to load the data sets.
 */
struct dataset_places {
	const char *task_dir;
	const char *root;      /* folder that has subfolders `datasets` and `tasks`; NULL: none */
	const char *state_dir; /* the state folder; NULL: the user's default */
	/* number that selects generated data: another number gives other data */
	uint64_t data_seed;
	bool missing_ok; /* load data sets although files of theirs are missing */
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

/* Returns false if a program generates the data set's files and has not done so yet. */
bool dataset_is_there(const struct dataset *dataset);

/* Returns the first file of the data set that is missing; NULL: all files exist. */
const struct dataset_file *dataset_missing(const struct dataset *dataset);

/* Returns a sentence about the first missing file of the data set, in the arena. It says how to get
 * the file. NULL: all files exist, or a program makes them when they are needed. */
const char *dataset_tell_missing(struct arena *a, const struct dataset *dataset);

/* Compares each file of the data set with its sha256, if it has one. -EINVAL: a file differs; the
 * message names the first. */
int dataset_verify(const struct dataset *dataset, struct fh_error *err);

#endif
