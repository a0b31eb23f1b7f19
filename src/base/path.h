/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Paths of files. A returned `char *` is a heap string that the caller frees. */

/* Joins two paths: "a" and "b" give "a/b"; an absolute b gives b. Does not resolve links or
 * "..". */
char *path_join(const char *a, const char *b);

/* The parent folder: "a/b/c" gives "a/b", "a" gives ".", "/a" gives "/". A trailing slash is
 * ignored. */
char *path_dirname(const char *path);

/* The last part of a path: "a/b" gives "b", "a/" gives "". The result points into `path`. */
const char *path_basename(const char *path);

/* Removes ".", "..", double slashes and a trailing slash, without looking at the disk. "a/./b/../c"
 * gives "a/c", "../a" stays, and "/../a" gives "/a". */
char *path_normalise(const char *path);

/* Makes a path absolute and normalises it. The file need not exist. */
int path_absolute(const char *path, char **out, struct fh_error *err);

/* True if `path` is relative and its ".." parts never climb above its start. Ignores links. */
bool path_stays_inside(const char *path);

/* Resolves the links of `path`, a path relative to `folder`; both must exist. -EPERM if the result
 * is outside of `folder`: `path` is absolute, has "..", or a link leads outside. */
int path_beneath(const char *folder, const char *path, char **out, struct fh_error *err);

/* Like path_beneath() for a file to be written: the last parts of `path` need not exist. Also
 * -EPERM for a dangling link, because writing would create the link's target. */
int path_beneath_new(const char *folder, const char *path, char **out, struct fh_error *err);

/* True if `path` is `folder` or beneath it. Compares the texts of normalised paths, without looking
 * at the disk. */
bool path_is_within(const char *path, const char *folder);

/* True if `folder` is `path` or one of the folders above `path`. Compares devices and inodes, and
 * so sees through links and mounts. If `path` does not exist, only its existing parents are
 * compared. */
bool path_lies_within(const char *path, const char *folder);

bool path_exists(const char *path);
bool path_is_dir(const char *path);

/* Makes the folder at `path`, and missing parents. */
int path_mkdirs(const char *path, mode_t mode, struct fh_error *err);

#endif
