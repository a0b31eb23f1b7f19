/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *path_join(const char *a, const char *b)
{
	if (*b == '/' || !*a)
		return xstrdup(b);
	return xasprintf("%s%s%s", a, str_ends(a, "/") ? "" : "/", b);
}

/* Length of `path` without trailing slashes. The root directory keeps one slash. */
static size_t path_trimmed_length(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return n;
}

char *path_dirname(const char *path)
{
	size_t n = path_trimmed_length(path);

	while (n && path[n - 1] != '/')
		n--;
	if (!n)
		return xstrdup(".");
	while (n > 1 && path[n - 1] == '/')
		n--;
	return xstrndup(path, n);
}

const char *path_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Removes the last part of the path `out`. False if the path is empty or the root, or if the part
 * is "..". */
static bool path_drop_last_part(char *out, size_t *n, size_t root)
{
	size_t at = *n;

	while (at > root && out[at - 1] != '/')
		at--;
	if (*n == root || (*n - at == 2 && out[at] == '.' && out[at + 1] == '.'))
		return false;
	*n = at > root ? at - 1 : root;
	return true;
}

char *path_normalise(const char *path)
{
	char *out = xcalloc(strlen(path) + 2, 1);
	size_t root = *path == '/';
	size_t n = root;

	if (root)
		out[0] = '/';
	while (*path) {
		size_t length = strcspn(path, "/");
		bool up = length == 2 && path[0] == '.' && path[1] == '.';

		if (length && !(length == 1 && *path == '.') &&
				!(up && (path_drop_last_part(out, &n, root) || root))) {
			if (n > root)
				out[n++] = '/';
			memcpy(out + n, path, length);
			n += length;
		}
		path += length + (path[length] == '/');
	}
	if (!n)
		out[n++] = '.';
	out[n] = '\0';
	return out;
}

int path_absolute(const char *path, char **out, struct fh_error *err)
{
	auto_free char *cwd = NULL;
	auto_free char *joined = NULL;

	if (*path != '/') {
		cwd = getcwd(NULL, 0);
		if (!cwd)
			return error_set(err, errno, "find the working directory");
	}
	joined = path_join(cwd ? cwd : "", path);
	*out = path_normalise(joined);
	return 0;
}

bool path_stays_inside(const char *path)
{
	auto_free char *normal = path_normalise(path);

	return *path && *path != '/' && !str_eq(normal, "..") && !str_starts(normal, "../");
}

int path_beneath(const char *folder, const char *path, char **out, struct fh_error *err)
{
	auto_free char *root = realpath(folder, NULL);
	auto_free char *joined = NULL;
	auto_free char *real = NULL;
	size_t n;

	if (!root)
		return error_set(err, errno, "find '%s'", folder);
	if (!path_stays_inside(path))
		return error_say_kind(
				err, FH_ERROR_INPUT, EPERM, "'%s' leads out of '%s'", path, folder);
	joined = path_join(root, path);
	real = realpath(joined, NULL);
	if (!real)
		return error_set(err, errno, "find '%s' in '%s'", path, folder);
	n = strlen(root);
	if (!str_starts(real, root) || (n > 1 && real[n] != '\0' && real[n] != '/'))
		return error_say_kind(err, FH_ERROR_INPUT, EPERM,
				"'%s' leads out of '%s' by a symbolic link", path, folder);
	*out = take_ptr(real);
	return 0;
}

int path_beneath_new(const char *folder, const char *path, char **out, struct fh_error *err)
{
	auto_free char *joined = path_join(folder, path);
	auto_free char *above = NULL, *real = NULL;
	struct fh_error why;
	struct stat st;
	int r = path_beneath(folder, path, out, &why);

	if (r == 0)
		return 0;
	if (r == -ENOENT && lstat(joined, &st) == 0)
		return error_say_kind(err, FH_ERROR_INPUT, EPERM,
				"'%s' in '%s' is a symbolic link that leads nowhere", path, folder);
	if (r != -ENOENT || !path_exists(folder))
		return error_say(err, -r, "%s", why.message);
	above = path_dirname(path);
	r = path_beneath_new(folder, above, &real, err);
	if (r < 0)
		return r;
	*out = path_join(real, path_basename(path));
	return 0;
}

bool path_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

bool path_is_within(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 &&
			(path[n] == '/' || path[n] == '\0' || (n && folder[n - 1] == '/'));
}

/* Real path (no links) of the longest existing start of `path`, a heap string; NULL: none. */
static char *path_real_start(const char *path)
{
	char *at = xstrdup(path), *real;

	while (!(real = realpath(at, NULL)) && strchr(at, '/') && at[1]) {
		char *above = path_dirname(at);

		free(at);
		at = above;
	}
	free(at);
	return real;
}

bool path_lies_within(const char *path, const char *folder)
{
	struct stat wanted, st;
	auto_free char *at = path_real_start(path);

	if (!at || stat(folder, &wanted) < 0)
		return false;
	for (;;) {
		char *above;

		if (stat(at, &st) == 0 && st.st_dev == wanted.st_dev && st.st_ino == wanted.st_ino)
			return true;
		if (str_eq(at, "/"))
			return false;
		above = path_dirname(at);
		free(at);
		at = above;
	}
}

bool path_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int path_mkdirs(const char *path, mode_t mode, struct fh_error *err)
{
	auto_free char *copy = path_normalise(path);

	for (char *p = copy + 1;; p++) {
		char c = *p;
		int error;

		if (c != '/' && c != '\0')
			continue;
		*p = '\0';
		error = mkdir(copy, mode) < 0 ? errno : 0;
		/* For an existing folder, mkdir() may fail with EROFS or EACCES instead of
		 * EEXIST. */
		if (error && !path_is_dir(copy))
			return error_set(err, error == EEXIST ? ENOTDIR : error, "make folder '%s'",
					copy);
		*p = c;
		if (!c)
			return 0;
	}
}
