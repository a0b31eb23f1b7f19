/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/mlgym_root.h"

#include "base/path.h"
#include "base/scope.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* How far below the root the folder is that a variable names. */
static const struct {
	const char *name;
	int depth;
} variables[] = {
	{ "MLGYM_CONFIG_ROOT", 1 },
	{ "MLGYM_TASK_CONFIG_DIR", 2 },
};

static void keep_above(const char *folder, int depth, char out[PATH_MAX])
{
	auto_free char *real = realpath(folder, NULL);

	snprintf(out, PATH_MAX, "%s", real ? real : folder);
	for (int i = 0; i < depth; i++) {
		auto_free char *above = path_dirname(out);

		snprintf(out, PATH_MAX, "%s", above);
	}
}

const char *mlgym_root(const char *option)
{
	static char found[PATH_MAX];

	if (option)
		return *option ? option : NULL;
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *folder = getenv(variables[i].name);

		if (folder && *folder) {
			keep_above(folder, variables[i].depth, found);
			return found;
		}
	}
	return NULL;
}
