/* SPDX-License-Identifier: Apache-2.0 */
#include "aci.h"
#include "editor.h"

#include "base/mem.h"
#include "base/scope.h"

#include <errno.h>
#include <fnmatch.h>
#include <fts.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* search_dir, search_file: search by basic regular expressions, as grep does. find_file: finds
 * files by a pattern of the name. */

#define SHOWN_MAX 100 /* search_dir lists no files if more than this number match */
#define FOUND_MAX 100000

/* Compiles a regular expression. Nobody frees `out`: the process ends soon. */
static bool search_compile(regex_t *out, const char *term)
{
	char why[256];
	int r = regcomp(out, term, REG_NOSUB);

	if (r == 0)
		return true;
	regerror(r, out, why, sizeof(why));
	printf("\"%s\" is not a regular expression: %s\n", term, why);
	return false;
}

static bool search_matches(const regex_t *regex, const struct lines_of *lines, size_t i)
{
	auto_free char *line = xasprintf("%.*s", (int)lines->length[i], lines->at[i]);

	return regexec(regex, line, 0, NULL, 0) == 0;
}

/* Returns the real path of the folder `given`; NULL means the current folder. */
static char *search_folder(const char *given)
{
	struct stat st;
	char *path = realpath(given ? given : ".", NULL);

	if (path && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return path;
	printf("There is no folder %s.\n", given ? given : ".");
	free(path);
	return NULL;
}

/* --- a folder --------------------------------------------------------------------------------- */

struct found {
	char *path;
	size_t n; /* number of matching lines */
};

struct finds {
	struct found *items;
	size_t n;
};

static void finds_add(struct finds *all, const char *path, size_t n)
{
	if (all->n == FOUND_MAX)
		return;
	all->items = xgrow(all->items, all->n, sizeof(*all->items));
	all->items[all->n++] = (struct found){ xstrdup(path), n };
}

static int finds_by_path(const void *a, const void *b)
{
	return strcmp(((const struct found *)a)->path, ((const struct found *)b)->path);
}

typedef size_t look_fn(const char *path, const char *name, const void *what);

/* Lists the regular files beneath a folder for which look() returns more than 0. */
static struct finds search_walk(char *folder, bool hidden_too, look_fn *look, const void *what)
{
	char *const roots[] = { folder, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	struct finds all = { 0 };
	FTSENT *entry;

	while (tree && (entry = fts_read(tree))) {
		bool hidden = entry->fts_level > 0 && entry->fts_name[0] == '.';
		size_t n;

		if (hidden && !hidden_too) {
			fts_set(tree, entry, FTS_SKIP);
			continue;
		}
		if (entry->fts_info != FTS_F)
			continue;
		n = look(entry->fts_path, entry->fts_name, what);
		if (n)
			finds_add(&all, entry->fts_path, n);
	}
	if (tree)
		fts_close(tree);
	if (all.n)
		qsort(all.items, all.n, sizeof(*all.items), finds_by_path);
	return all;
}

static size_t search_count_lines(const char *path, const char *name, const void *what)
{
	auto_lines_of struct lines_of lines = { 0 };
	struct stat st;
	size_t n = 0;

	if (stat(path, &st) < 0 || st.st_size > EDITOR_FILE_BYTES_MAX || !lines_read(path, &lines))
		return 0;
	if (lines.bytes.len && memchr(lines.bytes.data, '\0', lines.bytes.len))
		return 0; /* skip a binary file */
	for (size_t i = 0; i < lines.n; i++)
		n += search_matches(what, &lines, i);
	return n;
}

static int search_run_dir(int argc, char **argv)
{
	auto_free char *folder = NULL;
	struct finds all;
	size_t sum = 0;
	regex_t regex;

	if (argc < 2 || argc > 3)
		return aci_usage(&aci_search_dir, NULL);
	folder = search_folder(argc > 2 ? argv[2] : NULL);
	if (!folder || !search_compile(&regex, argv[1]))
		return 1;
	all = search_walk(folder, false, search_count_lines, &regex);
	for (size_t i = 0; i < all.n; i++)
		sum += all.items[i].n;
	if (!all.n) {
		printf("\"%s\" is nowhere in %s.\n", argv[1], folder);
		return 1;
	}
	if (all.n > SHOWN_MAX) {
		printf("\"%s\" is in %zu files of %s: search for something rarer.\n", argv[1],
				all.n, folder);
		return 1;
	}
	printf("%zu matches of \"%s\" in %s:\n", sum, argv[1], folder);
	for (size_t i = 0; i < all.n; i++)
		printf("%s (%zu matches)\n", all.items[i].path, all.items[i].n);
	return 0;
}

/* --- a file ----------------------------------------------------------------------------------- */

static int search_file(const char *term, const char *path)
{
	auto_lines_of struct lines_of lines = { 0 };
	size_t n = 0;
	regex_t regex;

	if (!lines_read(path, &lines) || !search_compile(&regex, term))
		return 1;
	for (size_t i = 0; i < lines.n; i++)
		n += search_matches(&regex, &lines, i);
	if (!n) {
		printf("\"%s\" is nowhere in %s.\n", term, path);
		return 1;
	}
	printf("%zu matches of \"%s\" in %s:\n", n, term, path);
	for (size_t i = 0; i < lines.n; i++)
		if (search_matches(&regex, &lines, i))
			printf("Line %zu:%.*s\n", i + 1, (int)lines.length[i], lines.at[i]);
	return 0;
}

static int search_run_file(int argc, char **argv)
{
	auto_free char *path = NULL;
	struct editor e;

	if (argc < 2 || argc > 3 || !*argv[1])
		return aci_usage(&aci_search_file, NULL);
	if (argc > 2 && *argv[2]) {
		path = realpath(argv[2], NULL);
		if (!path)
			printf("%s: %s\n", argv[2], strerror(errno));
		return path ? search_file(argv[1], path) : 1;
	}
	editor_load(&e);
	return editor_has_file(&e) ? search_file(argv[1], e.file) : 1;
}

/* --- by name ---------------------------------------------------------------------------------- */

static size_t search_has_name(const char *path, const char *name, const void *what)
{
	return fnmatch(what, name, 0) == 0;
}

static int search_run_find(int argc, char **argv)
{
	auto_free char *folder = NULL;
	struct finds all;

	if (argc < 2 || argc > 3)
		return aci_usage(&aci_find_file, NULL);
	folder = search_folder(argc > 2 ? argv[2] : NULL);
	if (!folder)
		return 1;
	all = search_walk(folder, true, search_has_name, argv[1]);
	if (!all.n) {
		printf("No file is called %s in %s.\n", argv[1], folder);
		return 1;
	}
	printf("%zu files called %s in %s:\n", all.n, argv[1], folder);
	for (size_t i = 0; i < all.n; i++)
		puts(all.items[i].path);
	return 0;
}

const struct aci_command aci_search_dir = { "search_dir", "search_dir <search_term> [<dir>]",
	search_run_dir };
const struct aci_command aci_search_file = { "search_file", "search_file <search_term> [<file>]",
	search_run_file };
const struct aci_command aci_find_file = { "find_file", "find_file <file_name> [<dir>]",
	search_run_find };
