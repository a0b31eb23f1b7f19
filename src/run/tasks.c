/* SPDX-License-Identifier: Apache-2.0 */
#include "run/tasks.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "run/mlgym_root.h"
#include "task/load.h"
#include "task/mlgym_find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALL_TASKS "all"
#define TASK_FILE "task.yaml"
#define MLGYM_TASKS "tasks/"
#define MLGYM_CONFIGS "configs/"

int run_tasks_root(const struct run_options *o, struct arena *arena, const char **root,
		struct fh_error *err)
{
	auto_free char *real = o->task_config ? realpath(o->task_config, NULL) : NULL;
	auto_free char *found = real ? mlgym_root_of_file(real) : NULL;

	if (*root || !found)
		return 0;
	if (o->episode.mlgym_root)
		return error_say(err, EINVAL,
				"--task_config_path: '%s' is a task of the checkout '%s', but "
				"--mlgym-root '' excludes checkouts",
				o->task_config, found);
	*root = arena_strdup(arena, found);
	return 0;
}

/*
 * Returns Fumehood's name of a task file of MLGym: its path in configs/tasks. NULL: the file is in
 * another folder.
 */
static const char *tasks_name_of(const char *path)
{
	if (str_starts(path, MLGYM_CONFIGS))
		path += strlen(MLGYM_CONFIGS);
	if (str_starts(path, MLGYM_TASKS))
		path += strlen(MLGYM_TASKS);
	return strchr(path, '/') ? NULL : path;
}

/* Warns that a task's file is missing, so that Fumehood's own task of the same name is played. */
static void tasks_warn_of_own(
		const struct run_options *o, const struct task_places *places, const char *name)
{
	struct task_found found;

	if (task_find(places, name, &found, NULL) < 0)
		return;
	warner_say(o->warner,
			"there is no file '%s' here: Fumehood's own task '%s' is played (--mlgym-root DIR "
			"names a checkout of MLGym)",
			o->task_config, name);
	task_found_release(&found);
}

static int tasks_of_file(const struct run_options *o, const struct task_places *places,
		struct arena *arena, const char **out, struct fh_error *err)
{
	const char *path = o->task_config;
	const char *root = places->mlgym_root;
	auto_free char *found = root ? mlgym_find(root, path) : NULL;
	auto_free char *real = realpath(found ? found : path, NULL);
	auto_free char *of = found ? mlgym_root_of_file(real) : NULL;
	auto_free char *real_root = root ? realpath(root, NULL) : NULL;
	const char *name = of ? path_basename(path) : tasks_name_of(path);

	/* Report a missing file instead of playing Fumehood's own task, if the task may be one of
	 * the MLGym checkout. */
	if (root && !(of && str_eq(of, real_root))) {
		*out = path;
		return 0;
	}
	if (real && !of) {
		auto_free char *dir = path_dirname(real);

		*out = arena_strdup(arena, dir);
		if (str_eq(path_basename(real), TASK_FILE))
			return 0;
		return error_say(err, EINVAL,
				"--task_config_path: '%s' is not a " TASK_FILE
				", and lies in no checkout of MLGym",
				path);
	}
	if (!name)
		return error_set(err, ENOENT, "--task_config_path: open '%s'", path);
	*out = arena_strndup(arena, name, strcspn(name, "."));
	if (!of)
		tasks_warn_of_own(o, places, *out);
	return 0;
}

/* Lists the names of all tasks that can be loaded, for `--task all`. */
static int tasks_list_all(const struct run_options *o, const struct task_places *places,
		struct arena *arena, struct texts *out, struct fh_error *err)
{
	char **ids;
	size_t n = 0;
	int r = task_list(places, &ids, err);

	if (r < 0)
		return r;
	while (ids[n])
		n++;
	*out = (struct texts){ .items = arena_array(arena, n + 1, sizeof(char *)) };
	for (size_t i = 0; i < n; i++) {
		struct fh_error why;
		struct task *task;

		if (task_load(places, ids[i], o->episode.variant, &task, &why) < 0) {
			warner_say(o->warner, "%s is left out: %s", ids[i], why.message);
			continue;
		}
		task_free(task);
		out->items[out->n++] = arena_strdup(arena, ids[i]);
	}
	xfree_strings(ids);
	return out->n ? 0 : error_say(err, ENOENT, "no task can be played on this machine");
}

int run_tasks_find(const struct run_options *o, const struct task_places *places,
		struct arena *arena, struct texts *out, bool *out_all, struct fh_error *err)
{
	*out = o->tasks;
	*out_all = o->tasks.n == 1 && str_eq(o->tasks.items[0], ALL_TASKS);
	if (*out_all)
		return tasks_list_all(o, places, arena, out, err);
	if (!o->task_config)
		return 0;
	*out = (struct texts){ .items = arena_alloc(arena, sizeof(char *)), .n = 1 };
	return tasks_of_file(o, places, arena, &out->items[0], err);
}
