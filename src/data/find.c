/* SPDX-License-Identifier: Apache-2.0 */
#include "data/find.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"
#include "config/node.h"
#include "task/load.h"

#include <errno.h>
#include <string.h>

#define DATA_SETS_MAX 1000
#define ENDING ".yaml"

struct data_finding {
	struct arena *arena;
	struct dataset_places places;
	struct data_sets found;
	struct fh_error *err;
};

/* Sets where to search for data sets of the task in `task_dir`. The places are that folder, a
 * folder beside the folder of tasks, and Fumehood's own folder. */
static void find_set_places(struct data_finding *f, const char *task_dir)
{
	auto_free char *tasks = path_dirname(task_dir);
	auto_free char *root = path_dirname(tasks);

	f->places = (struct dataset_places){
		.task_dir = arena_strdup(f->arena, task_dir),
		.root = arena_strdup(f->arena, root),
		.missing_ok = true,
	};
}

static int find_add_data_set(struct data_finding *f, const char *name)
{
	struct dataset set;
	int r = dataset_load(f->arena, &f->places, name, &set, f->err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < f->found.n; i++)
		if (str_eq(f->found.items[i].id, set.id))
			return 0;
	if (f->found.n == DATA_SETS_MAX)
		return error_say(f->err, E2BIG, "more than %d data sets", DATA_SETS_MAX);
	f->found.items[f->found.n++] = set;
	return 0;
}

/* --- data sets of a task ---------------------------------------------------------------------- */

static int find_add_names(struct data_finding *f, const struct node *names)
{
	for (size_t i = 0; names && i < names->n; i++) {
		int r = find_add_data_set(f, arena_strdup(f->arena, names->items[i]->text));

		if (r < 0)
			return r;
	}
	return 0;
}

static int find_add_variant(struct data_finding *f, const struct task_places *places,
		const char *spec, const char *variant)
{
	auto_task struct task *task = NULL;
	int r = task_read(places, spec, variant, &task, f->err);

	if (r < 0)
		return r;
	return find_add_names(f, node_get(task->keys, "dataset_configs"));
}

static int find_add_variants(
		struct data_finding *f, const struct task_places *places, const char *spec)
{
	auto_strings char **variants = NULL;
	int r = task_variants(places, spec, &variants, f->err);

	if (r < 0)
		return r;
	for (char **v = variants; *v; v++) {
		r = find_add_variant(f, places, spec, *v);
		if (r < 0)
			return r;
	}
	return 0;
}

static int find_add_task(struct data_finding *f, const struct task_places *places, const char *spec)
{
	struct task_found found;
	bool has_variant;
	int r = task_find(places, spec, &found, f->err);

	if (r < 0)
		return r;
	find_set_places(f, found.dir);
	has_variant = found.variant != NULL;
	task_found_release(&found);
	return has_variant ? find_add_variant(f, places, spec, NULL)
			   : find_add_variants(f, places, spec);
}

/* --- interface -------------------------------------------------------------------------------- */

/* Real path of a folder of tasks, in the arena; ours if `tasks_dir` is NULL. */
static int find_tasks_dir(
		struct arena *a, const char *tasks_dir, const char **out, struct fh_error *err)
{
	const char *path = tasks_dir ? tasks_dir
				     : arena_printf(a, "%s/tasks", places_get()->share_dir);
	auto_free char *real = realpath(path, NULL);

	if (!real)
		return error_set(err, errno, "folder of tasks '%s'", path);
	*out = arena_strdup(a, real);
	return 0;
}

int data_find(struct arena *a, const char *tasks_dir, const char *spec, struct data_sets *out,
		struct fh_error *err)
{
	struct data_finding f = { .arena = a, .err = err };
	const struct task_places places = { .tasks_dir = tasks_dir };
	struct fh_error no_set = FH_ERROR_INIT, no_task = FH_ERROR_INIT;
	const char *real;
	int r = find_tasks_dir(a, tasks_dir, &real, err);

	if (r < 0)
		return r;
	f.found.items = arena_array(a, DATA_SETS_MAX, sizeof(*f.found.items));
	find_set_places(&f, arena_printf(a, "%s/-", real));
	f.err = &no_set;
	r = task_name_is_valid(spec) ? find_add_data_set(&f, spec) : -ENOENT;
	/* Another -ENOENT means that the data set exists, but a program that it names does not.
	 * Then don't look for a task. */
	if (r == -ENOENT && (!no_set.code || str_starts(no_set.message, "no data set"))) {
		f.err = &no_task;
		r = find_add_task(&f, &places, spec);
		if (r == -ENOENT && !strchr(spec, '/'))
			return error_say(err, ENOENT,
					"no data set and no task '%s': see `fumehood data list`",
					spec);
	}
	if (r < 0) {
		*err = *f.err;
		return r;
	}
	*out = f.found;
	return 0;
}

/* --- lists ------------------------------------------------------------------------------------ */

struct data_names {
	char **items;
	size_t n;
};

static void find_names_add(struct data_names *names, const char *file)
{
	size_t n = strlen(file) - strlen(ENDING);
	auto_free char *id = xasprintf("%.*s", (int)n, file);

	if (!task_name_is_valid(id))
		return;
	for (size_t i = 0; i < names->n; i++)
		if (str_eq(names->items[i], id))
			return;
	names->items = xrealloc(names->items, names->n + 2, sizeof(*names->items));
	names->items[names->n++] = take_ptr(id);
	names->items[names->n] = NULL;
}

static void find_names_add_folder(struct data_names *names, const char *tasks)
{
	auto_free char *root = path_dirname(tasks);
	auto_free char *folder = path_join(root, "datasets");
	auto_dir DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && names->n < DATA_SETS_MAX && (entry = readdir(dir)))
		if (str_ends(entry->d_name, ENDING))
			find_names_add(names, entry->d_name);
}

static int find_names_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int data_list(const char *tasks_dir, char ***out, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct data_names names = { NULL };
	const char *ours, *theirs = NULL;
	int r = find_tasks_dir(&arena, NULL, &ours, err);

	if (r < 0)
		return r;
	r = tasks_dir ? find_tasks_dir(&arena, tasks_dir, &theirs, err) : 0;
	if (r < 0)
		return r;
	names.items = xcalloc(1, sizeof(*names.items));
	find_names_add_folder(&names, ours);
	if (theirs)
		find_names_add_folder(&names, theirs);
	qsort(names.items, names.n, sizeof(*names.items), find_names_compare);
	*out = names.items;
	return 0;
}
