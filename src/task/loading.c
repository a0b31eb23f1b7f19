/* SPDX-License-Identifier: Apache-2.0 */
#include "task/loading.h"

#include "base/str.h"
#include "config/yaml.h"

const struct node *task_at(const struct task_loading *l, const char *path)
{
	return node_path(l->root, path);
}

void task_warn(struct task_loading *l, const char *text)
{
	struct task *task = l->task;
	size_t n = task->n_warnings;
	const char **all;

	for (size_t i = 0; i < n; i++)
		if (str_eq(task->warnings[i], text))
			return;
	all = arena_array(&task->arena, n + 1, sizeof(*all));
	for (size_t i = 0; i < n; i++)
		all[i] = task->warnings[i];
	all[n] = text;
	task->warnings = all;
	task->n_warnings = n + 1;
}

void task_warn_all(struct task_loading *l, const struct warnings *warnings)
{
	for (size_t i = 0; i < warnings->n; i++)
		task_warn(l, warnings->items[i]);
}
