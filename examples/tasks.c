/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints each task and variant that can be opened here, and describes one. With an installed
 * Fumehood:
 *
 *   cc tasks.c $(pkg-config --cflags --libs fumehood) -o tasks && ./tasks [TASK]
 */
#include <fumehood/task.h>

#include <stdio.h>
#include <stdlib.h>

static struct fh_error err = FH_ERROR_INIT;

static void check(int r)
{
	if (r >= 0)
		return;
	fprintf(stderr, "tasks: %s\n", err.message);
	exit(1);
}

static void print_scores(const char *label, const struct fh_metric *metrics, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%s: %s = %g\n", label, metrics[i].name, metrics[i].value);
}

static void list(void)
{
	const struct fh_task_info *task;
	struct fh_tasks *tasks;

	check(fh_tasks_list(NULL, &tasks, &err));
	for (size_t i = 0; (task = fh_tasks_at(tasks, i)); i++)
		for (size_t k = 0; k < task->n_variants; k++)
			if (!task->variants[k].problem)
				printf("%s:%s\n", task->id, task->variants[k].name);
	fh_tasks_free(tasks);
}

static void describe(const char *name)
{
	const struct fh_task_info *task;
	struct fh_tasks *tasks;

	check(fh_tasks_describe(NULL, &FH_ENV_OPTIONS(.task = name), &tasks, &err));
	task = fh_tasks_at(tasks, 0);
	printf("%s, %s of %s, %d steps, a training at most %g s\n", task->name,
			task->maximize ? "most" : "least", task->metric, task->max_steps,
			task->training_timeout_s);
	print_scores("published", task->published, task->n_published);
	print_scores("baseline on this machine", task->baseline, task->n_baseline);
	if (task->problem)
		printf("It can't be opened: %s\n", task->problem);
	fh_tasks_free(tasks);
}

int main(int argc, char **argv)
{
	list();
	describe(argc > 1 ? argv[1] : "titanicSurvival:micro");
	return 0;
}
