/* SPDX-License-Identifier: Apache-2.0 */
#include "task/load.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "config/yaml.h"
#include "task/dataset.h"
#include "task/load_parts.h"
#include "task/mlgym.h"

#include <errno.h>
#include <stdlib.h>

/* --- warnings --------------------------------------------------------------------------------- */

/* Reads the keys of a YAML tree and drops their values, to get warnings about unknown keys. */
static void load_find_unknown_keys(
		struct task_loading *l, const struct node *root, struct warnings *out)
{
	struct task_config ignored;

	schema_read(&l->task->arena, &task_schema, root, out, &ignored, NULL);
}

/* Frees a task that can't be loaded, and returns the error `r`. For an MLGym task, adds mistyped
 * keys to the message: they may be the cause. */
static int load_give_up(struct task_loading *l, int r)
{
	struct warnings warnings = { 0 };

	if (r == -EINVAL && l->mlgym && l->root) {
		load_find_unknown_keys(l, l->root, &warnings);
		warnings_add_hints(&warnings, l->err);
	}
	task_free(l->task);
	return r;
}

/* --- keys of a task.yaml ---------------------------------------------------------------------- */

/*
 * Reads all keys of the task. In an MLGym task, an unknown key gives a warning; in others an error.
 */
static int load_read_keys(struct task_loading *l)
{
	struct warnings warnings = { 0 };
	int r = schema_read(&l->task->arena, &task_schema, l->root, l->mlgym ? &warnings : NULL,
			&l->config, l->err);

	task_warn_all(l, &warnings);
	return r;
}

static int load_check_aliases(const struct task_loading *l)
{
	const struct texts *aliases = &l->config.aliases;

	for (size_t i = 0; i < aliases->n; i++)
		if (!task_name_is_valid(aliases->items[i]))
			return node_complain(task_at(l, "aliases"), l->err,
					"'%s' can't be the name of a task", aliases->items[i]);
	return 0;
}

/* --- variants --------------------------------------------------------------------------------- */

static int load_check_variants(const struct task_loading *l)
{
	static const char *const own[] = { "id", "aliases", "variants", "default_variant" };
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

/* Warns of unknown keys in all variants of an MLGym task, also in those that are not played. */
static void load_warn_of_variants(struct task_loading *l)
{
	const struct node *variants = l->config.variants;

	for (size_t i = 0; l->mlgym && variants && i < variants->n; i++) {
		struct warnings warnings = { 0 };

		load_find_unknown_keys(l,
				node_overlay(&l->task->arena, l->root, variants->pairs[i].value),
				&warnings);
		task_warn_all(l, &warnings);
	}
}

/*
 * Sets the error for a missing variant. `by_key`: task.yaml itself names the variant, as its
 * default_variant.
 */
static int load_say_no_variant(const struct task_loading *l, const char *name, bool by_key)
{
	const struct node *variants = l->config.variants;
	auto_buf struct buf all = BUF_INIT(512);

	buf_add_str(&all, TASK_FULL);
	for (size_t i = 0; variants && i < variants->n; i++)
		buf_printf(&all, ", %s", variants->pairs[i].key->text);
	if (by_key)
		return node_complain(task_at(l, "default_variant"), l->err,
				"there is no variant '%s'; there are: %s", name, buf_str(&all));
	if (l->mlgym)
		return error_say(l->err, ENOENT,
				"MLGym's task '%s' has no variant '%s' (--mlgym-root '' uses our own tasks)",
				l->config.id ? l->config.id : path_basename(l->task->file), name);
	return error_say(l->err, ENOENT, "task '%s' has no variant '%s'; there are: %s",
			l->task->id, name, buf_str(&all));
}

/* Merges the keys of a variant over those of the task, and reads all keys again. */
static int load_apply_variant(struct task_loading *l, const char *name)
{
	struct arena *arena = &l->task->arena;
	const struct node *over;
	bool by_key = !name;

	if (by_key)
		name = l->config.default_variant;
	/* `battleOfSexes` and `battleOfSexes:full` are the same, so they share a folder's name. */
	if (name && !l->config.default_variant && str_eq(name, TASK_FULL))
		name = NULL;
	l->task->variant = arena_strdup(arena, name ? name : "");
	if (!name || str_eq(name, TASK_FULL))
		return 0;
	over = node_get(l->config.variants, name);
	if (!over)
		return load_say_no_variant(l, name, by_key);
	l->root = node_overlay(arena, l->root, over);
	return load_read_keys(l);
}

/* --- the description of a task ---------------------------------------------------------------- */

#define DESCRIPTION_BYTES_MAX (4 * 1024 * 1024)
#define DATASET_DOCS "{dataset_docs}"
#define TRAINING_TIMEOUT "{training_timeout}"

/* Returns true if the agent gets any file of the data set. */
static bool load_shows_data(const struct dataset *dataset)
{
	for (size_t i = 0; i < dataset->n_files; i++)
		if (!dataset->files[i].hidden)
			return true;
	return false;
}

static void load_add_docs(struct buf *out, const struct dataset *dataset)
{
	const char *separator = "Files: ";
	size_t n = strlen(dataset->description);

	while (n && dataset->description[n - 1] == '\n')
		n--;
	buf_printf(out, "%s\n%.*s\n", dataset->name, (int)n, dataset->description);
	for (size_t i = 0; i < dataset->n_files; i++) {
		if (dataset->files[i].hidden)
			continue;
		buf_printf(out, "%s`data/%s`", separator, dataset->files[i].target);
		separator = ", ";
	}
}

/* Fills in {dataset_docs} and {training_timeout} in the task's description. Other braces stay. */
static void load_description(struct task_loading *l)
{
	auto_buf struct buf out = BUF_INIT(DESCRIPTION_BYTES_MAX);
	const struct task *task = l->task;
	const char *at = l->config.description;

	while (*at) {
		if (str_starts(at, DATASET_DOCS)) {
			const char *separator = "";

			for (size_t i = 0; i < task->n_datasets; i++) {
				if (!load_shows_data(&task->datasets[i]))
					continue;
				buf_add_str(&out, separator);
				load_add_docs(&out, &task->datasets[i]);
				separator = "\n\n";
			}
			at += strlen(DATASET_DOCS);
		} else if (str_starts(at, TRAINING_TIMEOUT)) {
			buf_printf(&out, "%.15g", (double)task->training_timeout_ms / 1000);
			at += strlen(TRAINING_TIMEOUT);
		} else {
			buf_add_char(&out, *at++);
		}
	}
	l->task->description = arena_strdup(&l->task->arena, buf_str(&out));
}

/* --- the whole -------------------------------------------------------------------------------- */

static void load_fill_plain(struct task_loading *l)
{
	const struct task_config *c = &l->config;
	struct task *task = l->task;

	task->keys = l->root;
	task->data_seed = l->places ? l->places->data_seed : 0;
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
	task->simulators = c->sandbox.simulators;
	task->packages = c->packages.items;
	task->comparable = c->published.comparable == COMPARABLE_YES;
	task->why_comparable = c->published.why;
}

static int load_check_data_seed(const struct task_loading *l)
{
	const struct task *task = l->task;

	for (size_t i = 0; i < task->n_datasets; i++)
		if (task->datasets[i].make)
			return 0;
	if (!task->data_seed)
		return 0;
	return error_say(l->err, EINVAL,
			"task '%s%s%s' has no generated data, so its data seed can only be 0",
			task->id, *task->variant ? ":" : "", task->variant);
}

/* Finds a task and reads its YAML. The caller frees l->task, also after an error. */
static int load_read_yaml(struct task_loading *l, const char *spec, char **out_variant)
{
	struct task_found found;
	struct task *task;
	int r = task_find(l->places, spec, &found, l->err);

	if (r < 0)
		return r;
	l->task = task = xcalloc(1, sizeof(*task));
	task->dir = arena_strdup(&task->arena, found.dir);
	task->file = arena_strdup(&task->arena, found.file);
	task->id = path_basename(task->dir);
	l->mlgym = found.mlgym;
	l->folder = (struct task_folder){ .arena = &task->arena, .dir = task->dir };
	*out_variant = take_ptr(found.variant);
	if (found.warning)
		task_warn(l, arena_strdup(&task->arena, found.warning));
	task_found_release(&found);
	r = yaml_load(&task->arena, task->file, &l->root, l->err);
	if (r < 0)
		return r;
	r = l->mlgym ? mlgym_complete(l) : 0;
	if (r < 0)
		return r;
	r = load_read_keys(l);
	if (r < 0)
		return r;
	if (l->config.id && !l->mlgym && !str_eq(l->config.id, task->id))
		return node_complain(task_at(l, "id"), l->err,
				"id '%s' is not the folder's name, '%s'", l->config.id, task->id);
	r = load_check_aliases(l);
	if (r < 0)
		return r;
	r = load_check_variants(l);
	if (r < 0)
		return r;
	load_warn_of_variants(l);
	return 0;
}

/* Fills in l->task. `with_files`: false: only task.yaml is read. */
static int load_fill(struct task_loading *l, const char *spec, const char *variant, bool with_files)
{
	auto_free char *named = NULL;
	int r = load_read_yaml(l, spec, &named);

	if (r < 0)
		return r;
	r = load_apply_variant(l, variant && *variant ? variant : named);
	if (r < 0)
		return r;
	load_fill_plain(l);
	r = l->mlgym ? mlgym_load_plain(l) : 0;
	if (r < 0 || !with_files)
		return r;
	/* Load data sets first: paths may name them. */
	r = l->mlgym ? mlgym_load_datasets(l) : task_load_datasets(l);
	if (r < 0)
		return r;
	r = load_check_data_seed(l);
	if (r < 0)
		return r;
	r = task_load_files(l);
	if (r < 0)
		return r;
	r = l->mlgym ? mlgym_load_grader(l) : task_load_grader(l);
	if (r < 0)
		return r;
	r = task_load_baseline(l);
	if (r < 0)
		return r;
	r = l->mlgym ? mlgym_load_binds(l) : task_load_binds(l);
	if (r < 0)
		return r;
	/* Load the description last: it lists the files. */
	if (l->mlgym)
		mlgym_load_description(l);
	else
		load_description(l);
	return 0;
}

static int load_make(struct task_loading *l, const char *spec, const char *variant, bool with_files,
		struct task **out)
{
	int r = load_fill(l, spec, variant, with_files);

	if (r < 0)
		return load_give_up(l, r);
	*out = l->task;
	return 0;
}

int task_load(const struct task_places *places, const char *spec, const char *variant,
		struct task **out, struct fh_error *err)
{
	struct task_loading l = { .places = places, .err = err };

	return load_make(&l, spec, variant, true, out);
}

int task_load_without_data(const struct task_places *places, const char *spec, const char *variant,
		struct task **out, struct fh_error *err)
{
	struct task_loading l = { .places = places, .err = err, .missing_ok = true };

	return load_make(&l, spec, variant, true, out);
}

int task_read(const struct task_places *places, const char *spec, const char *variant,
		struct task **out, struct fh_error *err)
{
	struct task_loading l = { .places = places, .err = err };

	return load_make(&l, spec, variant, false, out);
}

static void load_add_name(char **names, const char *name)
{
	while (*names && !str_eq(*names, name))
		names++;
	if (!*names)
		*names = xstrdup(name);
}

int task_variants(const struct task_places *places, const char *spec, char ***out,
		struct fh_error *err)
{
	struct task_loading l = { .places = places, .err = err };
	auto_free char *named = NULL;
	int r = load_read_yaml(&l, spec, &named);
	const struct node *variants;
	const char *first;
	size_t n;

	if (r < 0)
		return load_give_up(&l, r);
	variants = l.config.variants;
	first = l.config.default_variant;
	n = variants ? variants->n : 0;
	*out = xcalloc(n + 2, sizeof(**out));
	if (first && node_get(variants, first))
		load_add_name(*out, first);
	load_add_name(*out, TASK_FULL);
	for (size_t i = 0; i < n; i++)
		load_add_name(*out, variants->pairs[i].key->text);
	task_free(l.task);
	return 0;
}
