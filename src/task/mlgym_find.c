/* SPDX-License-Identifier: Apache-2.0 */
#include "task/mlgym_find.h"

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
#define MLGYM_TASKS_MAX 10000
#define YAML ".yaml"

static int mlgym_is_task(const struct dirent *entry)
{
	return *entry->d_name != '.' && str_ends(entry->d_name, YAML);
}

static int mlgym_by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
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
		auto_free char *path = path_join(dir, name);

		/* Add existing files only: this skips broken links. */
		if (n_names < MLGYM_TASKS_MAX && path_exists(path) && !path_is_dir(path))
			names[n_names++] = xstrndup(name, strlen(name) - strlen(YAML));
		free(entries[i]);
	}
	free(entries);
	*out = names;
	return 0;
}

/* Returns the real path of the file `path`, or NULL if it is not an existing file. Frees `path`. */
static char *mlgym_existing(char *path)
{
	char *real = path_exists(path) && !path_is_dir(path) ? realpath(path, NULL) : NULL;

	free(path);
	return real;
}

static char *mlgym_find_by_id(const char *root, const char *id)
{
	char *found = NULL;
	char **names;

	if (mlgym_list(root, &names, NULL) < 0)
		return NULL;
	for (char **name = names; *name && !found; name++) {
		auto_free char *path = xasprintf("%s/" TASKS_DIR "/%s" YAML, root, *name);
		auto_arena struct arena arena = ARENA_INIT;
		const struct node *yaml = NULL, *node;

		if (yaml_load(&arena, path, &yaml, NULL) < 0)
			continue;
		node = node_get(yaml, "id");
		if (node && node->kind == NODE_SCALAR && str_eq(node->text, id))
			found = realpath(path, NULL);
	}
	xfree_strings(names);
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
	if (*name != '/') { /* a relative path in MLGym's files starts at configs/ */
		auto_free char *configs = path_join(root, "configs");

		found = mlgym_existing(path_join(configs, name));
		if (!found)
			found = mlgym_existing(path_join(root, name));
	}
	return found ? found : mlgym_existing(xstrdup(name));
}
