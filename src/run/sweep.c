/* SPDX-License-Identifier: Apache-2.0 */
#include "run/sweep.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "config/yaml.h"
#include "model/model.h"
#include "run/repeats.h"
#include "task/find.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX 1000000

struct sweep {
	struct texts tasks, models, agents, temperatures, seeds;
	int64_t runs, max_steps;
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
			"of their replies; otherwise that of `--temperature`" },
	{ "seeds", FIELD_TEXTS, FIELD(seeds), "whole numbers; otherwise that of `--seed`" },
	{ "runs", FIELD_INT, FIELD(runs),
			"of each combination, with seeds that count up; none may reach the next of `seeds`",
			.preset = "1", .min = 1, .max = RUNS_MAX },
	{ "max_steps", FIELD_INT, FIELD(max_steps), "of an episode; 0: the task's own number",
			.max = STEPS_MAX },
	{ "suffix", FIELD_TEXT, FIELD(suffix), "end of the folders' names" },
	{},
};
#undef FIELD

const struct schema sweep_schema = {
	.name = "sweep",
	.help = "A file for `fumehood run --sweep`: each model plays each task, led by each agent at each "
		"temperature, with each seed. Options of the command line win. Paths in it begin where it lies, or "
		"where those of options do if nothing is there; no list may name the same twice.",
	.size = sizeof(struct sweep),
	.fields = sweep_fields,
};

struct taking {
	struct arena *arena;
	const struct node *root;
	const char *dir; /* of the file */
	const struct task_places *places;
	struct run_options *options;
	struct fh_error *err;
};

/* --- lists ---------------------------------------------------------------------------------------------------- */

/* `texts` are what the items of the key mean, one text
 * for what is the same. */
static int sweep_check_repeats(
		const struct taking *t, const char *key, const char *const *texts, size_t n)
{
	const struct node *list = node_get(t->root, key);
	size_t at;

	if (!repeats_find(texts, n, &at))
		return 0;
	return node_complain(list->items[at], t->err, "'%s' would be played twice",
			list->items[at]->text);
}

/* What the items of a list are. */
struct item_kind {
	const char *key;
	const char *(*path_in)(const char *item); /* where a path begins in it; NULL: it has none */
	const char *(*resolve)(const struct taking *t, const char *item);
};

static const char *sweep_path_in_task(const char *item)
{
	return strchr(item, '/') ? item : NULL;
}

/* What is not found is itself: it is complained about where it is wanted. */
static const char *sweep_resolve_task(const struct taking *t, const char *item)
{
	const char *variant = t->options->episode.variant;
	const char *text;
	struct task_found found;

	if (task_find(t->places, item, &found, NULL) < 0)
		return item;
	if (found.variant)
		variant = found.variant;
	text = arena_printf(t->arena, "%s:%s", found.file, variant ? variant : "");
	task_found_release(&found);
	return text;
}

static const struct item_kind of_tasks = { "tasks", sweep_path_in_task, sweep_resolve_task };

static const char *sweep_resolve_model(const struct taking *t, const char *item)
{
	return model_resolve(t->arena, item);
}

static const struct item_kind of_models = { "models", model_path, sweep_resolve_model };

static const char *sweep_path_in_agent(const char *item)
{
	return agent_config_is_path(item) ? item : NULL;
}

static const char *sweep_resolve_agent(const struct taking *t, const char *item)
{
	struct warnings ignored = { 0 };
	struct agent_config_options options = {
		.spec = item, .root = t->places->mlgym_root, .warnings = &ignored
	};
	struct agent_config *config;
	auto_free char *real = NULL;

	if (agent_config_load(&options, &config, NULL) < 0)
		return item;
	real = realpath(config->path, NULL);
	agent_config_free(config);
	return real ? arena_strdup(t->arena, real) : item;
}

static const struct item_kind of_agents = { "agents", sweep_path_in_agent, sweep_resolve_agent };

/* A task's path may be followed by its variant. */
static bool sweep_is_there(const char *path)
{
	const char *colon = strrchr(path, ':');
	bool ends = colon && !strchr(colon, '/');
	auto_free char *bare = ends ? xstrndup(path, (size_t)(colon - path)) : NULL;

	return path_exists(path) || (bare && path_exists(bare));
}

/* What is not there beside the file is looked up as what an option names: in a checkout of MLGym, too. */
static const char *sweep_beside(
		const struct taking *t, const char *item, const char *(*path_in)(const char *))
{
	const char *path = path_in(item);
	auto_free char *whole = NULL;

	if (!path || *path == '/' || str_eq(t->dir, "."))
		return item;
	whole = path_join(t->dir, path);
	return sweep_is_there(whole)
			? arena_printf(t->arena, "%.*s%s", (int)(path - item), item, whole)
			: item;
}

static int sweep_take_list(const struct taking *t, const struct item_kind *kind,
		const struct texts *from, struct texts *to)
{
	const char **items = arena_array(t->arena, from->n + 1, sizeof(*items));
	const char **resolved = arena_array(t->arena, from->n + 1, sizeof(*resolved));

	for (size_t i = 0; i < from->n; i++) {
		items[i] = sweep_beside(t, from->items[i], kind->path_in);
		resolved[i] = kind->resolve(t, items[i]);
	}
	*to = (struct texts){ .items = items, .n = from->n };
	return sweep_check_repeats(t, kind->key, resolved, from->n);
}

static int sweep_take_lists(const struct taking *t, const struct sweep *s)
{
	struct run_options *o = t->options;
	int r = o->tasks.n ? 0 : sweep_take_list(t, &of_tasks, &s->tasks, &o->tasks);

	if (r < 0)
		return r;
	r = o->given.models ? 0 : sweep_take_list(t, &of_models, &s->models, &o->models);
	if (r < 0 || o->agent.given.config)
		return r;
	return sweep_take_list(t, &of_agents, &s->agents, &o->agent_configs);
}

/* --- numbers -------------------------------------------------------------------------------------------------- */

static int sweep_take_temperatures(const struct taking *t, const struct sweep *s)
{
	const struct texts *texts = &s->temperatures;
	const struct node *list = node_get(t->root, "temperatures");
	const char **values = arena_array(t->arena, texts->n + 1, sizeof(*values));
	double *all = arena_array(t->arena, texts->n + 1, sizeof(*all));

	for (size_t i = 0; i < texts->n; i++) {
		char *end;

		all[i] = strtod(texts->items[i], &end);
		if (*end || end == texts->items[i] || !(all[i] >= 0 && all[i] <= 100))
			return node_complain(list->items[i], t->err, "'%s' is no temperature",
					texts->items[i]);
		values[i] = arena_printf(t->arena, "%.15g", all[i]);
	}
	t->options->temperatures = all;
	t->options->n_temperatures = texts->n;
	return sweep_check_repeats(t, "temperatures", values, texts->n);
}

static int sweep_take_seeds(const struct taking *t, const struct sweep *s)
{
	const struct node *list = node_get(t->root, "seeds");
	uint64_t *all = arena_array(t->arena, s->seeds.n + 1, sizeof(*all));

	for (size_t i = 0; i < s->seeds.n; i++) {
		const char *text = s->seeds.items[i];
		char *end;

		errno = 0;
		all[i] = strtoull(text, &end, 10);
		if (*end || *text < '0' || *text > '9' || errno)
			return node_complain(list->items[i], t->err, "'%s' is no seed", text);
	}
	t->options->seeds = all;
	t->options->n_seeds = s->seeds.n;
	return 0;
}

static int sweep_compare_seeds(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Runs count up from each seed: two that meet would be one episode played twice, and counted as two. */
static int sweep_check_seeds(const struct taking *t)
{
	const struct run_options *o = t->options;
	auto_free uint64_t *all = xcalloc(o->n_seeds + 1, sizeof(*all));

	if (o->n_seeds)
		memcpy(all, o->seeds, o->n_seeds * sizeof(*all));
	qsort(all, o->n_seeds, sizeof(*all), sweep_compare_seeds);
	for (size_t i = 1; i < o->n_seeds; i++)
		if (all[i] - all[i - 1] < (uint64_t)o->runs)
			return node_complain(node_get(t->root, "seeds"), t->err,
					"seeds %" PRIu64 " and %" PRIu64
					" with runs: %d play seed %" PRIu64 " twice",
					all[i - 1], all[i], o->runs, all[i]);
	return 0;
}

static int sweep_check_names_some(
		const struct taking *t, const char *key, const struct texts *texts)
{
	if (texts->n)
		return 0;
	return node_complain(node_get(t->root, key), t->err, "'%s' names none", key);
}

int run_sweep_apply(struct arena *a, const struct task_places *places, struct run_options *o,
		struct fh_error *err)
{
	auto_free char *dir = path_dirname(o->sweep);
	struct taking t = { .arena = a, .dir = dir, .places = places, .options = o, .err = err };
	struct sweep s = { 0 };
	int r = yaml_load(a, o->sweep, &t.root, err);

	if (r < 0)
		return r;
	r = schema_read(a, &sweep_schema, t.root, NULL, &s, err);
	if (r < 0)
		return r;
	r = sweep_check_names_some(&t, "tasks", &s.tasks);
	if (r < 0)
		return r;
	r = sweep_check_names_some(&t, "models", &s.models);
	if (r < 0)
		return r;
	r = o->agent.given.temperature ? 0 : sweep_take_temperatures(&t, &s);
	if (r < 0)
		return r;
	r = o->episode.given.seed ? 0 : sweep_take_seeds(&t, &s);
	if (r < 0)
		return r;
	r = sweep_take_lists(&t, &s);
	if (r < 0)
		return r;
	if (!o->given.runs)
		o->runs = (int)s.runs;
	if (!o->episode.max_steps)
		o->episode.max_steps = (int)s.max_steps;
	if (!o->suffix)
		o->suffix = s.suffix;
	return sweep_check_seeds(&t);
}
