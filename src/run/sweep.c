/* SPDX-License-Identifier: Apache-2.0 */
#include "run/sweep.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "config/yaml.h"
#include "model/model.h"
#include "task/find.h"
#include "task/load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 1000000

struct sweep {
	struct texts tasks, models, agents, temperatures, seeds;
	int64_t runs, max_steps, data_seed;
	const char *suffix;
};

#define FIELD(f) offsetof(struct sweep, f)
static const struct field sweep_fields[] = {
	{ "tasks", FIELD_TEXTS, FIELD(tasks), "as `--task` takes them; `[all]` for all",
			.required = true },
	{ "models", FIELD_TEXTS, FIELD(models), "as `--model` takes them", .preset = "[baseline]" },
	{ "agents", FIELD_TEXTS, FIELD(agents), "as `--agent` takes them; for language models",
			.preset = "[default]" },
	{ "temperatures", FIELD_TEXTS, FIELD(temperatures),
			"temperatures of the models' replies; default: `--temperature`" },
	{ "seeds", FIELD_TEXTS, FIELD(seeds), "whole numbers; otherwise that of `--seed`" },
	{ "runs", FIELD_INT, FIELD(runs),
			"episodes of each combination, with seeds that count up; they must not reach the next of `seeds`",
			.preset = "1", .min = 1, .max = RUNS_MAX },
	{ "max_steps", FIELD_INT, FIELD(max_steps), "steps of an episode; 0: the task's own number",
			.max = STEPS_MAX },
	{ "data_seed", FIELD_INT, FIELD(data_seed), "seed of generated data", .preset = "0",
			.max = FH_DATA_SEED_MAX },
	{ "suffix", FIELD_TEXT, FIELD(suffix), "end of the folders' names" },
	{},
};
#undef FIELD

const struct schema sweep_schema = {
	.name = "sweep",
	.help = "A file for `fumehood run --sweep`: each model plays each task, led by each agent at each "
		"temperature, with each seed. Options of the command line win. Paths are relative to the "
		"file's folder. A path that does not exist there is found like that of an option. No list may name the "
		"same twice.",
	.size = sizeof(struct sweep),
	.fields = sweep_fields,
};

struct sweep_read {
	struct arena *arena;
	const struct node *root;
	const char *dir; /* folder of the sweep file */
	const struct task_places *places;
	struct run_options *options;
	struct fh_error *err;
};

/* --- lists ------------------------------------------------------------------------------------ */

/*
 * Refuses a list of the sweep file in which two items mean the same. Such items have equal strings
 * in `texts`.
 */
static int sweep_check_repeats(
		const struct sweep_read *q, const char *key, const char *const *texts, size_t n)
{
	const struct node *list = node_get(q->root, key);
	size_t at;

	if (!str_find_repeat(texts, n, &at))
		return 0;
	return node_complain(list->items[at], q->err, "'%s' would be played twice",
			list->items[at]->text);
}

struct sweep_kind {
	const char *key;
	/* Returns the path that a list's item of the sweep file contains; NULL: the item has
	 * none. */
	const char *(*path_in)(const char *item);
	/* Returns the string to compare an item of a list in the sweep file by. It is equal for
	 * items of equal meaning. */
	const char *(*resolve)(const struct sweep_read *q, const char *item);
};

static const char *sweep_path_in_task(const char *item)
{
	return strchr(item, '/') ? item : NULL;
}

static const char *sweep_resolve_task(const struct sweep_read *q, const char *item)
{
	const char *variant = q->options->episode.variant;
	const char *text;
	struct task_found found;

	if (task_find(q->places, item, &found, NULL) < 0)
		return item;
	if (found.variant)
		variant = found.variant;
	text = arena_printf(q->arena, "%s:%s", found.file, variant ? variant : "");
	task_found_release(&found);
	return text;
}

static const char *sweep_resolve_model(const struct sweep_read *q, const char *item)
{
	return model_resolve(q->arena, item);
}

static const char *sweep_path_in_agent(const char *item)
{
	return agent_config_is_path(item) ? item : NULL;
}

static const char *sweep_resolve_agent(const struct sweep_read *q, const char *item)
{
	struct warnings ignored = { 0 };
	struct agent_config_options options = {
		.spec = item, .root = q->places->mlgym_root, .warnings = &ignored
	};
	struct agent_config *config;
	auto_free char *real = NULL;

	if (agent_config_load(&options, &config, NULL) < 0)
		return item;
	real = realpath(config->path, NULL);
	agent_config_free(config);
	return real ? arena_strdup(q->arena, real) : item;
}

static const struct sweep_kind sweep_tasks = { "tasks", sweep_path_in_task, sweep_resolve_task };
static const struct sweep_kind sweep_models = { "models", model_path, sweep_resolve_model };
static const struct sweep_kind sweep_agents = { "agents", sweep_path_in_agent,
	sweep_resolve_agent };

/* Returns true if the path of a task exists. ":VARIANT" may follow the path. */
static bool sweep_path_exists(const char *path)
{
	const char *colon = strrchr(path, ':');
	bool ends = colon && !strchr(colon, '/');
	auto_free char *bare = ends ? xstrndup(path, (size_t)(colon - path)) : NULL;

	return path_exists(path) || (bare && path_exists(bare));
}

/* If a path in the sweep file exists relative to the file's folder, puts that folder before it.
 * Other items stay unchanged and are looked up like values of an option. */
static const char *sweep_beside(
		const struct sweep_read *q, const char *item, const char *(*path_in)(const char *))
{
	const char *path = path_in(item);
	auto_free char *whole = NULL;

	if (!path || *path == '/' || str_eq(q->dir, "."))
		return item;
	whole = path_join(q->dir, path);
	return sweep_path_exists(whole)
			? arena_printf(q->arena, "%.*s%s", (int)(path - item), item, whole)
			: item;
}

static int sweep_take_list(const struct sweep_read *q, const struct sweep_kind *kind,
		const struct texts *from, struct texts *to)
{
	const char **items = arena_array(q->arena, from->n + 1, sizeof(*items));
	const char **resolved = arena_array(q->arena, from->n + 1, sizeof(*resolved));

	for (size_t i = 0; i < from->n; i++) {
		items[i] = sweep_beside(q, from->items[i], kind->path_in);
		resolved[i] = kind->resolve(q, items[i]);
	}
	*to = (struct texts){ .items = items, .n = from->n };
	return sweep_check_repeats(q, kind->key, resolved, from->n);
}

/* Checks that the tasks and variants exist that the sweep file names. */
static int sweep_check_tasks(const struct sweep_read *q)
{
	const struct texts *tasks = &q->options->tasks;
	const char *variant = q->options->episode.variant;

	for (size_t i = 0; i < tasks->n; i++) {
		struct task *task = NULL;
		struct fh_error why;
		int r = str_eq(tasks->items[i], "all")
				? 0
				: task_read(q->places, tasks->items[i], variant, &task, &why);

		task_free(task);
		if (r == -ENOENT)
			return node_complain(node_get(q->root, "tasks")->items[i], q->err, "%s",
					why.message);
	}
	return 0;
}

static int sweep_take_lists(const struct sweep_read *q, const struct sweep *s)
{
	struct run_options *o = q->options;
	bool given = o->tasks.n > 0;
	int r = given ? 0 : sweep_take_list(q, &sweep_tasks, &s->tasks, &o->tasks);

	if (r < 0)
		return r;
	r = given ? 0 : sweep_check_tasks(q);
	if (r < 0)
		return r;
	r = o->given.models ? 0 : sweep_take_list(q, &sweep_models, &s->models, &o->models);
	if (r < 0 || o->agent.given.config)
		return r;
	return sweep_take_list(q, &sweep_agents, &s->agents, &o->agent_configs);
}

/* --- numbers ---------------------------------------------------------------------------------- */

static int sweep_take_temperatures(const struct sweep_read *q, const struct sweep *s)
{
	const struct texts *texts = &s->temperatures;
	const struct node *list = node_get(q->root, "temperatures");
	const char **values = arena_array(q->arena, texts->n + 1, sizeof(*values));
	double *all = arena_array(q->arena, texts->n + 1, sizeof(*all));

	for (size_t i = 0; i < texts->n; i++) {
		char *end;

		all[i] = strtod(texts->items[i], &end);
		if (*end || end == texts->items[i] || !(all[i] >= 0 && all[i] <= 100))
			return node_complain(list->items[i], q->err, "'%s' is not a temperature",
					texts->items[i]);
		values[i] = arena_printf(q->arena, "%.15g", all[i]);
	}
	q->options->temperatures = all;
	q->options->n_temperatures = texts->n;
	return sweep_check_repeats(q, "temperatures", values, texts->n);
}

static int sweep_take_seeds(const struct sweep_read *q, const struct sweep *s)
{
	const struct node *list = node_get(q->root, "seeds");
	uint64_t *all = arena_array(q->arena, s->seeds.n + 1, sizeof(*all));

	for (size_t i = 0; i < s->seeds.n; i++) {
		const char *text = s->seeds.items[i];
		char *end;

		errno = 0;
		all[i] = strtoull(text, &end, 10);
		if (*end || *text < '0' || *text > '9' || errno || all[i] > SEED_MAX)
			return node_complain(list->items[i], q->err,
					"'%s' is not a seed: a whole number from 0 to %" PRId64,
					text, SEED_MAX);
	}
	q->options->seeds = all;
	q->options->n_seeds = s->seeds.n;
	return 0;
}

static int sweep_compare_seeds(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Refuses seeds whose episodes overlap. With --runs N, seed S gives episodes with the seeds S to
 * S+N-1. Two of these ranges must not share a seed: its episode would count twice. */
static int sweep_check_seeds(const struct sweep_read *q)
{
	const struct run_options *o = q->options;
	auto_free uint64_t *all = xcalloc(o->n_seeds + 1, sizeof(*all));

	if (o->n_seeds)
		memcpy(all, o->seeds, o->n_seeds * sizeof(*all));
	qsort(all, o->n_seeds, sizeof(*all), sweep_compare_seeds);
	for (size_t i = 1; i < o->n_seeds; i++)
		if (all[i] - all[i - 1] < (uint64_t)o->runs)
			return node_complain(node_get(q->root, "seeds"), q->err,
					"seeds %" PRIu64 " and %" PRIu64
					" with runs: %d play seed %" PRIu64 " twice",
					all[i - 1], all[i], o->runs, all[i]);
	return 0;
}

int run_sweep_apply(struct arena *a, const struct task_places *places, struct run_options *o,
		struct fh_error *err)
{
	auto_free char *dir = path_dirname(o->sweep);
	struct sweep_read q = {
		.arena = a, .dir = dir, .places = places, .options = o, .err = err
	};
	struct sweep s = { 0 };
	int r = yaml_load(a, o->sweep, &q.root, err);

	if (r < 0)
		return r == -EINVAL ? r : error_wrap(err, "--sweep");
	r = schema_read(a, &sweep_schema, q.root, NULL, &s, err);
	if (r < 0)
		return r;
	if (!s.tasks.n)
		return node_complain(
				node_get(q.root, "tasks"), err, "'tasks' is empty: name a task");
	if (!s.models.n)
		return node_complain(
				node_get(q.root, "models"), err, "'models' is empty: name a model");
	r = o->agent.given.temperature ? 0 : sweep_take_temperatures(&q, &s);
	if (r < 0)
		return r;
	r = o->episode.given.seed ? 0 : sweep_take_seeds(&q, &s);
	if (r < 0)
		return r;
	r = sweep_take_lists(&q, &s);
	if (r < 0)
		return r;
	if (!o->given.runs)
		o->runs = (int)s.runs;
	if (!o->episode.max_steps)
		o->episode.max_steps = (int)s.max_steps;
	if (!o->episode.given.data_seed)
		o->episode.data_seed = (uint64_t)s.data_seed;
	if (!o->suffix)
		o->suffix = s.suffix;
	return sweep_check_seeds(&q);
}
