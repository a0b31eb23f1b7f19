/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_WALK_H
#define BASE_WALK_H

#include <fts.h>

/*
 * Opens a walk of fts(3) through the file or folder `path`. Gives NULL and sets errno on failure. A
 * variable with auto_walk is closed at the end of its scope.
 */
FTS *walk_open(const char *path, int options, int (*compare)(const FTSENT **, const FTSENT **));
void walk_close(FTS *const *walk);

#define auto_walk __attribute__((cleanup(walk_close)))

#endif
