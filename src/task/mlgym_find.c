/* SPDX-License-Identifier: Apache-2.0 */
#include "task/mlgym.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "config/yaml.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TASKS_DIR "configs/tasks"
#define TASKS_MAX 10000
#define YAML ".yaml"

static int mlgym_is_task(const struct dirent *entry)
{
	return *entry->d_name != '.' && str_ends(entry->d_name, YAML);
}

static int mlgym_by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* A link that leads nowhere is no task. */
static bool mlgym_is_file(const char *dir, const char *name)
{
	auto_free char *path = path_join(dir, name);

	return path_exists(path) && !path_is_dir(path);
}

int mlgym_list(const char *root, char ***out, struct fh_error *err)
{
	auto_free char *dir = path_join(root, TASKS_DIR);
	struct dirent **entries = NULL;
	int n = scandir(dir, &entries, mlgym_is_task, mlgym_by_name);
	size_t n_names = 0;
	char **names;

	if (n < 0)
		return error_set(err, errno, "list tasks of the MLGym checkout in '%s'", dir);
	names = xcalloc((size_t)n + 1, sizeof(*names));
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;

		if (n_names < TASKS_MAX && mlgym_is_file(dir, name))
			names[n_names++] = xstrndup(name, strlen(name) - strlen(YAML));
		free(entries[i]);
	}
	free(entries);
	*out = names;
	return 0;
}

/* The path of a file that is there, else NULL. */
static char *mlgym_existing(char *path)
{
	char *real = path_exists(path) && !path_is_dir(path) ? realpath(path, NULL) : NULL;

	free(path);
	return real;
}

static bool mlgym_holds_id(const char *path, const char *id)
{
	auto_arena struct arena arena = ARENA_INIT;
	const struct node *root = NULL;
	const struct node *node;

	if (yaml_load(&arena, path, &root, NULL) < 0)
		return false;
	node = node_get(root, "id");
	return node && node->kind == NODE_SCALAR && str_eq(node->text, id);
}

static char *mlgym_find_by_id(const char *root, const char *id)
{
	char *found = NULL;
	char **names;

	if (mlgym_list(root, &names, NULL) < 0)
		return NULL;
	for (char **name = names; *name && !found; name++) {
		auto_free char *path = xasprintf("%s/" TASKS_DIR "/%s" YAML, root, *name);

		if (mlgym_holds_id(path, id))
			found = realpath(path, NULL);
	}
	task_list_free(names);
	return found;
}

char *mlgym_find(const char *root, const char *name)
{
	char *found = NULL;

	if (!str_ends(name, YAML)) {
		if (strchr(name, '/'))
			return NULL;
		found = mlgym_existing(xasprintf("%s/" TASKS_DIR "/%s" YAML, root, name));
		return found ? found : mlgym_find_by_id(root, name);
	}
	if (*name != '/') { /* as MLGym has it: from its configs on */
		auto_free char *configs = path_join(root, "configs");

		found = mlgym_existing(path_join(configs, name));
		if (!found)
			found = mlgym_existing(path_join(root, name));
	}
	return found ? found : mlgym_existing(xstrdup(name));
}
