/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Paths of the file system. What is returned as `char *` is a heap string that the caller frees. */

/* "a" and "b" give "a/b"; an absolute b gives b. Nothing is resolved. */
char *path_join(const char *a, const char *b);

/* "a/b/c" gives "a/b", "a" gives ".", "/a" gives "/". A slash at the end does not count. */
char *path_dirname(const char *path);

/* The last part, within path: "a/b" gives "b". path must not end in a slash. */
const char *path_basename(const char *path);

/* Without ".", "..", double slashes and one at the end, by the text alone: "a/./b/../c" gives "a/c".
 * ".." that can't be taken away stays ("../a") or, after the root, goes ("/../a" gives "/a"). */
char *path_normalise(const char *path);

/* Absolute (by the working directory) and normalised. It need not exist. */
int path_absolute(const char *path, char **out, struct fh_error *err);

/* True for a relative path that does not climb out of where it starts, by the text alone. */
bool path_stays_inside(const char *path);

/*
 * The real path, without symbolic links, of `path` in `folder`, both existing. -EPERM when that is
 * not beneath folder: path is absolute, climbs, or a link leads outside.
 */
int path_beneath(const char *folder, const char *path, char **out, struct fh_error *err);

/* The same of a path that is to be written, whose last parts need not be there. -EPERM for a link that leads nowhere,
 * too: who writes there would make what it names. */
int path_beneath_new(const char *folder, const char *path, char **out, struct fh_error *err);

/* Whether path is folder or lies beneath it, by the text alone: both normalised. */
bool path_is_within(const char *path, const char *folder);

/* The same as the file system has it, whatever links and mounts either path goes by: is `folder` among the
 * folders that path lies in? A path that is not there yet lies where it would. */
bool path_lies_within(const char *path, const char *folder);

bool path_exists(const char *path);
bool path_is_dir(const char *path);

/* Makes the folder and those above it that are missing. */
int path_mkdirs(const char *path, mode_t mode, struct fh_error *err);

#endif
