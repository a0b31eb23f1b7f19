/* SPDX-License-Identifier: Apache-2.0 */
#include "task/load_parts.h"

#include "base/path.h"
#include "base/str.h"

#include <string.h>

static int baseline_add_published(const struct task_loading *l, const struct node *scores,
		struct fh_metric *metrics, size_t *n)
{
	if (scores->kind != NODE_MAP)
		return node_complain(scores, l->err, "expected a mapping of metrics to numbers");
	for (size_t i = 0; i < scores->n; i++) {
		struct fh_metric *metric = &metrics[(*n)++];
		const struct node *value = scores->pairs[i].value;
		const char *digits;

		metric->name = scores->pairs[i].key->text;
		if (value->kind != NODE_SCALAR || !str_to_double(value->text, &metric->value))
			return node_complain(
					value, l->err, "'%s': expected a number", metric->name);
		digits = value->text + strspn(value->text, "+-");
		metric->whole = *digits && !digits[strspn(digits, "0123456789")];
	}
	return 0;
}

/* Loads the published scores of a task's baseline: a mapping, or a list of mappings as in MLGym's
 * files. */
static int baseline_load_published(struct task_loading *l)
{
	const struct node *scores = l->config.baseline_scores;
	struct fh_metric *metrics;
	size_t n = 0;

	if (!scores)
		return 0;
	metrics = arena_array(&l->task->arena, scores->n_nodes, sizeof(*metrics));
	for (size_t i = 0; i < (scores->kind == NODE_LIST ? scores->n : 1); i++) {
		int r = baseline_add_published(l,
				scores->kind == NODE_LIST ? scores->items[i] : scores, metrics, &n);

		if (r < 0)
			return r;
	}
	l->task->published = metrics;
	l->task->n_published = n;
	return 0;
}

static bool baseline_has_published(const struct task *task, const char *metric)
{
	for (size_t i = 0; i < task->n_published; i++)
		if (strcasecmp(task->published[i].name, metric) == 0)
			return true;
	return false;
}

/* Loads a score that the task expects, from the list [mean, sd] under `key`. */
static int baseline_load_expect(const struct task_loading *l, const char *key,
		const struct texts *numbers, struct task_expect *out)
{
	struct task_expect expect = { .given = numbers->n > 0 };

	if (!numbers->n)
		return 0;
	if (numbers->n != 2 || !str_to_double(numbers->items[0], &expect.mean) ||
			!str_to_double(numbers->items[1], &expect.sd) || expect.sd < 0)
		return node_complain(task_at(l, key), l->err,
				"expected two numbers, a mean and a standard deviation: [0.4, 0.01]");
	*out = expect;
	return 0;
}

static int baseline_load_expected(struct task_loading *l)
{
	const struct expect_config *c = &l->config.expect;
	int r = baseline_load_expect(l, "expect.baseline", &c->baseline, &l->task->expect_baseline);

	if (r < 0)
		return r;
	return baseline_load_expect(l, "expect.solution", &c->solution, &l->task->expect_solution);
}

int task_load_baseline(struct task_loading *l)
{
	/* Characters that need no quotes in a shell command. */
	static const char safe[] =
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./";
	const struct task_config *c = &l->config;
	const char *path = c->baseline_paths.n ? c->baseline_paths.items[0] : NULL;
	struct task *task = l->task;
	int r = baseline_load_published(l);

	if (r < 0)
		return r;
	r = baseline_load_expected(l);
	if (r < 0)
		return r;
	/* Treat an empty `baseline` as missing, so that a variant can remove its task's command. */
	if (c->baseline && *c->baseline) {
		task->baseline_command = c->baseline;
	} else if (path) {
		if (!path_stays_inside(path) || strspn(path, safe) != strlen(path))
			return node_complain(task_at(l, "baseline_paths"), l->err,
					"'%s' is not a path in the workspace", path);
		task->baseline_command = arena_printf(&task->arena, "python3 %s", path);
	}
	task->baseline_is_published = l->mlgym && baseline_has_published(task, task->metric);
	if (!task->baseline_command && !baseline_has_published(task, task->metric))
		return node_complain(l->root, l->err,
				"no baseline: give 'baseline' (\"true\" if the starter code is one), "
				"'baseline_paths', or 'baseline_scores' with '%s'",
				task->metric);
	return 0;
}
