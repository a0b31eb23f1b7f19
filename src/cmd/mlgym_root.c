/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/mlgym_root.h"

#include "base/path.h"
#include "base/scope.h"
#include "cmd/cmd.h"

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

/* MLGym's own command lines are for its folder. */
static bool is_here(void)
{
	static const char *const parts[] = { "mlgym", "configs/tasks", "configs/agents" };
	static bool said;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!path_is_dir(parts[i]))
			return false;
	if (!said)
		cmd_warn("this folder is a checkout of MLGym: its tasks and agents are used, as by "
			 "--mlgym-root . (--mlgym-root '' uses none)");
	said = true;
	return true;
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
	if (is_here())
		return ".";
	return NULL;
}
