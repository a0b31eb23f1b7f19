/* SPDX-License-Identifier: Apache-2.0 */
#include "task/load.h"

#include "base/path.h"
#include "base/str.h"

#include <string.h>

static bool baseline_is_whole(const char *text)
{
	text += strspn(text, "+-");
	return *text && !text[strspn(text, "0123456789")];
}

static int baseline_add_published(const struct task_loading *l, const struct node *scores,
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
		metric->whole = baseline_is_whole(value->text);
	}
	return 0;
}

/* A mapping, or as MLGym has it a list of mappings. */
static int baseline_load_published(struct task_loading *l)
{
	const struct node *scores = l->config.baseline_scores;
	struct fh_metric *metrics;
	size_t n = 0;
	int r = 0;

	if (!scores)
		return 0;
	metrics = arena_array(&l->task->arena, scores->n_nodes, sizeof(*metrics));
	if (scores->kind != NODE_LIST)
		r = baseline_add_published(l, scores, metrics, &n);
	else
		for (size_t i = 0; i < scores->n && r >= 0; i++)
			r = baseline_add_published(l, scores->items[i], metrics, &n);
	l->task->published = metrics;
	l->task->n_published = n;
	return r;
}

static bool baseline_has_published(const struct task *task, const char *metric)
{
	for (size_t i = 0; i < task->n_published; i++)
		if (strcasecmp(task->published[i].name, metric) == 0)
			return true;
	return false;
}

/* The command that runs a Python program of the workspace. */
static int baseline_of_path(struct task_loading *l, const char *path)
{
	static const char safe[] =
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./";

	/* Others would need quoting, and no program's name does. */
	if (!path_stays_inside(path) || strspn(path, safe) != strlen(path))
		return node_complain(task_at(l, "baseline_paths"), l->err,
				"'%s' is not a path in the workspace", path);
	l->task->baseline_command = arena_printf(&l->task->arena, "python3 %s", path);
	return 0;
}

int task_load_baseline(struct task_loading *l)
{
	const struct task_config *c = &l->config;
	struct task *task = l->task;
	int r = baseline_load_published(l);

	/* A variant may take the command away with "". */
	if (c->baseline && *c->baseline)
		task->baseline_command = c->baseline;
	else if (r >= 0 && c->baseline_paths.n)
		r = baseline_of_path(l, c->baseline_paths.items[0]);
	task->baseline_is_published = l->mlgym && baseline_has_published(task, task->metric);
	if (r >= 0 && !task->baseline_command && !baseline_has_published(task, task->metric))
		return node_complain(l->root, l->err,
				"no baseline: give 'baseline' (\"true\" if the starter code is one), "
				"'baseline_paths', or 'baseline_scores' with '%s'",
				task->metric);
	return r;
}
