/* SPDX-License-Identifier: Apache-2.0 */
#include "run/mlgym_root.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "run/warner.h"
#include "task/find.h"
#include "task/mlgym_find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const mlgym_root_variables[] = { "MLGYM_CONFIG_ROOT", "MLGYM_TASK_CONFIG_DIR" };

/*
 * Ends of the paths that may name an MLGym checkout: the checkout itself, or folders in it.
 */
static const char *const inside[] = { "", "/configs", "/configs/tasks" };

/* Returns true if a folder is an MLGym checkout: it has a task, configs/tasks/NAME.yaml. */
static bool mlgym_root_is_checkout(const char *dir)
{
	char **names = NULL;
	bool any = mlgym_list(dir, &names, NULL) >= 0 && *names;

	xfree_strings(names);
	return any;
}

int mlgym_root_find(struct arena *arena, const char *name, const char *folder, const char **out,
		struct fh_error *err)
{
	auto_free char *real = realpath(folder, NULL);

	if (!real)
		return error_say(err, EINVAL, "%s: '%s': %s (--mlgym-root '' uses no checkout)",
				name, folder, strerrordesc_np(errno));
	if (path_is_dir(real) && access(real, R_OK | X_OK) < 0)
		return error_say(err, EACCES, "%s: '%s': %s", name, folder, strerrordesc_np(errno));
	for (size_t i = 0; i < ARRAY_SIZE(inside); i++) {
		auto_free char *dir = NULL;

		if (!str_ends(real, inside[i]))
			continue;
		dir = xstrndup(real, strlen(real) - strlen(inside[i]));
		if (!mlgym_root_is_checkout(dir))
			continue;
		*out = arena_strdup(arena, dir);
		return 0;
	}
	return error_say(err, EINVAL,
			"%s: '%s' is not a checkout of MLGym: it has no task, configs/tasks/*.yaml "
			"(--mlgym-root '' uses no checkout)",
			name, folder);
}

char *mlgym_root_of_file(const char *path)
{
	auto_free char *dir = path_dirname(path);
	const char *tasks = inside[ARRAY_SIZE(inside) - 1];

	if (!str_ends(dir, tasks))
		return NULL;
	dir[strlen(dir) - strlen(tasks)] = '\0';
	return mlgym_root_is_checkout(dir) ? take_ptr(dir) : NULL;
}

/*
 * Returns true if the current folder is an MLGym checkout, and warns that it is used. MLGym's own
 * commands are run in a checkout.
 */
static bool mlgym_root_is_here(const struct warner *warner)
{
	if (!path_is_dir("mlgym") || !path_is_dir("configs/agents") || !mlgym_root_is_checkout("."))
		return false;
	warner_say(warner,
			"this folder is a checkout of MLGym: its tasks and agents are used, as by "
			"--mlgym-root . (--mlgym-root '' uses none)");
	return true;
}

int mlgym_root(struct arena *arena, const char *option, const struct warner *warner,
		const char **out, struct fh_error *err)
{
	*out = NULL;
	if (option)
		return *option ? mlgym_root_find(arena, "--mlgym-root", option, out, err) : 0;
	for (size_t i = 0; i < ARRAY_SIZE(mlgym_root_variables); i++) {
		const char *folder = getenv(mlgym_root_variables[i]);

		if (folder && *folder)
			return mlgym_root_find(arena,
					arena_printf(arena, "$%s", mlgym_root_variables[i]), folder,
					out, err);
	}
	if (mlgym_root_is_here(warner))
		*out = ".";
	return 0;
}
