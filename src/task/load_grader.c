/* SPDX-License-Identifier: Apache-2.0 */
#include "task/load_parts.h"

#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"

#define KIND_CSV (1u << GRADER_CSV)
#define KIND_SCRIPT (1u << GRADER_SCRIPT)
#define KIND_DUEL (1u << GRADER_DUEL)

/*
 * Keys of `grader` in task.yaml. Each has the kinds of graders that accept it, and those that
 * require it.
 */
static const struct {
	const char *key;
	unsigned taken_by, wanted_by;
} grader_keys[] = {
	{ "answers", KIND_CSV, KIND_CSV },
	{ "id", KIND_CSV, 0 },
	{ "target", KIND_CSV, KIND_CSV },
	{ "metric", KIND_CSV, KIND_CSV },
	{ "range", KIND_CSV, 0 },
	{ "program", KIND_SCRIPT | KIND_DUEL, KIND_SCRIPT | KIND_DUEL },
	{ "args", KIND_SCRIPT | KIND_DUEL, 0 },
	{ "functions", KIND_DUEL, 0 },
	{ "player", KIND_DUEL, 0 },
	{ "players", KIND_DUEL, 0 },
	{ "shared_memory", KIND_DUEL, 0 },
	{ "cpu_metric", KIND_DUEL, 0 },
};

static int load_check_grader_keys(const struct task_loading *l)
{
	const struct grader_config *g = &l->config.grader;
	const struct node *node = task_at(l, "grader");
	const char *kind = node_get(node, "kind")->text;

	if (g->kind == GRADER_MLGYM)
		return node_complain(node_get(node, "kind"), l->err,
				"the mlgym grader is for tasks of a checkout of MLGym: --mlgym-root");
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
		return node_complain(task_at(l, "grader.submission"), l->err,
				"'%s' is not a path in the workspace", g->submission);
	return 0;
}

static int grader_range(const struct task_loading *l, struct task_grader *out)
{
	const struct texts *range = &l->config.grader.range;
	double least, most;

	if (!range->n)
		return 0;
	if (range->n != 2 || !str_to_double(range->items[0], &least) ||
			!str_to_double(range->items[1], &most) || least >= most)
		return node_complain(task_at(l, "grader.range"), l->err,
				"'range': expected two numbers, [least, most]");
	out->least = range->items[0];
	out->most = range->items[1];
	return 0;
}

/* Makes the path of a grader's file absolute. A NULL path stays NULL. */
static int grader_path(
		const struct task_loading *l, const char *key, const char *path, const char **out)
{
	return path ? task_path(&l->folder, task_at(l, key), path, out, l->err) : 0;
}

int task_load_grader(struct task_loading *l)
{
	const struct grader_config *g = &l->config.grader;
	struct task_grader *out = &l->task->grader;
	int r = load_check_grader_keys(l);

	if (r < 0)
		return r;
	*out = (struct task_grader){
		.kind = g->kind,
		.submission = g->submission,
		.submission_bytes = g->submission_bytes,
		.timeout_ms = g->timeout_ms,
		.validations = (int)g->validations,
		.final = g->final,
		.id_column = g->id,
		.target_column = g->target,
		.csv_metric = g->kind == GRADER_CSV ? csv_metrics[g->csv_metric] : NULL,
		.args = g->args.items,
		.functions = g->functions.items,
		.players = (int)g->players,
		.shared_bytes = g->shared_bytes,
		.cpu_metric = g->cpu_metric,
	};
	r = grader_range(l, out);
	if (r < 0)
		return r;
	r = grader_path(l, "grader.answers", g->answers, &out->answers);
	if (r < 0)
		return r;
	r = grader_path(l, "grader.program", g->program, &out->program);
	return r < 0 ? r : grader_path(l, "grader.player", g->player, &out->player);
}
