/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_sweep.h"

#include "base/mem.h"
#include "base/scope.h"
#include "config/yaml.h"

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
		"temperature, with each seed. Options of the command line win.",
	.size = sizeof(struct sweep),
	.fields = sweep_fields,
};

static void take_list(struct arena *a, const struct texts *from, struct cmd_list *to)
{
	*to = (struct cmd_list){ .items = arena_array(a, from->n + 1, sizeof(char *)),
		.n = from->n };
	for (size_t i = 0; i < from->n; i++)
		to->items[i] = from->items[i];
}

static int take_temperatures(struct arena *a, const struct node *root, const struct sweep *s,
		struct run_options *o, struct fh_error *err)
{
	const struct node *list = node_get(root, "temperatures");
	double *all = arena_array(a, s->temperatures.n + 1, sizeof(*all));

	for (size_t i = 0; i < s->temperatures.n; i++) {
		char *end;

		all[i] = strtod(s->temperatures.items[i], &end);
		if (*end || end == s->temperatures.items[i] || !(all[i] >= 0 && all[i] <= 100))
			return node_complain(list->items[i], err, "'%s' is no temperature",
					s->temperatures.items[i]);
	}
	o->temperatures = all;
	o->n_temperatures = s->temperatures.n;
	return 0;
}

static int take_seeds(struct arena *a, const struct node *root, const struct sweep *s,
		struct run_options *o, struct fh_error *err)
{
	const struct node *list = node_get(root, "seeds");
	uint64_t *all = arena_array(a, s->seeds.n + 1, sizeof(*all));

	for (size_t i = 0; i < s->seeds.n; i++) {
		const char *text = s->seeds.items[i];
		char *end;

		errno = 0;
		all[i] = strtoull(text, &end, 10);
		if (*end || *text < '0' || *text > '9' || errno)
			return node_complain(list->items[i], err, "'%s' is no seed", text);
	}
	o->seeds = all;
	o->n_seeds = s->seeds.n;
	return 0;
}

static int compare_seeds(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Runs count up from each seed: two that meet would be one episode played twice, and counted as two. */
static int check_seeds(const struct node *root, const struct run_options *o, struct fh_error *err)
{
	auto_free uint64_t *all = xcalloc(o->n_seeds + 1, sizeof(*all));

	if (o->n_seeds)
		memcpy(all, o->seeds, o->n_seeds * sizeof(*all));
	qsort(all, o->n_seeds, sizeof(*all), compare_seeds);
	for (size_t i = 1; i < o->n_seeds; i++)
		if (all[i] - all[i - 1] < (uint64_t)o->runs)
			return node_complain(node_get(root, "seeds"), err,
					"seeds %" PRIu64 " and %" PRIu64
					" with runs: %d play seed %" PRIu64 " twice",
					all[i - 1], all[i], o->runs, all[i]);
	return 0;
}

int run_sweep_apply(struct arena *a, const struct command_context *ctx, struct run_options *o,
		struct fh_error *err)
{
	const struct node *root;
	struct sweep s = { 0 };
	int r = yaml_load(a, o->sweep, &root, err);

	if (r == 0)
		r = schema_read(a, &sweep_schema, root, NULL, &s, err);
	if (r == 0 && !s.tasks.n)
		r = node_complain(root, err, "'tasks' names none");
	if (r == 0 && !cmd_given(ctx, "temperature"))
		r = take_temperatures(a, root, &s, o, err);
	if (r == 0 && !cmd_given(ctx, "seed"))
		r = take_seeds(a, root, &s, o, err);
	if (r < 0)
		return r;
	if (!o->tasks.n)
		take_list(a, &s.tasks, &o->tasks);
	if (!cmd_given(ctx, "model"))
		take_list(a, &s.models, &o->models);
	if (!cmd_given(ctx, "agent"))
		take_list(a, &s.agents, &o->agent_configs);
	if (!cmd_given(ctx, "runs"))
		o->runs = (int)s.runs;
	r = check_seeds(root, o, err);
	if (r < 0)
		return r;
	if (!cmd_given(ctx, "max-steps"))
		o->episode.max_steps = (int)s.max_steps;
	if (!cmd_given(ctx, "suffix"))
		o->suffix = s.suffix;
	return 0;
}
