/* SPDX-License-Identifier: Apache-2.0 */
#include "task/describe.h"

#include "base/scope.h"
#include "base/str.h"
#include "task/dataset.h"

#include <string.h>

#define DESCRIPTION_BYTES_MAX (4 * 1024 * 1024)

static void describe_add_datasets(struct buf *out, const struct task *task)
{
	for (size_t i = 0; i < task->n_datasets; i++) {
		const struct dataset *dataset = &task->datasets[i];
		const char *separator = "Files: ";
		size_t n = strlen(dataset->description);

		while (n && dataset->description[n - 1] == '\n')
			n--;
		buf_printf(out, "%s%s\n%.*s\n", i ? "\n\n" : "", dataset->name, (int)n,
				dataset->description);
		for (size_t j = 0; j < dataset->n_files; j++) {
			if (dataset->files[j].hidden)
				continue;
			buf_printf(out, "%s`data/%s`", separator, dataset->files[j].target);
			separator = ", ";
		}
	}
}

static void describe_add_timeout(struct buf *out, const struct task *task)
{
	buf_printf(out, "%.15g", (double)task->training_timeout_ms / 1000);
}

static const struct {
	const char *name;
	void (*add)(struct buf *out, const struct task *task);
} places[] = {
	{ "{dataset_docs}", describe_add_datasets },
	{ "{training_timeout}", describe_add_timeout },
};

const char *task_describe(struct task *task, const char *description)
{
	auto_buf struct buf out = BUF_INIT(DESCRIPTION_BYTES_MAX);

	while (*description) {
		size_t i;

		for (i = 0; i < ARRAY_SIZE(places); i++)
			if (str_starts(description, places[i].name))
				break;
		if (i < ARRAY_SIZE(places)) {
			places[i].add(&out, task);
			description += strlen(places[i].name);
		} else {
			buf_add_char(&out, *description++);
		}
	}
	return arena_strdup(&task->arena, buf_str(&out));
}
