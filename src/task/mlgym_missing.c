/* SPDX-License-Identifier: Apache-2.0 */
#include "task/mlgym.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/*
 * Hints about missing files of a data set. Two kinds of programs name the files that they read: the
 * task's programs, and programs beside the data set's folder. The formats of MLGym's own data sets
 * are known. Some data sets have scripts that make the files, in a folder _helpers.
 */
#define PROGRAM_BYTES_MAX (1024 * 1024)
/* cap of the list of names, so that the list fits into an error message */
#define NAMES_BYTES_MAX 300
#define HELPERS "_helpers"

/* --- names ------------------------------------------------------------------------------------ */

/* Returns the length of a prefix such as "data/", which stands for the workspace's data folder; 0:
 * none. */
static size_t missing_prefix(const char *text)
{
	static const char *const prefixes[] = { "data/", "./data/", "/home/agent/workspace/data/" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (str_starts(text, prefixes[i]))
			return strlen(prefixes[i]);
	return 0;
}

static bool missing_is_named(const struct buf *names, const char *name, size_t n)
{
	const char *at = buf_str(names);

	while (*at) {
		size_t length = strcspn(at, ",");

		if (length == n && memcmp(at, name, n) == 0)
			return true;
		at += length;
		at += strspn(at, ", ");
	}
	return false;
}

/* Adds the strings in a program that name a file in the workspace's data folder. */
static void missing_add_names(struct buf *names, const char *program)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-./*?";

	for (const char *at = strpbrk(program, "'\""); at; at = strpbrk(at + 1, "'\"")) {
		size_t skip = missing_prefix(at + 1);
		const char *name = at + 1 + skip;
		size_t n = strspn(name, allowed);

		if (skip && n && name[n] == *at && !missing_is_named(names, name, n))
			buf_printf(names, "%s%.*s", names->len ? ", " : "", (int)n, name);
	}
}

static void missing_read_program(const char *path, struct buf *names)
{
	auto_buf struct buf text = BUF_INIT(PROGRAM_BYTES_MAX);

	if (fd_read_file(path, &text, NULL) >= 0)
		missing_add_names(names, buf_str(&text));
}

static int missing_is_program(const struct dirent *entry)
{
	return str_ends(entry->d_name, ".py");
}

/* Searches the starter code and the programs beside the data set. A task may ship only its
 * evaluator. */
static void missing_find_names(const struct task_loading *l, const char *beside, struct buf *names)
{
	const struct texts *programs = &l->config.starter_code;
	struct dirent **entries = NULL;
	int n;

	for (size_t i = 0; i < programs->n; i++) {
		auto_free char *path = path_join(l->task->dir, programs->items[i]);

		if (path_stays_inside(programs->items[i]) && str_ends(path, ".py"))
			missing_read_program(path, names);
	}
	n = scandir(beside, &entries, missing_is_program, alphasort);
	for (int i = 0; i < n; i++) {
		auto_free char *path = path_join(beside, entries[i]->d_name);

		missing_read_program(path, names);
		free(entries[i]);
	}
	free(entries);
}

/* --- formats ---------------------------------------------------------------------------------- */

/* Formats of MLGym's data sets, by the path of the folder. */
static const struct {
	const char *path, *format;
} formats[] = {
	{ "data/3SATTime/data",
			"dataset.pkl is a pickled list of (number, variables, clauses, formula, satisfiable, "
			"anything), whose first three are skipped" },
	{ "data/imageCaptioningCOCO/data",
			"each .parquet has the columns file_name and anns (a list of {caption}); the images "
			"are in train/ and val/" },
	{ "data/languageModelingFineWeb/data",
			"each .bin has 256 int32 (20240520, 1, the number of tokens, ...), then the tokens "
			"as uint16" },
	{ "data/regressionKaggleHousePrice/data",
			"train.csv and validation.csv have Kaggle's columns, Id and SalePrice among them; "
			"test.csv lacks SalePrice; answer.csv has Id and SalePrice" },
	{ "data/titanic/data",
			"train.csv has Kaggle's columns, test.csv the same without Survived, ground_truth.csv "
			"PassengerId and Survived" },
};

/* --- scripts ---------------------------------------------------------------------------------- */

static int missing_is_script(const struct dirent *entry)
{
	return str_ends(entry->d_name, ".py") || str_ends(entry->d_name, ".sh");
}

static void missing_add_scripts(const char *beside, struct buf *out)
{
	auto_free char *dir = path_join(beside, HELPERS);
	struct dirent **entries = NULL;
	int n = scandir(dir, &entries, missing_is_script, alphasort);

	for (int i = 0; i < n; i++) {
		buf_printf(out, "%s%s", i ? ", " : "", entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	if (n > 0)
		buf_printf(out, " in %s", dir);
}

void mlgym_say_missing(const struct task_loading *l, const char *path, struct buf *out)
{
	auto_buf struct buf names = BUF_INIT(NAMES_BYTES_MAX), scripts = BUF_INIT(NAMES_BYTES_MAX);
	auto_free char *above = path_dirname(path);
	auto_free char *beside = path_join(l->task->dir, above);

	missing_find_names(l, beside, &names);
	missing_add_scripts(beside, &scripts);
	if (names.len)
		buf_printf(out, "; its programs read %s there", buf_str(&names));
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (str_eq(path, formats[i].path))
			buf_printf(out, "; %s", formats[i].format);
	if (scripts.len)
		buf_printf(out, "; they are made by %s, run in that folder", buf_str(&scripts));
	else
		buf_add_str(out, "; no script of the checkout makes them");
}
