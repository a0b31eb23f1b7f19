/* SPDX-License-Identifier: Apache-2.0 */
#include <fumehood/task.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/sized.h"
#include "base/str.h"
#include "env/baseline.h"
#include "task/config.h"
#include "task/dataset.h"
#include "task/load.h"

#include <errno.h>
#include <stdlib.h>

/* fumehood/task.h: tasks as their files describe them. */

struct fh_tasks {
	struct fh_task_info *items;
	size_t n;
	struct task **loaded; /* n_loaded tasks whose strings the items use */
	size_t n_loaded;
	struct arena arena; /* holds both arrays, and what items point to beside tasks */
};

static void scope_tasks(struct fh_tasks **t)
{
	fh_tasks_free(*t);
}

#define auto_tasks __attribute__((cleanup(scope_tasks)))

/* --- an item ---------------------------------------------------------------------------------- */

static void tasks_own(struct fh_tasks *t, struct task *task)
{
	t->loaded = arena_grow(&t->arena, t->loaded, t->n_loaded, sizeof(struct task *));
	t->loaded[t->n_loaded++] = task;
}

static const char *const *tasks_targets(struct fh_tasks *t, const struct task_file *files, size_t n)
{
	const char **targets = arena_array(&t->arena, n + 1, sizeof(char *));

	for (size_t i = 0; i < n; i++)
		targets[i] = files[i].target;
	return targets;
}

/* Sets the members that tell of names, times and limits. */
static void tasks_fill(struct fh_task_info *info, const struct task *task)
{
	info->id = task->id;
	info->variant = task->variant;
	info->warnings = task->warnings;
	info->n_warnings = task->n_warnings;
	info->name = task->name;
	info->description = task->description;
	info->metric = task->metric;
	info->maximize = task->maximize;
	info->max_steps = task->max_steps;
	info->training_timeout_s = (double)task->training_timeout_ms / 1e3;
	info->short_timeout_s = (double)task->short_timeout_ms / 1e3;
	info->limits = (struct fh_task_limits){
		.memory_bytes = task->limits.memory_bytes,
		.pids = task->limits.pids,
		.cpus = task->limits.cpus,
		.disk_bytes = task->limits.disk_bytes,
		.disk_files = task->limits.disk_files,
		.output_bytes = task->output_bytes,
		.wall_s = (double)task->wall_ms / 1e3,
	};
	info->network = task->network == NETWORK_HOST;
	info->folder = task->dir;
	info->comparable = task->comparable;
	info->why_comparable = task->why_comparable;
}

static struct fh_task_expect tasks_expect(const struct task_expect *expect)
{
	return (struct fh_task_expect){
		.given = expect->given, .mean = expect->mean, .deviation = expect->sd
	};
}

static size_t tasks_count(const char *const *texts)
{
	size_t n = 0;

	while (texts && texts[n])
		n++;
	return n;
}

/* Sets the members that tell of the grader, of files and of scores. */
static void tasks_fill_data(struct fh_tasks *t, struct fh_task_info *info, const struct task *task)
{
	info->grader = grader_kinds[task->grader.kind];
	info->submission = task->grader.submission;
	info->final = task->grader.final;
	info->starter = tasks_targets(t, task->starter, task->n_starter);
	info->n_starter = task->n_starter;
	info->data = tasks_targets(t, task->data, task->n_data);
	info->n_data = task->n_data;
	info->baseline_command = task->baseline_command;
	info->baseline_is_starter = task->baseline_command &&
			str_eq(task->baseline_command, "true");
	info->published = task->published;
	info->n_published = task->n_published;
	info->submission_bytes = task->grader.submission_bytes;
	info->grading_timeout_s = (double)task->grader.timeout_ms / 1e3;
	info->validations = task->grader.validations;
	info->packages = task->packages;
	info->n_packages = tasks_count(task->packages);
	info->expect_baseline = tasks_expect(&task->expect_baseline);
	info->expect_solution = tasks_expect(&task->expect_solution);
}

/* Lists what is missing of the task's data sets. `problem`: why the task can't be opened; MLGym's
 * data sets have no other sentence. */
static void tasks_fill_missing(struct fh_tasks *t, struct fh_task_info *info,
		const struct task *task, const char *problem)
{
	const char **missing = arena_array(&t->arena, task->n_datasets + 1, sizeof(char *));
	size_t n = 0;

	for (size_t i = 0; i < task->n_datasets; i++) {
		missing[n] = dataset_tell_missing(&t->arena, &task->datasets[i]);
		n += missing[n] != NULL;
	}
	if (!n)
		missing[n++] = problem;
	info->missing = missing;
	info->n_missing = n;
}

/* Lists the task's variants, and tries to load each of them. */
static int tasks_fill_variants(struct fh_tasks *t, struct fh_task_info *info,
		const struct task_places *places, const char *spec, struct fh_error *err)
{
	/* A data seed is for the variant that is described: others may have no made data. */
	struct task_places others = *places;
	struct fh_task_variant *all;
	char **names;
	size_t n = 0;
	int r = task_variants(places, spec, &names, err);

	if (r < 0)
		return r;
	others.data_seed = 0;
	while (names[n])
		n++;
	info->variants = all = arena_array(&t->arena, n, sizeof(*all));
	info->n_variants = n;
	for (size_t i = 0; i < n; i++) {
		struct task *task = NULL;
		struct fh_error why;

		all[i].name = arena_strdup(&t->arena, names[i]);
		if (task_load(&others, spec, names[i], &task, &why) < 0)
			all[i].problem = arena_strdup(&t->arena, why.message);
		task_free(task);
	}
	xfree_strings(names);
	return 0;
}

/* Describes a task and its variants. *out_task: the task with its data; NULL: it can't be loaded
 * whole. */
static int tasks_fill_item(struct fh_tasks *t, struct fh_task_info *info,
		const struct task_places *places, const struct fh_env_options *env,
		struct task **out_task, struct fh_error *err)
{
	struct task *task;
	struct fh_error why;
	int loaded = task_load(places, env->task, env->variant, &task, &why);
	bool whole = loaded == 0;
	bool missing = loaded == -ENODATA &&
			task_load_without_data(places, env->task, env->variant, &task, NULL) == 0;
	int r = whole || missing ? 0 : task_read(places, env->task, env->variant, &task, err);

	if (!whole)
		info->problem = arena_strdup(&t->arena, why.message);
	if (r < 0)
		return r;
	*out_task = whole ? task : NULL;
	tasks_own(t, task);
	tasks_fill(info, task);
	if (missing || whole)
		tasks_fill_data(t, info, task);
	if (missing)
		tasks_fill_missing(t, info, task, info->problem);
	return tasks_fill_variants(t, info, places, env->task, err);
}

/* --- the baseline ----------------------------------------------------------------------------- */

static int tasks_take_baseline(struct fh_tasks *t, struct fh_task_info *info, struct env_spec *spec,
		const struct fh_env_options *env, struct fh_error *err)
{
	auto_score struct score score = { 0 };
	struct fh_metric *kept;
	int r = env_spec_bind(spec, env, err);

	if (r < 0)
		return r;
	if (!baseline_find(spec, &score))
		return 0;
	kept = arena_array(&t->arena, score.n + 1, sizeof(*kept));
	for (size_t i = 0; i < score.n; i++) {
		kept[i] = score.metrics[i];
		kept[i].name = arena_strdup(&t->arena, kept[i].name);
	}
	info->baseline = score.n ? kept : NULL;
	info->n_baseline = score.n;
	return 0;
}

/*
 * Looks for the score of the task's baseline. It is not known if the task can't be hashed, because
 * its data is not made yet. -EINVAL, -EPERM, ...: the options' binds are wrong.
 */
static int tasks_find_baseline(struct fh_tasks *t, struct fh_task_info *info, struct task *task,
		const struct fh_gym_options *options, const struct fh_env_options *env,
		struct fh_error *err)
{
	auto_free char *state_dir = NULL;
	struct fh_gym gym = { 0 };
	struct gym_task prepared = { .task = task };
	struct env_spec spec = { .gym = &gym, .task = &prepared };
	int r = places_state_path(options->state_dir, &state_dir, err);

	if (r < 0)
		return r;
	gym.state_dir = state_dir;
	if (task_hash(task, prepared.hash, NULL) == 0 && gym_bind_data(&prepared, NULL) == 0)
		r = tasks_take_baseline(t, info, &spec, env, err);
	arena_release(&spec.arena);
	arena_release(&prepared.arena);
	return r;
}

/* --- lists ------------------------------------------------------------------------------------ */

static struct task_places tasks_places(
		const struct fh_gym_options *options, const struct fh_env_options *env)
{
	return (struct task_places){ .tasks_dir = options->tasks_dir,
		.mlgym_root = options->mlgym_root,
		.state_dir = options->state_dir,
		.data_seed = env->data_seed };
}

int fh_tasks_list(const struct fh_gym_options *options, struct fh_tasks **out, struct fh_error *err)
{
	auto_tasks struct fh_tasks *t = xcalloc(1, sizeof(*t));
	struct fh_gym_options read;
	struct task_places places;
	char **ids;
	int r = SIZED_READ(fh_gym_options, &read, options, err);

	if (r < 0)
		return r;
	places = tasks_places(&read, &FH_ENV_OPTIONS());
	r = task_list(&places, &ids, err);
	if (r < 0)
		return r;
	while (ids[t->n])
		t->n++;
	t->items = arena_array(&t->arena, t->n + 1, sizeof(*t->items));
	for (size_t i = 0; i < t->n; i++) {
		struct fh_task_info *info = &t->items[i];
		const struct fh_env_options env = FH_ENV_OPTIONS(.task = ids[i]);
		struct task *task;

		/* An unreadable task stays in the list: its `problem` is set. */
		if (tasks_fill_item(t, info, &places, &env, &task, NULL) < 0)
			*info = (struct fh_task_info){ .problem = info->problem };
		info->id = arena_strdup(&t->arena, ids[i]);
		info->variant = info->variant ? info->variant : "";
	}
	xfree_strings(ids);
	*out = take_ptr(t);
	return 0;
}

int fh_tasks_describe(const struct fh_gym_options *options, const struct fh_env_options *env,
		struct fh_tasks **out, struct fh_error *err)
{
	auto_tasks struct fh_tasks *t = xcalloc(1, sizeof(*t));
	struct fh_gym_options read;
	struct fh_env_options read_env;
	struct task_places places;
	struct task *task;
	int r = SIZED_READ(fh_gym_options, &read, options, err);

	if (r < 0)
		return r;
	r = SIZED_READ(fh_env_options, &read_env, env, err);
	if (r < 0)
		return r;
	if (!read_env.task)
		return error_say(err, EINVAL, "no task is given");
	places = tasks_places(&read, &read_env);
	t->items = arena_array(&t->arena, 1, sizeof(*t->items));
	t->n = 1;
	r = tasks_fill_item(t, t->items, &places, &read_env, &task, err);
	if (r < 0)
		return r;
	if (task) {
		r = tasks_find_baseline(t, t->items, task, &read, &read_env, err);
		if (r < 0)
			return r;
	}
	*out = take_ptr(t);
	return 0;
}

const struct fh_task_info *fh_tasks_at(const struct fh_tasks *t, size_t i)
{
	return i < t->n ? &t->items[i] : NULL;
}

void fh_tasks_free(struct fh_tasks *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_loaded; i++)
		task_free(t->loaded[i]);
	arena_release(&t->arena);
	free(t);
}
