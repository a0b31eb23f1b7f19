/* SPDX-License-Identifier: Apache-2.0 */
#include "base/walk.h"

#include "base/exec.h"

FTS *walk_open(const char *path, int options, int (*compare)(const FTSENT **, const FTSENT **))
{
	return fts_open(exec_list((const char *[]){ path, NULL }), options, compare);
}

void walk_close(FTS *const *walk)
{
	if (*walk)
		fts_close(*walk);
}
