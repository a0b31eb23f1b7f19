/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_REBUILD_INSIDE_H
#define VIEW_REBUILD_INSIDE_H

#include "view/rebuild.h"

/* The files of a rebuild, for those who add versions. */

/* Splits a text into lines. A newline at its end ends the last line. */
struct window rebuild_split(struct arena *a, const char *text, size_t n);

struct rebuilt_file *rebuild_find(struct rebuild *b, const char *path);

/* Finds a file, or adds it. NULL: there are too many. */
struct rebuilt_file *rebuild_need(struct rebuild *b, const char *path);

/* Returns the newest version. NULL: none, or the file was removed. */
struct rebuilt_version *rebuild_now(const struct rebuilt_file *f);

/* Copies the lines of a version into the rebuild's memory. False: there is no room. */
bool rebuild_keep(struct rebuild *b, struct rebuilt_version *v);

void rebuild_add(struct rebuild *b, const char *path, struct rebuilt_version v);

#endif
