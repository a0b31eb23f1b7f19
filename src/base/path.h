/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

/* Paths of files. A returned `char *` is a heap string that the caller frees. */

/* "a" and "b" give "a/b"; an absolute b gives b. Nothing is resolved. */
char *path_join(const char *a, const char *b);

/* "a/b/c" gives "a/b", "a" gives ".", "/a" gives "/". A slash at the end does not count. */
char *path_dirname(const char *path);

/* The last part, within path: "a/b" gives "b". path must not end in a slash. */
const char *path_basename(const char *path);

/* Removes ".", "..", double slashes and a slash at the end, without looking at files: "a/./b/../c"
 * gives "a/c". "../a" stays, and "/../a" gives "/a". */
char *path_normalise(const char *path);

/* Makes path absolute and normal. It need not exist. */
int path_absolute(const char *path, char **out, struct fh_error *err);

/* True for a relative path that "..", without links, does not lead out of its folder. */
bool path_stays_inside(const char *path);

/* Resolves the links of `path` in `folder`; both must exist. -EPERM if the result is outside of
 * `folder`: path is absolute, has "..", or a link leads outside. */
int path_beneath(const char *folder, const char *path, char **out, struct fh_error *err);

/* The same for a path to be written: its last parts need not exist. -EPERM also for a dangling
 * link, since writing would create its target. */
int path_beneath_new(const char *folder, const char *path, char **out, struct fh_error *err);

/* True if path is folder or beneath it. Compares normal paths without looking at files. */
bool path_is_within(const char *path, const char *folder);

/* True if `folder` is path or among the folders above it. It compares devices and inodes, and so
 * sees through links and mounts. If path does not exist yet, its existing folders count. */
bool path_lies_within(const char *path, const char *folder);

bool path_exists(const char *path);
bool path_is_dir(const char *path);

/* Makes the folder, and missing folders above it. */
int path_mkdirs(const char *path, mode_t mode, struct fh_error *err);

#endif
