/* SPDX-License-Identifier: Apache-2.0 */
#include "env/open.h"

#include "base/mem.h"
#include "base/job.h"
#include "base/scope.h"
#include "base/sized.h"
#include "env/baseline.h"
#include "env/close.h"
#include "env/drive.h"
#include "env/env.h"
#include "env/observe.h"
#include "env/state.h"

#include <errno.h>
#include <stdlib.h>

static void open_init(struct fh_env *env, int64_t output_bytes)
{
	const struct task *task = env->spec.task->task;

	env->output_bytes = (size_t)(output_bytes ? output_bytes : task->output_bytes);
	env_result_init(&env->result, env->output_bytes);
	env->scoring = (struct env_scoring){ &env->spec, &env->baseline, &env->episode,
		&env->result };
	env->calls.poller = env->memory.poller = &env->spec.gym->poller;
	env->calls.web_hosts = env->spec.web_hosts;
	env->memory.task = task;
	memory_init(&env->memory);
}

static const char *open_copy_text(struct arena *a, const char *text)
{
	return text ? arena_strdup(a, text) : NULL;
}

/* Copies options with all that they point to. */
static void open_copy_options(
		struct arena *a, const struct fh_env_options *from, struct fh_env_options *out)
{
	struct fh_bind *binds = arena_array(a, from->n_binds, sizeof(*binds));
	const char **variables = arena_array(a, from->n_variables, sizeof(*variables));

	*out = *from;
	out->task = open_copy_text(a, from->task);
	out->variant = open_copy_text(a, from->variant);
	out->memory_file = open_copy_text(a, from->memory_file);
	out->python = open_copy_text(a, from->python);
	out->web_hosts = open_copy_text(a, from->web_hosts);
	out->binds = binds;
	for (size_t i = 0; i < from->n_binds; i++)
		binds[i] = (struct fh_bind){ open_copy_text(a, from->binds[i].source),
			open_copy_text(a, from->binds[i].target) };
	out->variables = variables;
	for (size_t i = 0; i < from->n_variables; i++)
		variables[i] = open_copy_text(a, from->variables[i]);
}

/*
 * Plays the baseline if it is not known. An environment of its own plays it, because another thread
 * may look at this one while it is being opened.
 */
static int open_get_baseline(struct fh_env *env, struct fh_error *err)
{
	struct fh_env other = {
		.spec = env->spec,
		.terms = { .max_steps = BASELINE_STEPS_MAX, .judge_salt = BASELINE_JUDGE_SALT },
		.interrupter = env->interrupter,
		.is_open = true,
		.interrupter_is_lent = true,
	};
	int r;

	open_init(&other, 0);
	r = baseline_get(&other, &other.spec, &env->baseline, err);
	env_release(&other);
	return r;
}

static int open_check_options(const struct fh_env_options *options, struct fh_error *err)
{
	if (!options->task || options->max_steps < 0 || options->max_text_bytes < 0)
		return error_say(err, EINVAL,
				"an environment needs a task, and max_steps and max_text_bytes of 0 or more");
	if ((unsigned)options->reward > FH_REWARD_NONE)
		return error_say(err, EINVAL, "unknown kind of reward %d", (int)options->reward);
	if (options->output_bytes < 0 || options->output_bytes > FH_OUTPUT_BYTES_MAX)
		return error_say(
				err, EINVAL, "output_bytes should be 0 to %d", FH_OUTPUT_BYTES_MAX);
	if (options->judge_salt > FH_JUDGE_SALT_MAX)
		return error_say(err, EINVAL, "a judge's salt should be at most %llu",
				FH_JUDGE_SALT_MAX);
	if (options->data_seed > FH_DATA_SEED_MAX)
		return error_say(err, EINVAL, "a data seed should be at most %llu",
				FH_DATA_SEED_MAX);
	return 0;
}

static int open_open(struct fh_env *env, const struct fh_env_options *options, struct fh_error *err)
{
	struct variables variables;
	const struct task *task;
	int r;

	r = env_spec_init(&env->spec, options, err);
	if (r < 0)
		return r;
	task = env->spec.task->task;
	if (options->memory && !task->memory)
		return error_say(err, EINVAL,
				"the task %s has no memory_path, which an agent's memory needs",
				task->id);
	r = variables_copy(&env->spec.arena, options->variables, options->n_variables, &variables,
			err);
	if (r < 0)
		return r;
	open_init(env, options->output_bytes);
	r = env_spec_check_imports(&env->spec, err);
	if (r < 0)
		return r;
	r = open_get_baseline(env, err);
	if (r < 0)
		return r;
	env->memory.is_kept = options->memory;
	if (options->memory_file)
		env->memory.file = arena_strdup(&env->spec.arena, options->memory_file);
	env->scoring.reward = options->reward;
	env->terms = (struct env_terms){
		.max_steps = options->max_steps ? options->max_steps : task->max_steps,
		.max_text_bytes = options->max_text_bytes,
		.judge_salt = options->judge_salt,
		.variables = variables,
	};
	open_copy_options(&env->spec.arena, options, &env->given);
	env->welcome = observe_welcome(task, env->terms.max_steps, &env->baseline);
	return 0;
}

/* Makes an environment for options that are right, and reads them. */
static int open_new(struct fh_gym *gym, const struct fh_env_options *given,
		struct fh_env_options *options, struct fh_env **out, struct fh_error *err)
{
	struct fh_env *env;
	int r = gym_check_process(gym, err);

	if (r < 0)
		return r;
	r = SIZED_READ(fh_env_options, options, given, err);
	if (r < 0)
		return r;
	r = open_check_options(options, err);
	if (r < 0)
		return r;
	env_free_left(gym);
	env = xcalloc(1, sizeof(*env));
	env->spec.gym = gym;
	env->interrupter = interrupter_new(gym->poller.waker, gym->mark);
	env->spec.cancel = &env->interrupter->cancel;
	turn_set_polled(env, options->polled);
	*out = env;
	return 0;
}

int fh_env_open(struct fh_gym *gym, const struct fh_env_options *options, struct fh_env **out,
		struct fh_error *err)
{
	struct fh_env_options read;
	struct fh_env *env;
	int r;

	err = error_or(err, &(struct fh_error)FH_ERROR_INIT);
	r = open_new(gym, options, &read, &env, err);
	if (r < 0)
		return r;
	r = open_open(env, &read, err);
	if (r < 0) {
		fh_env_close(env);
		return r;
	}
	env->is_open = true;
	*out = env;
	return 0;
}

/* --- in a thread ------------------------------------------------------------------------------ */

struct open_work {
	struct fh_env *env;
	struct fh_env_options options;
	struct arena arena; /* holds copies of the texts and lists in `options` */
};

static void open_work_free(struct open_work *w)
{
	arena_release(&w->arena);
	free(w);
}

/* Runs in a job's thread. So it must not touch env->turn, which the caller's thread reads. */
static int open_work_run(void *work, struct fh_error *err)
{
	struct open_work *w = work;
	int r = open_open(w->env, &w->options, err);

	open_work_free(w);
	return r;
}

int fh_env_open_start(struct fh_gym *gym, const struct fh_env_options *options, struct fh_env **out,
		struct fh_error *err)
{
	struct fh_env_options read;
	struct open_work *work;
	struct fh_env *env;
	int r = open_new(gym, options, &read, &env, err);

	if (r < 0)
		return r;
	env->turn.kind = TURN_OPEN;
	env->turn.work = WORK_OPEN;
	work = xcalloc(1, sizeof(*work));
	work->env = env;
	open_copy_options(&work->arena, &read, &work->options);
	r = job_begin(open_work_run, work, "open a task", &env->opening, err);
	if (r < 0) {
		open_work_free(work);
		fh_env_close(env);
		return r;
	}
	*out = env;
	return env_start(env, 0);
}

/* --- about an environment --------------------------------------------------------------------- */

int env_check_imports(struct fh_gym *gym, const struct fh_env_options *options, char **out_warning,
		struct fh_error *err)
{
	__attribute__((cleanup(env_spec_release))) struct env_spec spec = { .gym = gym };
	int r = env_spec_init(&spec, options, err);

	if (r < 0)
		return r;
	r = env_spec_check_imports(&spec, err);
	if (r < 0)
		return r;
	*out_warning = spec.warning ? xstrdup(spec.warning) : NULL;
	return 0;
}

const struct fh_env_options *env_given(const struct fh_env *env)
{
	return &env->given;
}

struct task_places env_places(const struct fh_env *env)
{
	const struct fh_gym *gym = env->spec.gym;

	return (struct task_places){ .tasks_dir = gym->tasks_dir,
		.state_dir = gym->state_dir,
		.mlgym_root = gym->mlgym_root,
		.data_seed = env->given.data_seed };
}

const char *fh_env_warning(const struct fh_env *env)
{
	return env->is_open ? env->spec.warning : NULL;
}

void fh_env_set_user(struct fh_env *env, void *user)
{
	env->user = user;
}

void *fh_env_user(const struct fh_env *env)
{
	return env->user;
}

void fh_env_interrupt(struct fh_env *env)
{
	fh_interrupter_fire(env->interrupter);
}

struct fh_interrupter *fh_env_interrupter(struct fh_env *env)
{
	atomic_fetch_add(&env->interrupter->n_refs, 1);
	return env->interrupter;
}

void fh_env_info(const struct fh_env *env, struct fh_env_info *out)
{
	const struct task *task;

	*out = (struct fh_env_info){ .task = NULL };
	if (!env->is_open)
		return;
	task = env->spec.task->task;
	*out = (struct fh_env_info){
		.task = task->id,
		.variant = task->variant,
		.name = task->name,
		.description = task->description,
		.metric = task->metric,
		.maximize = task->maximize,
		.submission = env->spec.submission,
		.max_steps = env->terms.max_steps,
		.training_timeout_s = (double)task->training_timeout_ms / 1e3,
		.task_hash = env->spec.task->hash,
		.fingerprint = env->spec.fingerprint,
		.baseline = env->baseline.metrics,
		.n_baseline = env->baseline.n,
		.final = task->grader.final,
		.gpus = env->spec.gpus ? env->spec.gpus->numbers : NULL,
		.n_gpus = env->spec.gpus ? env->spec.gpus->n : 0,
		.data_seed = task->data_seed,
	};
}
