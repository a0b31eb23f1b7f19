/* SPDX-License-Identifier: Apache-2.0 */
#include "task/find.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"
#include "config/yaml.h"
#include "task/mlgym_find.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIND_NAME_MAX_BYTES 64
#define FIND_TASKS_MAX 10000

bool task_name_is_valid(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-.";
	size_t n = strlen(name);

	return n && n <= FIND_NAME_MAX_BYTES && *name != '.' && strspn(name, allowed) == n;
}

/* --- lists ------------------------------------------------------------------------------------ */

/*
 * Number of folders in which tasks are searched. If two have a task of the same name, the first
 * folder's is used.
 */
#define TASKS_DIRS 2

static const char *find_dir_at(const struct task_places *places, struct arena *a, size_t i)
{
	if (i > 0)
		return arena_printf(a, "%s/tasks", places_get()->share_dir);
	return places ? places->tasks_dir : NULL;
}

struct names {
	char **items;
	size_t n, room;
};

static void names_add(struct names *names, const char *name)
{
	if (names->n + 1 >= names->room) {
		names->room = names->room ? 2 * names->room : 16;
		names->items = xrealloc(names->items, names->room, sizeof(*names->items));
	}
	names->items[names->n++] = xstrdup(name);
	names->items[names->n] = NULL;
}

static int names_add_dir(const char *path, struct names *names, struct fh_error *err)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir)
		return error_set(err, errno, "list tasks in '%s'", path);
	while ((entry = readdir(dir)) && names->n < FIND_TASKS_MAX) {
		auto_free char *file = xasprintf("%s/%s/task.yaml", path, entry->d_name);

		if (task_name_is_valid(entry->d_name) && path_exists(file))
			names_add(names, entry->d_name);
	}
	closedir(dir);
	return 0;
}

static int names_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts a list of tasks' names and drops duplicates. */
static void names_sort(struct names *names)
{
	size_t kept = 0;

	if (!names->n)
		return;
	qsort(names->items, names->n, sizeof(*names->items), names_compare);
	for (size_t i = 0; i < names->n; i++) {
		if (kept && str_eq(names->items[i], names->items[kept - 1]))
			free(names->items[i]);
		else
			names->items[kept++] = names->items[i];
	}
	names->items[kept] = NULL;
	names->n = kept;
}

static int find_list_names(
		const struct task_places *places, struct names *out, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < TASKS_DIRS; i++) {
		const char *dir = find_dir_at(places, &arena, i);
		int r = dir ? names_add_dir(dir, out, err) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}

int task_list(const struct task_places *places, char ***out, struct fh_error *err)
{
	struct names names = { .items = NULL };
	int r;

	if (places && places->mlgym_root)
		return mlgym_list(places->mlgym_root, out, err);
	names.items = xcalloc(1, sizeof(char *));
	r = find_list_names(places, &names, err);
	if (r < 0) {
		xfree_strings(names.items);
		return r;
	}
	names_sort(&names);
	*out = names.items;
	return 0;
}

/* --- aliases ---------------------------------------------------------------------------------- */

/* Adds the other names (aliases) that a task.yaml gives its task. Adds none if the file can't be
 * read. */
static void names_add_aliases(const char *file, struct names *names)
{
	auto_arena struct arena arena = ARENA_INIT;
	const struct node *root = NULL, *list;

	if (yaml_load(&arena, file, &root, NULL) < 0)
		return;
	list = node_get(root, "aliases");
	for (size_t i = 0; list && list->kind == NODE_LIST && i < list->n; i++)
		if (list->items[i]->kind == NODE_SCALAR)
			names_add(names, list->items[i]->text);
}

/* Adds the aliases of all tasks in the folder `dir`, but stops at the first task with the alias
 * `wanted`. Returns that task's id, a heap string. NULL: no task has this alias. */
static char *find_dir_find_alias(const char *dir, const char *wanted, struct names *out)
{
	struct names tasks = { .items = NULL };
	char *found = NULL;

	names_add_dir(dir, &tasks, NULL);
	names_sort(&tasks);
	for (size_t i = 0; i < tasks.n && !found; i++) {
		auto_free char *file = xasprintf("%s/%s/task.yaml", dir, tasks.items[i]);
		size_t n = out->n;

		names_add_aliases(file, out);
		for (; n < out->n && !found; n++)
			if (str_eq(out->items[n], wanted))
				found = xstrdup(tasks.items[i]);
	}
	xfree_strings(tasks.items);
	return found;
}

/*
 * Finds the first task with the alias `wanted` in all folders of tasks, and adds other aliases: see
 * find_dir_find_alias().
 */
static char *find_alias(const struct task_places *places, const char *wanted, struct names *out)
{
	auto_arena struct arena arena = ARENA_INIT;
	char *found = NULL;

	for (size_t i = 0; i < TASKS_DIRS && !found; i++) {
		const char *dir = find_dir_at(places, &arena, i);

		found = dir ? find_dir_find_alias(dir, wanted, out) : NULL;
	}
	return found;
}

/* --- one -------------------------------------------------------------------------------------- */

void task_found_release(struct task_found *found)
{
	free(found->dir);
	free(found->file);
	free(found->variant);
	free(found->warning);
}

static int find_say_not_found(
		const struct task_places *places, const char *name, struct fh_error *err)
{
	struct names names = { .items = xcalloc(1, sizeof(char *)) };
	auto_buf struct buf all = BUF_INIT(512);
	auto_free char *here = xasprintf("./%s", name), *yaml = path_join(here, "task.yaml");
	const char *closest;

	find_list_names(places, &names, NULL);
	if (places && places->mlgym_root) {
		char **more = NULL;

		mlgym_list(places->mlgym_root, &more, NULL);
		for (char **p = more; p && *p; p++)
			names_add(&names, *p);
		xfree_strings(more);
	}
	names_sort(&names);
	for (size_t i = 0; i < names.n; i++)
		buf_printf(&all, "%s%s", i ? ", " : "", names.items[i]);
	free(find_alias(places, NULL, &names));
	closest = path_exists(yaml) ? here
				    : str_closest(name, (const char *const *)names.items, names.n);
	if (closest)
		error_say(err, ENOENT, "no task '%s'; did you mean '%s'?", name, closest);
	else
		error_say(err, ENOENT, "no task '%s'; there are: %s", name, buf_str(&all));
	xfree_strings(names.items);
	return -ENOENT;
}

static char *find_by_id(const struct task_places *places, const char *name)
{
	auto_arena struct arena arena = ARENA_INIT;

	for (size_t i = 0; i < TASKS_DIRS; i++) {
		const char *dir = find_dir_at(places, &arena, i);

		if (dir && path_exists(arena_printf(&arena, "%s/%s/task.yaml", dir, name)))
			return path_join(dir, name);
	}
	return NULL;
}

/* Finds a task's folder by the task's id, or by an alias if no task has this id. */
static char *find_by_name(const struct task_places *places, const char *name)
{
	struct names aliases = { .items = NULL };
	char *found = find_by_id(places, name);
	auto_free char *id = found ? NULL : find_alias(places, name, &aliases);

	xfree_strings(aliases.items);
	return id ? find_by_id(places, id) : found;
}

/* Finds a task's folder. A name with a slash is itself the folder's path. */
static int find_dir(const struct task_places *places, const char *name, char **out,
		struct fh_error *err)
{
	bool is_path = strchr(name, '/');
	const char *own = places ? places->tasks_dir : NULL;
	auto_free char *dir = NULL;
	char *real;

	if (own && !is_path && !path_is_dir(own))
		return error_set(err, path_exists(own) ? ENOTDIR : ENOENT, "list tasks in '%s'",
				own);
	if (!is_path && !task_name_is_valid(name))
		return error_say(err, EINVAL, "'%s' can't be the name of a task", name);
	dir = is_path ? xstrdup(name) : find_by_name(places, name);
	if (!dir)
		return find_say_not_found(places, name, err);
	real = realpath(dir, NULL);
	if (!real)
		return error_set(err, errno, "find task '%s'", name);
	if (!path_is_dir(real)) {
		free(real);
		return error_say(err, ENOTDIR,
				"'%s' is a file: give the task's folder, or for a task of MLGym its "
				"name and --mlgym-root",
				name);
	}
	*out = real;
	return 0;
}

int task_find(const struct task_places *places, const char *spec, struct task_found *out,
		struct fh_error *err)
{
	const char *root = places ? places->mlgym_root : NULL;
	const char *slash = strrchr(spec, '/');
	const char *colon = strrchr(slash ? slash : spec, ':');
	auto_free char *name = colon ? xstrndup(spec, (size_t)(colon - spec)) : xstrdup(spec);
	char *dir = NULL, *file = NULL;
	bool mlgym;

	if (colon && !task_name_is_valid(colon + 1))
		return error_say(err, EINVAL, "'%s' can't be the name of a variant", colon + 1);
	file = root ? mlgym_find(root, name) : NULL;
	dir = file ? realpath(root, NULL) : NULL;
	mlgym = dir != NULL;
	if (!mlgym) {
		int r = find_dir(places, name, &dir, err);

		free(file);
		if (r < 0)
			return r;
		file = path_join(dir, "task.yaml");
	}
	*out = (struct task_found){ .dir = dir,
		.file = file,
		.mlgym = mlgym,
		.variant = colon ? xstrdup(colon + 1) : NULL };
	if (root && !mlgym && !strchr(name, '/'))
		out->warning = xasprintf(
				"the checkout '%s' has no task '%s': Fumehood's own task of "
				"that name is used",
				root, name);
	return 0;
}
