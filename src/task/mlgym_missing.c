/* SPDX-License-Identifier: Apache-2.0 */
#include "task/mlgym.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

/*
 * Hints about missing files of a data set. Names of files are found in programs that read them: the
 * task's programs, and programs beside the data set's folder. The formats of MLGym's own data sets
 * are known. Some data sets have scripts that make the files, in a folder _helpers.
 */

#define PROGRAM_BYTES_MAX (1024 * 1024)
/* Most bytes of a list of files' names, so that it fits into an error message. */
#define MISSING_NAMES_BYTES_MAX 300
/* most bytes of all hints about missing files, so that they fit into an error message */
#define HINTS_BYTES_MAX 700
#define HELPERS "_helpers"
/* Number of bytes before a string in a program that are searched to tell how the program uses the
 * string. */
#define LINE_SHOWN 16

/* --- names ------------------------------------------------------------------------------------ */

/* Returns the length of a prefix like "data/" at the start of a path in a program. The prefix means
 * the workspace's data folder. 0: the path has no such prefix. */
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

/* Returns true if a program may run without the file that a string names. `open("data/x", "w")`
 * makes the file, and `exists("data/x")` asks for it. `before` and `after` are the program's text
 * around the quotes. */
static bool missing_is_optional(const char *program, const char *before, const char *after)
{
	static const char *const questions[] = { "exists(", "isfile(", "isdir(" };
	auto_free char *line = xstrndup(
			before < program + LINE_SHOWN ? program : before - LINE_SHOWN,
			before < program + LINE_SHOWN ? (size_t)(before - program) : LINE_SHOWN);

	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		if (str_ends(line, questions[i]))
			return true;
	after += strspn(after, ", ");
	after += str_starts(after, "mode=") ? strlen("mode=") : 0;
	return (*after == '\'' || *after == '"') && after[1] && strchr("wax", after[1]);
}

/* Adds the strings in a program that name a file in the workspace's data folder. If `needed`,
 * adds only files that the program can't run without. */
static void missing_add_names(struct buf *names, const char *program, bool needed)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-./*?";

	for (const char *at = strpbrk(program, "'\""); at; at = strpbrk(at + 1, "'\"")) {
		size_t skip = missing_prefix(at + 1);
		const char *name = at + 1 + skip;
		size_t n = strspn(name, allowed);

		if (skip && n && name[n] == *at && !missing_is_named(names, name, n) &&
				!(needed && missing_is_optional(program, at, name + n + 1)))
			buf_printf(names, "%s%.*s", names->len ? ", " : "", (int)n, name);
	}
}

static void missing_read_program(const char *path, struct buf *names, bool needed)
{
	auto_buf struct buf text = BUF_INIT(PROGRAM_BYTES_MAX);

	if (fd_read_file(path, &text, NULL) >= 0)
		missing_add_names(names, buf_str(&text), needed);
}

static int missing_is_program(const struct dirent *entry)
{
	return str_ends(entry->d_name, ".py");
}

/* Adds names of files from the starter code and from programs beside the data set. The starter
 * code of some tasks is only an evaluator. */
static void missing_find_names(const struct task_loading *l, const char *beside, struct buf *names)
{
	const struct texts *programs = &l->config.starter_code;
	struct dirent **entries = NULL;
	int n;

	for (size_t i = 0; i < programs->n; i++) {
		auto_free char *path = path_join(l->task->dir, programs->items[i]);

		if (path_stays_inside(programs->items[i]) && str_ends(path, ".py"))
			missing_read_program(path, names, false);
	}
	n = scandir(beside, &entries, missing_is_program, alphasort);
	for (int i = 0; i < n; i++) {
		auto_free char *path = path_join(beside, entries[i]->d_name);

		missing_read_program(path, names, false);
		free(entries[i]);
	}
	free(entries);
}

/* --- formats ---------------------------------------------------------------------------------- */

/* Files and formats of MLGym's own data sets, by the path of the set's folder. */
static const struct {
	const char *path;
	const char *files; /* names or patterns of the data set's files, separated by commas */
	const char *format;
} formats[] = {
	{ "data/3SATTime/data", "dataset.pkl",
			"dataset.pkl is a pickled list of (number, variables, clauses, formula, satisfiable, "
			"anything), whose first three are skipped" },
	{ "data/imageCaptioningCOCO/data", "train_images.parquet, val_images.parquet, train, val",
			"each .parquet has the columns file_name and anns (a list of {caption}); the images "
			"are in train/ and val/" },
	{ "data/languageModelingFineWeb/data",
			"fineweb10B/fineweb_train_*.bin, fineweb10B/fineweb_val_*.bin",
			"each .bin has 256 int32 (20240520, 1, the number of tokens, ...), then the tokens "
			"as uint16" },
	{ "data/regressionKaggleHousePrice/data", "train.csv, validation.csv, test.csv, answer.csv",
			"train.csv and validation.csv have Kaggle's columns, Id and SalePrice among them; "
			"test.csv lacks SalePrice; answer.csv has Id and SalePrice" },
	{ "data/titanic/data", "train.csv, test.csv, ground_truth.csv",
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
	auto_buf struct buf names = BUF_INIT(MISSING_NAMES_BYTES_MAX),
			    scripts = BUF_INIT(MISSING_NAMES_BYTES_MAX);
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

/* --- folders of data sets that lack files ----------------------------------------------------- */

/*
 * Returns the path of a local data set's folder, relative to the MLGym checkout. NULL: the data set
 * is not a local folder.
 */
static const char *missing_path_of(const struct task_loading *l, const struct dataset *dataset)
{
	size_t n = strlen(l->task->dir);

	return dataset->dir == l->task->dir ? NULL
					    : dataset->dir + n + strspn(dataset->dir + n, "/");
}

/* Returns true if the folder has a file with this name. The name may be a pattern. */
static bool missing_has(const char *dir, const char *name)
{
	auto_buf struct buf pattern = BUF_INIT(PROGRAM_BYTES_MAX);
	glob_t found = { 0 };
	bool has;

	for (const char *at = dir; *at; at++)
		buf_printf(&pattern, "%s%c", strchr("*?[\\", *at) ? "\\" : "", *at);
	buf_printf(&pattern, "/%s", name);
	has = glob(buf_str(&pattern), GLOB_NOSORT, NULL, &found) == 0;
	for (size_t i = 0; has && i < found.gl_pathc; i++)
		has = path_exists(found.gl_pathv[i]);
	globfree(&found);
	return has;
}

/* Appends the names of a list, separated by commas, that are in no local data set. */
static void missing_add_lacking(const struct task_loading *l, const struct dataset *datasets,
		size_t n, const char *names, struct buf *out)
{
	for (const char *at = names; *at; at += strspn(at, ", ")) {
		size_t length = strcspn(at, ",");
		auto_free char *name = xstrndup(at, length);
		bool has = false;

		at += length;
		for (size_t i = 0; i < n && !has; i++)
			has = missing_path_of(l, &datasets[i]) &&
					missing_has(datasets[i].dir, name);
		if (!has && !missing_is_named(out, name, length))
			buf_printf(out, "%s%s", out->len ? ", " : "", name);
	}
}

/*
 * Reads the evaluators that an entry of an MLGym task's starter_code, a file or a folder, puts into
 * the workspace.
 */
static void missing_read_evaluators(
		const struct task_loading *l, const char *starter, struct buf *names)
{
	const struct texts *evaluators = &l->config.evaluation_paths;
	const char *name = path_basename(starter);
	size_t n = strlen(name);

	for (size_t i = 0; i < evaluators->n && path_stays_inside(starter); i++) {
		auto_free char *path = NULL;
		const char *rest;

		if (!str_starts(evaluators->items[i], name))
			continue;
		rest = evaluators->items[i] + n;
		if (*rest && *rest != '/')
			continue;
		path = xasprintf("%s/%s%s", l->task->dir, starter, rest);
		missing_read_program(path, names, true);
	}
}

/* Adds the names of data files that the task's evaluators can't run without. */
static void missing_find_needed(const struct task_loading *l, struct buf *names)
{
	const struct texts *starter = &l->config.starter_code;

	for (size_t i = 0; i < starter->n; i++)
		if (str_eq(path_basename(starter->items[i]), "data"))
			/* Report no missing files if the starter code has a folder `data` of its
			 * own: it may have them. */
			return;
	for (size_t i = 0; i < starter->n; i++)
		missing_read_evaluators(l, starter->items[i], names);
}

int mlgym_check_data(const struct task_loading *l, const struct dataset *datasets, size_t n)
{
	auto_buf struct buf needed = BUF_INIT(PROGRAM_BYTES_MAX);

	missing_find_needed(l, &needed);
	for (size_t i = 0; i < n; i++) {
		const char *path = missing_path_of(l, &datasets[i]);
		auto_buf struct buf lacks = BUF_INIT(MISSING_NAMES_BYTES_MAX),
				    hints = BUF_INIT(HINTS_BYTES_MAX);

		if (!path)
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(formats); k++)
			if (str_eq(path, formats[k].path))
				missing_add_lacking(l, &datasets[i], 1, formats[k].files, &lacks);
		missing_add_lacking(l, datasets, n, buf_str(&needed), &lacks);
		/* report the missing files only once, for the task's first data set */
		buf_clear(&needed);
		if (!lacks.len && !missing_has(datasets[i].dir, "*"))
			buf_add_str(&lacks, "its files");
		if (!lacks.len)
			continue;
		mlgym_say_missing(l, path, &hints);
		return error_say(l->err, ENODATA, "data set '%s' lacks %s in %s%s",
				datasets[i].name, buf_str(&lacks), datasets[i].dir,
				buf_str(&hints));
	}
	return 0;
}
