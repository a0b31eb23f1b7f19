/* SPDX-License-Identifier: Apache-2.0 */
#include "task/task.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "config/yaml.h"
#include "task/describe.h"
#include "task/find.h"
#include "task/load.h"
#include "task/mlgym.h"

#include <errno.h>
#include <stdlib.h>

const struct node *task_at(const struct task_loading *l, const char *path)
{
	return node_path(l->root, path);
}

/* What nobody knows in a file of MLGym's is said by `fumehood task check`. */
static void task_keep_warnings(struct task_loading *l, const struct warnings *warnings)
{
	const char **kept = arena_array(&l->task->arena, warnings->n, sizeof(*kept));

	for (size_t i = 0; i < warnings->n; i++)
		kept[i] = warnings->items[i];
	l->task->warnings = kept;
	l->task->n_warnings = warnings->n;
}

static int task_read_keys(struct task_loading *l)
{
	struct warnings warnings = { 0 };
	int r = schema_read(&l->task->arena, &task_schema, l->root, l->mlgym ? &warnings : NULL,
			&l->config, l->err);

	if (r >= 0)
		task_keep_warnings(l, &warnings);
	return r;
}

/* --- variants --------------------------------------------------------------------------------- */

static int task_check_variants(const struct task_loading *l)
{
	static const char *const own[] = { "id", "variants", "default_variant" };
	const struct node *variants = l->config.variants;

	if (variants && variants->kind != NODE_MAP)
		return node_complain(variants, l->err, "'variants': expected a mapping");
	for (size_t i = 0; variants && i < variants->n; i++) {
		const struct node_pair *variant = &variants->pairs[i];

		if (!task_name_is_valid(variant->key->text) ||
				str_eq(variant->key->text, TASK_FULL))
			return node_complain(variant->key, l->err,
					"'%s' can't be the name of a variant", variant->key->text);
		if (variant->value->kind != NODE_MAP)
			return node_complain(variant->value, l->err, "'%s': expected a mapping",
					variant->key->text);
		for (size_t j = 0; j < ARRAY_SIZE(own); j++)
			if (node_get(variant->value, own[j]))
				return node_complain(node_get(variant->value, own[j]), l->err,
						"a variant can't have '%s'", own[j]);
	}
	return 0;
}

static int task_say_no_variant(const struct task_loading *l, const char *name)
{
	const struct node *variants = l->config.variants;
	auto_buf struct buf all = BUF_INIT(512);

	buf_add_str(&all, TASK_FULL);
	for (size_t i = 0; variants && i < variants->n; i++)
		buf_printf(&all, ", %s", variants->pairs[i].key->text);
	if (l->mlgym)
		return error_say(l->err, ENOENT,
				"MLGym's task '%s' has no variant '%s' (--mlgym-root '' uses our own tasks)",
				l->config.id ? l->config.id : path_basename(l->task->file), name);
	return error_say(l->err, ENOENT, "task '%s' has no variant '%s'; there are: %s",
			l->task->id, name, buf_str(&all));
}

/* Puts the variant's keys over the task's and reads the whole again. */
static int task_apply_variant(struct task_loading *l, const char *name)
{
	struct arena *arena = &l->task->arena;
	const struct node *over;

	if (!name)
		name = l->config.default_variant;
	l->task->variant = arena_strdup(arena, name ? name : "");
	if (!name)
		return 0;
	over = node_get(l->config.variants, name);
	if (!over && str_eq(name, TASK_FULL))
		return 0;
	if (!over)
		return task_say_no_variant(l, name);
	l->root = node_overlay(arena, l->root, over);
	return task_read_keys(l);
}

/* --- the whole -------------------------------------------------------------------------------- */

static int task_load_plain(struct task_loading *l)
{
	const struct task_config *c = &l->config;
	struct task *task = l->task;

	task->keys = l->root;
	task->name = c->name;
	task->description = c->description;
	task->metric = c->metric.name;
	task->maximize = c->metric.direction == METRIC_MAXIMIZE;
	task->max_steps = (int)c->max_steps;
	task->training_timeout_ms = c->training_timeout_ms;
	task->short_timeout_ms = c->short_timeout_ms;
	task->limits = c->limits.sandbox;
	task->output_bytes = c->limits.output_bytes;
	task->wall_ms = c->limits.wall_ms;
	task->network = c->network;
	return 0;
}

static int task_load_description(struct task_loading *l)
{
	l->task->description = task_describe(l->task, l->config.description);
	return 0;
}

/* In this order: paths may name data sets, and the description lists their files. */
#define PARTS 7
#define PARTS_WITHOUT_FILES 1

static int task_load_plain_mlgym(struct task_loading *l)
{
	int r = task_load_plain(l);

	return r < 0 ? r : mlgym_load_plain(l);
}

static int (*const parts[2][PARTS])(struct task_loading *l) = {
	{
			task_load_plain,
			/* from here on with files */
			task_load_datasets,
			task_load_files,
			task_load_grader,
			task_load_baseline,
			task_load_binds,
			task_load_description,
	},
	{
			task_load_plain_mlgym,
			mlgym_load_datasets,
			task_load_files,
			mlgym_load_grader,
			task_load_baseline,
			mlgym_load_binds,
			mlgym_load_description,
	},
};

static int task_read_yaml(struct task_loading *l)
{
	int r = yaml_load(&l->task->arena, l->task->file, &l->root, l->err);

	if (r >= 0 && l->mlgym)
		r = mlgym_complete(l);
	if (r >= 0)
		r = task_read_keys(l);
	if (r < 0)
		return r;
	if (l->config.id && !l->mlgym && !str_eq(l->config.id, l->task->id))
		return node_complain(task_at(l, "id"), l->err,
				"id '%s' is not the folder's name, '%s'", l->config.id,
				l->task->id);
	return task_check_variants(l);
}

static struct task *task_new(const struct task_found *found)
{
	struct task *task = xcalloc(1, sizeof(*task));

	task->dir = arena_strdup(&task->arena, found->dir);
	task->file = arena_strdup(&task->arena, found->file);
	task->id = path_basename(task->dir);
	return task;
}

static int task_load_parts(const struct task_places *places, const char *spec, const char *variant,
		size_t n_parts, struct task **out, struct fh_error *err)
{
	struct task_loading l = { .places = places, .err = err };
	struct task_found found;
	int r = task_find(places, spec, &found, err);

	if (r < 0)
		return r;
	l.task = task_new(&found);
	l.mlgym = found.mlgym;
	l.folder = (struct task_folder){ .arena = &l.task->arena, .dir = l.task->dir };
	r = task_read_yaml(&l);
	if (r >= 0)
		r = task_apply_variant(&l, variant && *variant ? variant : found.variant);
	for (size_t i = 0; i < n_parts && r >= 0; i++)
		r = parts[l.mlgym][i](&l);
	task_found_release(&found);
	if (r < 0) {
		task_free(l.task);
		return r;
	}
	*out = l.task;
	return 0;
}

int task_load(const struct task_places *places, const char *spec, const char *variant,
		struct task **out, struct fh_error *err)
{
	return task_load_parts(places, spec, variant, PARTS, out, err);
}

int task_read(const struct task_places *places, const char *spec, const char *variant,
		struct task **out, struct fh_error *err)
{
	return task_load_parts(places, spec, variant, PARTS_WITHOUT_FILES, out, err);
}

int task_variants(const struct task_places *places, const char *spec, char ***out,
		struct fh_error *err)
{
	struct task_loading l = { .places = places, .err = err };
	struct task_found found;
	char **names;
	size_t n;
	int r = task_find(places, spec, &found, err);

	if (r < 0)
		return r;
	l.task = task_new(&found);
	l.mlgym = found.mlgym;
	task_found_release(&found);
	r = task_read_yaml(&l);
	if (r >= 0) {
		n = l.config.variants ? l.config.variants->n : 0;
		names = xcalloc(n + 1, sizeof(*names));
		for (size_t i = 0; i < n; i++)
			names[i] = xstrdup(l.config.variants->pairs[i].key->text);
		*out = names;
	}
	task_free(l.task);
	return r < 0 ? r : 0;
}

void task_free(struct task *task)
{
	if (task)
		arena_release(&task->arena);
	free(task);
}
