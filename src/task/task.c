/* SPDX-License-Identifier: Apache-2.0 */
#include "task/task.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"
#include "config/yaml.h"
#include "task/config.h"
#include "task/dataset.h"
#include "task/describe.h"
#include "task/files.h"
#include "task/find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FULL_VARIANT "full"

struct loading {
	const struct task_places *places;
	struct task *task;
	struct task_config config;
	const struct node *root; /* the file, then with the variant's keys over it */
	struct task_folder folder;
	struct fh_error *err;
};

static const struct node *at(const struct loading *l, const char *path)
{
	return node_path(l->root, path);
}

/* --- variants --------------------------------------------------------------------------------- */

static int check_variants(const struct loading *l)
{
	static const char *const own[] = { "id", "variants", "default_variant" };
	const struct node *variants = l->config.variants;

	if (variants && variants->kind != NODE_MAP)
		return node_complain(variants, l->err, "'variants': expected a mapping");
	for (size_t i = 0; variants && i < variants->n; i++) {
		const struct node_pair *variant = &variants->pairs[i];

		if (!task_name_is_valid(variant->key->text) ||
				str_eq(variant->key->text, FULL_VARIANT))
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

static int unknown_variant(const struct loading *l, const char *name)
{
	const struct node *variants = l->config.variants;
	auto_buf struct buf all = BUF_INIT(512);

	buf_add_str(&all, FULL_VARIANT);
	for (size_t i = 0; variants && i < variants->n; i++)
		buf_printf(&all, ", %s", variants->pairs[i].key->text);
	return error_say(l->err, ENOENT, "task '%s' has no variant '%s'; there are: %s",
			l->task->id, name, buf_str(&all));
}

/* Puts the variant's keys over the task's and reads the whole again. */
static int apply_variant(struct loading *l, const char *name)
{
	struct arena *arena = &l->task->arena;
	const struct node *over;

	if (!name)
		name = l->config.default_variant;
	l->task->variant = arena_strdup(arena, name ? name : "");
	if (!name)
		return 0;
	over = node_get(l->config.variants, name);
	if (!over && str_eq(name, FULL_VARIANT))
		return 0;
	if (!over)
		return unknown_variant(l, name);
	l->root = node_overlay(arena, l->root, over);
	return schema_read(arena, &task_schema, l->root, NULL, &l->config, l->err);
}

/* --- the grader ------------------------------------------------------------------------------- */

#define CSV (1u << GRADER_CSV)
#define SCRIPT (1u << GRADER_SCRIPT)
#define DUEL (1u << GRADER_DUEL)

/* Which kinds take a key, and which can't do without it. */
static const struct {
	const char *key;
	unsigned taken_by, wanted_by;
} grader_keys[] = {
	{ "answers", CSV, CSV },
	{ "id", CSV, CSV },
	{ "target", CSV, CSV },
	{ "metric", CSV, CSV },
	{ "program", SCRIPT | DUEL, SCRIPT | DUEL },
	{ "args", SCRIPT | DUEL, 0 },
	{ "functions", DUEL, 0 },
	{ "player", DUEL, 0 },
};

static int check_grader_keys(const struct loading *l)
{
	const struct grader_config *g = &l->config.grader;
	const struct node *node = at(l, "grader");
	const char *kind = node_get(node, "kind")->text;

	for (size_t i = 0; i < ARRAY_SIZE(grader_keys); i++) {
		const char *key = grader_keys[i].key;
		const struct node *value = node_get(node, key);
		bool given = value && !node_is_null(value);

		if (given && !(grader_keys[i].taken_by & 1u << g->kind))
			return node_complain(value, l->err, "a %s grader takes no '%s'", kind, key);
		if (!given && (grader_keys[i].wanted_by & 1u << g->kind))
			return node_complain(node, l->err, "a %s grader wants '%s'", kind, key);
	}
	if (g->kind == GRADER_DUEL && !g->player && !g->functions.n)
		return node_complain(node, l->err, "a duel grader wants 'functions' or 'player'");
	if (!path_stays_inside(g->submission))
		return node_complain(at(l, "grader.submission"), l->err,
				"'%s' is not a path in the workspace", g->submission);
	return 0;
}

/* One path of the grader; NULL stays NULL. */
static int grader_path(const struct loading *l, const char *key, const char *path, const char **out)
{
	return path ? task_path(&l->folder, at(l, key), path, out, l->err) : 0;
}

static int load_grader(struct loading *l)
{
	const struct grader_config *g = &l->config.grader;
	struct task_grader *out = &l->task->grader;
	int r = check_grader_keys(l);

	*out = (struct task_grader){
		.kind = g->kind,
		.submission = g->submission,
		.submission_bytes = g->submission_bytes,
		.timeout_ms = g->timeout_ms,
		.id_column = g->id,
		.target_column = g->target,
		.csv_metric = g->kind == GRADER_CSV ? csv_metrics[g->csv_metric] : NULL,
		.args = g->args.items,
		.functions = g->functions.items,
	};
	if (r >= 0)
		r = grader_path(l, "grader.answers", g->answers, &out->answers);
	if (r >= 0)
		r = grader_path(l, "grader.program", g->program, &out->program);
	if (r >= 0)
		r = grader_path(l, "grader.player", g->player, &out->player);
	return r;
}

/* --- baseline and solution -------------------------------------------------------------------- */

static int add_published(const struct loading *l, const struct node *scores,
		struct fh_metric *metrics, size_t *n)
{
	if (scores->kind != NODE_MAP)
		return node_complain(scores, l->err, "expected a mapping of metrics to numbers");
	for (size_t i = 0; i < scores->n; i++) {
		struct fh_metric *metric = &metrics[(*n)++];
		const struct node *value = scores->pairs[i].value;

		metric->name = scores->pairs[i].key->text;
		if (value->kind != NODE_SCALAR || !str_to_double(value->text, &metric->value))
			return node_complain(
					value, l->err, "'%s': expected a number", metric->name);
	}
	return 0;
}

/* A mapping, or as MLGym has it a list of mappings. */
static int load_published(struct loading *l)
{
	const struct node *scores = l->config.baseline_scores;
	struct fh_metric *metrics;
	size_t n = 0;
	int r = 0;

	if (!scores)
		return 0;
	metrics = arena_array(&l->task->arena, scores->n_nodes, sizeof(*metrics));
	if (scores->kind != NODE_LIST)
		r = add_published(l, scores, metrics, &n);
	else
		for (size_t i = 0; i < scores->n && r >= 0; i++)
			r = add_published(l, scores->items[i], metrics, &n);
	l->task->published = metrics;
	l->task->n_published = n;
	return r;
}

static bool is_published(const struct task *task, const char *metric)
{
	for (size_t i = 0; i < task->n_published; i++)
		if (strcasecmp(task->published[i].name, metric) == 0)
			return true;
	return false;
}

/* The command that runs a Python program of the workspace. */
static int baseline_of_path(struct loading *l, const char *path)
{
	static const char safe[] =
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./";

	/* Others would need quoting, and no program's name does. */
	if (!path_stays_inside(path) || strspn(path, safe) != strlen(path))
		return node_complain(at(l, "baseline_paths"), l->err,
				"'%s' is not a path in the workspace", path);
	l->task->baseline_command = arena_printf(&l->task->arena, "python3 %s", path);
	return 0;
}

static int load_baseline(struct loading *l)
{
	const struct task_config *c = &l->config;
	struct task *task = l->task;
	int r = load_published(l);

	/* A variant may take the command away with "". */
	if (c->baseline && *c->baseline)
		task->baseline_command = c->baseline;
	else if (r >= 0 && c->baseline_paths.n)
		r = baseline_of_path(l, c->baseline_paths.items[0]);
	if (r >= 0 && !task->baseline_command && !is_published(task, task->metric))
		return node_complain(l->root, l->err,
				"no baseline: give 'baseline' (\"true\" if the starter code is one), "
				"'baseline_paths', or 'baseline_scores' with '%s'",
				task->metric);
	return r;
}

/* --- files ------------------------------------------------------------------------------------ */

static int load_datasets(struct loading *l)
{
	const struct texts *names = &l->config.dataset_configs;
	auto_free char *tasks = path_dirname(l->task->dir);
	auto_free char *root = path_dirname(tasks);
	const struct dataset_places places = {
		.task_dir = l->task->dir,
		.root = root,
		.state_dir = l->places ? l->places->state_dir : NULL,
	};
	struct dataset *datasets = arena_array(&l->task->arena, names->n, sizeof(*datasets));

	for (size_t i = 0; i < names->n; i++) {
		struct fh_error why;
		int r = dataset_load(&l->task->arena, &places, names->items[i], &datasets[i], &why);

		if (r == -ENODATA)
			return error_say(l->err, ENODATA, "%s", why.message);
		if (r < 0) {
			node_complain(at(l, "dataset_configs")->items[i], l->err, "%s",
					why.message);
			return r;
		}
	}
	l->task->datasets = l->folder.datasets = datasets;
	l->task->n_datasets = l->folder.n_datasets = names->n;
	return 0;
}

static int load_data(struct loading *l)
{
	struct task *task = l->task;
	struct task_file *files;
	size_t room = 0, n = 0;

	for (size_t i = 0; i < task->n_datasets; i++)
		room += task->datasets[i].n_files;
	files = arena_array(&task->arena, room, sizeof(*files));
	for (size_t i = 0; i < task->n_datasets; i++) {
		for (size_t j = 0; j < task->datasets[i].n_files; j++) {
			const struct dataset_file *file = &task->datasets[i].files[j];

			if (file->hidden)
				continue;
			for (size_t k = 0; k < n; k++)
				if (str_eq(files[k].target, file->target))
					return node_complain(at(l, "dataset_configs"), l->err,
							"two data sets have a file '%s'",
							file->target);
			files[n++] = (struct task_file){ file->source, file->target };
		}
	}
	task->data = files;
	task->n_data = n;
	return 0;
}

/* Appends the paths of a list under `key`. */
static int add_files(struct loading *l, const char *key, const struct texts *paths,
		struct task_files *files)
{
	return task_files_add(&l->folder, at(l, key), paths, files, l->err);
}

static int load_starter(struct loading *l)
{
	const char *sample = l->config.sample_submission;
	struct task_files files = { 0 };
	const char *source;
	int r = add_files(l, "starter_code", &l->config.starter_code, &files);

	if (r >= 0 && sample)
		r = task_path(&l->folder, at(l, "sample_submission"), sample, &source, l->err);
	if (r >= 0 && sample)
		r = task_files_add_one(
				&l->folder, at(l, "sample_submission"), source, &files, l->err);
	l->task->starter = files.items;
	l->task->n_starter = files.n;
	return r;
}

static int load_hidden(struct loading *l)
{
	struct task_files files = { 0 };
	int r = add_files(l, "hidden", &l->config.hidden, &files);

	if (r >= 0)
		r = add_files(l, "secret_files", &l->config.secret_files, &files);
	l->task->hidden = files.items;
	l->task->n_hidden = files.n;
	return r;
}

static int load_solution(struct loading *l)
{
	const struct solution_config *solution = &l->config.solution;
	struct task_files files = { 0 };
	int r;

	l->task->solution_command = solution->command;
	if (!solution->files.n)
		return 0;
	r = add_files(l, "solution.files", &solution->files, &files);
	l->task->solution = files.items;
	l->task->n_solution = files.n;
	return r;
}

static int load_demo(struct loading *l)
{
	if (!l->config.demo)
		return 0;
	return task_path(&l->folder, at(l, "demo"), l->config.demo, &l->task->demo, l->err);
}

/* --- the whole -------------------------------------------------------------------------------- */

static int load_plain(struct loading *l)
{
	const struct task_config *c = &l->config;
	struct task *task = l->task;

	task->keys = l->root;
	task->name = c->name;
	task->metric = c->metric.name;
	task->maximize = c->metric.direction == METRIC_MAXIMIZE;
	task->max_steps = (int)c->max_steps;
	task->training_timeout_ms = c->training_timeout_ms;
	task->short_timeout_ms = c->short_timeout_ms;
	task->limits = c->limits.sandbox;
	task->output_bytes = c->limits.output_bytes;
	task->network = c->network;
	return 0;
}

static int load_description(struct loading *l)
{
	l->task->description = task_describe(l->task, l->config.description);
	return 0;
}

/* In this order: paths may name data sets, the description lists their files. */
static int (*const parts[])(struct loading *l) = {
	load_plain,
	load_datasets,
	load_data,
	load_starter,
	load_hidden,
	load_solution,
	load_demo,
	load_grader,
	load_baseline,
	load_description,
};

static int read_yaml(struct loading *l)
{
	struct arena *arena = &l->task->arena;
	auto_free char *path = path_join(l->task->dir, "task.yaml");
	int r = yaml_load(arena, path, &l->root, l->err);

	if (r >= 0)
		r = schema_read(arena, &task_schema, l->root, NULL, &l->config, l->err);
	if (r < 0)
		return r;
	if (l->config.id && !str_eq(l->config.id, l->task->id))
		return node_complain(at(l, "id"), l->err, "id '%s' is not the folder's name, '%s'",
				l->config.id, l->task->id);
	return check_variants(l);
}

static struct task *task_new(const char *dir)
{
	struct task *task = xcalloc(1, sizeof(*task));

	task->dir = arena_strdup(&task->arena, dir);
	task->id = path_basename(task->dir);
	return task;
}

int task_load(const struct task_places *places, const char *spec, const char *variant,
		struct task **out, struct fh_error *err)
{
	struct loading l = { .places = places, .err = err };
	struct task_found found;
	int r = task_find(places, spec, &found, err);

	if (r < 0)
		return r;
	l.task = task_new(found.dir);
	l.folder = (struct task_folder){ .arena = &l.task->arena, .dir = l.task->dir };
	r = read_yaml(&l);
	if (r >= 0)
		r = apply_variant(&l, variant && *variant ? variant : found.variant);
	for (size_t i = 0; i < ARRAY_SIZE(parts) && r >= 0; i++)
		r = parts[i](&l);
	task_found_release(&found);
	if (r < 0) {
		task_free(l.task);
		return r;
	}
	*out = l.task;
	return 0;
}

int task_variants(const struct task_places *places, const char *spec, char ***out,
		struct fh_error *err)
{
	struct loading l = { .places = places, .err = err };
	struct task_found found;
	char **names;
	size_t n;
	int r = task_find(places, spec, &found, err);

	if (r < 0)
		return r;
	l.task = task_new(found.dir);
	task_found_release(&found);
	r = read_yaml(&l);
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
