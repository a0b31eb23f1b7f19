/* SPDX-License-Identifier: Apache-2.0 */
#include "task/requirements.h"

#include "base/arena.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PYTHON "/usr/bin/python3"
/* Line in the file pyvenv.cfg of a virtual environment that lets it use this machine's packages. */
#define SEES_SYSTEM "include-system-site-packages = true"
#define REQUIREMENTS_FILE_BYTES_MAX (1 << 20)
#define NAME_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

/* Normalises a package's name as pip does: "Foo.Bar__baz" becomes "foo-bar-baz". */
static char *requirement_normalise(struct arena *a, const char *name, size_t n)
{
	char *text = arena_strndup(a, name, n), *to = text;

	for (const char *c = text; *c; c++) {
		bool dash = *c == '-' || *c == '_' || *c == '.';

		if (dash && to > text && to[-1] == '-')
			continue;
		*to++ = dash ? '-' : *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
	}
	*to = '\0';
	return text;
}

/* Finds the metadata of this machine's Python packages: folders and files like "Name-1.0.dist-info"
 * and "Name-1.0-py3.11.egg-info". */
static void requirements_find_system(int flags, glob_t *out)
{
	static const char *const homes[] = { "/usr/lib", "/usr/lib64", "/usr/local/lib",
		"/usr/local/lib64" };
	auto_free char *real = realpath(PYTHON, NULL);
	const char *const versions[] = { "python3", real ? path_basename(real) : "python3" };

	for (size_t i = 0; i < ARRAY_SIZE(homes); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(versions); k++) {
			char pattern[512];

			snprintf(pattern, sizeof(pattern), "%s/%s/*-packages/*-info", homes[i],
					versions[k]);
			glob(pattern, flags, NULL, out);
			flags |= GLOB_APPEND;
		}
	}
}

static void requirements_find_installed(const char *python, glob_t *out)
{
	auto_buf struct buf config = BUF_INIT(REQUIREMENTS_FILE_BYTES_MAX);
	auto_free char *pattern = NULL, *path = NULL;

	if (!python) {
		requirements_find_system(GLOB_NOSORT, out);
		return;
	}
	pattern = xasprintf("%s/lib*/python3*/site-packages/*-info", python);
	glob(pattern, GLOB_NOSORT, NULL, out);
	path = path_join(python, "pyvenv.cfg");
	if (fd_read_file(path, &config, NULL) == 0 && strstr(buf_str(&config), SEES_SYSTEM))
		requirements_find_system(GLOB_NOSORT | GLOB_APPEND, out);
}

static bool requirement_is_installed(const glob_t *installed, const char *name)
{
	for (size_t i = 0; i < installed->gl_pathc; i++) {
		auto_arena struct arena a = ARENA_INIT;
		const char *file = path_basename(installed->gl_pathv[i]);

		if (str_eq(requirement_normalise(&a, file, strcspn(file, "-")), name))
			return true;
	}
	return false;
}

/* Returns the length of the package's name at the start of a line of requirements.txt. 0: the line
 * is skipped. */
static size_t requirement_name_length(const char *line, size_t n)
{
	size_t length = strspn(line, NAME_CHARS);

	if (!length || length > n || *line == '-' || memchr(line, ';', n) || line[length] == ':' ||
			line[length] == '/' || line[length] == '+')
		/*
		 * skip a line with an address or a path, such as "https://...", "./folder",
		 * "git+https://..."
		 */
		return 0;
	return length;
}

/* Appends a package of `n` letters to the list of missing ones, unless it is installed. */
static void requirement_look(
		const glob_t *installed, const char *name, size_t n, struct buf *missing)
{
	auto_arena struct arena arena = ARENA_INIT;

	if (!requirement_is_installed(installed, requirement_normalise(&arena, name, n)))
		buf_printf(missing, "%s%.*s", missing->len ? ", " : "", (int)n, name);
}

static int requirements_look(const char *path, const glob_t *installed, struct buf *missing,
		struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(REQUIREMENTS_FILE_BYTES_MAX);
	int r = fd_read_file(path, &text, err);

	if (r < 0)
		return r;
	for (const char *line = buf_str(&text); *line;) {
		size_t length, n;

		line += strspn(line, " \t\r\n");
		n = strcspn(line, "\n");
		length = requirement_name_length(line, n);
		if (length)
			requirement_look(installed, line, length, missing);
		line += n;
	}
	if (missing->len)
		buf_printf(missing, " of %s", path_basename(path));
	return 0;
}

int requirements_missing(
		const struct task *task, const char *python, struct buf *out, struct fh_error *err)
{
	glob_t installed = { 0 };
	int r = 0;

	requirements_find_installed(python, &installed);
	for (const char *const *name = task->packages; name && *name; name++)
		requirement_look(&installed, *name, strlen(*name), out);
	if (task->requirements)
		r = requirements_look(task->requirements, &installed, out, err);
	globfree(&installed);
	return r;
}
