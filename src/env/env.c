/* SPDX-License-Identifier: Apache-2.0 */
#include "env/env.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/scope.h"
#include "env/fingerprint.h"
#include "env/imports.h"
#include "inside/tools.h"
#include "web/hosts.h"
#include "sandbox/python.h"
#include "task/mlgym.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#define TEXT_BYTES (64 << 10)
#define OBSERVATION_TEXT_BYTES (2 << 20) /* of an observation that is no output */
#define USER_BINDS_MAX 32

/* How long a blocking call may overlook fh_env_interrupt(), which has no descriptor to wake it. */
#define SLICE_NS (200 * NS_PER_MS)

/* --- the state machine ------------------------------------------------------------------------ */

void env_waits(const struct fh_env *env, struct waits *w)
{
	switch (env->work) {
	case WORK_START:
		sandbox_waits(env->sb, w);
		waits_until(w, env->deadline_ns);
		break;
	case WORK_FILES:
		memory_waits(env, w);
		waits_until(w, env->deadline_ns);
		break;
	case WORK_COMMAND:
		session_waits(env->session, w);
		calls_waits(env, w);
		break;
	case WORK_SCRIPT:
	case WORK_STATE:
		session_waits(env->session, w);
		break;
	case WORK_EDITOR:
		sandbox_answer_waits(env->sb, w);
		break;
	case WORK_MEMORY:
		memory_waits(env, w);
		break;
	case WORK_GRADE:
		grade_waits(env->grade, w);
		break;
	case WORK_NONE:
	case WORK_DONE:
		break;
	}
}

bool env_advance(struct fh_env *env)
{
	if (atomic_load_explicit(&env->interrupted, memory_order_relaxed)) {
		atomic_store(&env->interrupted, false);
		step_cancel(env);
	}
	switch (env->work) {
	case WORK_START:
	case WORK_FILES:
		reset_advance(env);
		break;
	case WORK_COMMAND:
	case WORK_EDITOR:
	case WORK_GRADE:
		step_advance(env);
		break;
	case WORK_SCRIPT:
	case WORK_STATE:
		setup_advance(env);
		break;
	case WORK_MEMORY:
		if (memory_advance(env))
			env->kept(env);
		break;
	case WORK_NONE:
	case WORK_DONE:
		break;
	}
	return env->work == WORK_DONE;
}

int env_take(struct fh_env *env, struct fh_step *out, struct fh_error *err)
{
	env->work = WORK_NONE;
	if (env->failure.code < 0) {
		if (err)
			*err = env->failure;
		return env->failure.code;
	}
	*out = env->step;
	return 0;
}

void fh_env_interrupt(struct fh_env *env)
{
	atomic_store(&env->interrupted, true);
	poller_interrupt(&env->gym->poller);
}

bool env_is_in_shell(const struct fh_env *env)
{
	return env->work == WORK_COMMAND || env->work == WORK_SCRIPT || env->work == WORK_STATE;
}

/* --- the blocking form ------------------------------------------------------------------------ */

static int block(struct fh_env *env, struct fh_step *out, struct fh_error *err)
{
	while (env->work != WORK_DONE) {
		struct waits w = WAITS_INIT;

		if (!env_is_in_shell(env) || !session_await_quick(env->session)) {
			env_waits(env, &w);
			waits_until(&w, clock_now_ns() + SLICE_NS);
			waits_poll(&w);
		}
		env_advance(env);
	}
	return env_take(env, out, err);
}

int fh_env_reset(struct fh_env *env, uint64_t seed, struct fh_step *out, struct fh_error *err)
{
	int r = reset_begin(env, seed, err);

	return r < 0 ? r : block(env, out, err);
}

int fh_env_step(struct fh_env *env, const struct fh_action *action, struct fh_step *out,
		struct fh_error *err)
{
	int r = step_begin(env, action, err);

	return r < 0 ? r : block(env, out, err);
}

int fh_env_validate(struct fh_env *env, struct fh_step *out, struct fh_error *err)
{
	int r = step_begin_request(env, REQUEST_VALIDATE, err);

	return r < 0 ? r : block(env, out, err);
}

int fh_env_submit(struct fh_env *env, struct fh_step *out, struct fh_error *err)
{
	int r = step_begin_request(env, REQUEST_SUBMIT, err);

	return r < 0 ? r : block(env, out, err);
}

/* --- open and close --------------------------------------------------------------------------- */

static int add_bind(struct fh_env *env, const struct fh_bind *bind, struct fh_error *err)
{
	struct sandbox_bind b = {
		.source = arena_strdup(&env->arena, bind->source ? bind->source : ""),
		.target = bind->target ? arena_strdup(&env->arena, bind->target) : NULL,
	};
	auto_free char *real = NULL;
	int r;

	if (!b.target)
		b.target = b.source;
	r = sandbox_bind_check(&b, err);
	if (r < 0)
		return r;
	real = realpath(b.source, NULL);
	if (!real)
		return error_set(err, errno, "bind '%s'", b.source);
	r = task_check_bind(env->task->task, env->gym->state_dir, real, err);
	if (r < 0)
		return r;
	env->binds[env->n_binds++] = b;
	return 0;
}

static int add_python_bind(
		struct fh_env *env, const char *source, const char *target, struct fh_error *err)
{
	env->binds[env->n_binds++] =
			(struct sandbox_bind){ arena_strdup(&env->arena, source), target };
	return task_check_bind(env->task->task, env->gym->state_dir, source, err);
}

static int add_python(struct fh_env *env, const char *spec, struct fh_error *err)
{
	struct python_env python;
	auto_free char *real = NULL;
	int r = python_env_find(&env->arena, spec, &python, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < python.n_binds && r == 0; i++)
		r = add_python_bind(env, python.binds[i].source, python.binds[i].target, err);
	real = realpath(python.dir, NULL);
	if (r == 0 && real && env->task->task->mlgym)
		r = add_python_bind(env, real, MLGYM_CONDA_ENV, err);
	if (r == 0 && python.writable)
		r = owner_add_writable(env->gym->owner, python.writable, err);
	env->python = python.dir;
	env->writable = python.writable;
	return r;
}

/* The task's own first, so that a user's may cover them. */
static int add_binds(struct fh_env *env, const struct fh_env_options *options, struct fh_error *err)
{
	const struct gym_task *task = env->task;

	if (options->n_binds > USER_BINDS_MAX)
		return error_say(err, E2BIG, "more than %d binds", USER_BINDS_MAX);
	env->binds = arena_array(&env->arena,
			task->n_data_binds + task->task->n_binds + PYTHON_BINDS_MAX + 1 +
					options->n_binds,
			sizeof(*env->binds));
	for (size_t i = 0; i < task->n_data_binds; i++)
		env->binds[env->n_binds++] = task->data_binds[i];
	for (size_t i = 0; i < task->task->n_binds; i++)
		env->binds[env->n_binds++] = task->task->binds[i];
	if (options->python) {
		int r = add_python(env, options->python, err);

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < options->n_binds; i++) {
		int r = add_bind(env, &options->binds[i], err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int take_gpus(struct fh_env *env, size_t n, struct fh_error *err)
{
	int r;

	env->gpus = arena_array(&env->arena, n, sizeof(*env->gpus));
	r = owner_take_gpus(env->gym->owner, n, env->gpus, err);
	if (r == 0)
		env->n_gpus = n;
	return r;
}

static void init_buffers(struct fh_env *env)
{
	size_t output = (size_t)env->task->task->output_bytes;

	/* Each byte of output may become four ("\\xff"), and notes and scores follow it. */
	buf_init(&env->observation, 4 * output + OBSERVATION_TEXT_BYTES);
	buf_init(&env->folded, output);
	buf_init(&env->integrity, TEXT_BYTES);
	buf_init(&env->grade_error, TEXT_BYTES);
	buf_init(&env->memory_began, GUEST_MEMORY_BYTES_MAX);
}

/* Its task, and what its sandboxes see. */
static int prepare_task(
		struct fh_env *env, const struct fh_env_options *options, struct fh_error *err)
{
	int r = gym_task(env->gym, options->task, options->variant, &env->task, err);

	if (r == 0)
		r = add_binds(env, options, err);
	if (r == 0 && options->n_gpus)
		r = take_gpus(env, options->n_gpus, err);
	if (r < 0)
		return r;
	env->submission = grade_submission_name(&env->arena, env->task->task);
	fingerprint(env->binds, env->n_binds, env->n_gpus, env->fingerprint);
	return 0;
}

static int prepare(struct fh_env *env, const struct fh_env_options *options, struct fh_error *err)
{
	int r;

	if (!options->task || options->max_steps < 0 || options->max_text_bytes < 0)
		return error_say(err, EINVAL,
				"an environment needs a task, and max_steps and max_text_bytes of 0 or more");
	r = prepare_task(env, options, err);
	if (r < 0)
		return r;
	if (options->judge_salt > FH_JUDGE_SALT_MAX)
		return error_say(err, EINVAL, "a judge's salt is at most %llu", FH_JUDGE_SALT_MAX);
	if (options->web_hosts) {
		r = hosts_check(options->web_hosts, err);
		if (r < 0)
			return r;
		env->web_hosts = arena_strdup(&env->arena, options->web_hosts);
	}
	init_buffers(env);
	r = imports_check(env, err);
	if (r == 0)
		r = baseline_load(env, err);
	if (r < 0)
		return r;
	if (options->memory && !env->task->task->memory)
		return error_say(err, EINVAL,
				"the task %s has no memory_path, which a memory is kept in",
				env->task->task->id);
	env->memory = options->memory;
	if (options->memory_file)
		env->memory_file = arena_strdup(&env->arena, options->memory_file);
	env->judge_salt = options->judge_salt;
	env->reward = options->reward;
	env->max_text_bytes = options->max_text_bytes;
	env->max_steps = options->max_steps ? options->max_steps : env->task->task->max_steps;
	env->welcome = observe_welcome(env);
	return 0;
}

int fh_env_open(struct fh_gym *gym, const struct fh_env_options *options, struct fh_env **out,
		struct fh_error *err)
{
	struct fh_env *env = xcalloc(1, sizeof(*env));
	int r;

	env->gym = gym;
	r = prepare(env, options, err);
	if (r < 0) {
		fh_env_close(env);
		return r;
	}
	*out = env;
	return 0;
}

void fh_env_close(struct fh_env *env)
{
	if (!env)
		return;
	memory_keep(env);
	memory_drop_job(env);
	reset_drop(env);
	owner_give_gpus(env->gym->owner, env->gpus, env->n_gpus);
	score_release(&env->baseline);
	score_release(&env->best);
	buf_release(&env->observation);
	buf_release(&env->folded);
	buf_release(&env->integrity);
	buf_release(&env->grade_error);
	buf_release(&env->memory_began);
	arena_release(&env->arena);
	arena_release(&env->setup_arena);
	setup_drop_state(env);
	env_hide(env, NULL);
	free(env->welcome);
	free(env->working_dir);
	free(env);
}

int env_look_at_imports(struct fh_gym *gym, const struct fh_env_options *options,
		char **out_warning, struct fh_error *err)
{
	struct fh_env *env = xcalloc(1, sizeof(*env));
	int r;

	env->gym = gym;
	r = prepare_task(env, options, err);
	if (r == 0)
		r = imports_check(env, err);
	if (r == 0)
		*out_warning = env->warning ? xstrdup(env->warning) : NULL;
	fh_env_close(env);
	return r;
}

const char *fh_env_warning(const struct fh_env *env)
{
	return env->warning;
}

/* --- what is fixed ---------------------------------------------------------------------------- */

void fh_env_info(const struct fh_env *env, struct fh_env_info *out)
{
	const struct task *task = env->task->task;

	*out = (struct fh_env_info){
		.task = task->id,
		.variant = task->variant,
		.name = task->name,
		.description = task->description,
		.metric = task->metric,
		.maximize = task->maximize,
		.submission = env->submission,
		.max_steps = env->max_steps,
		.training_timeout_s = (double)task->training_timeout_ms / 1e3,
		.task_hash = env->task->hash,
		.fingerprint = env->fingerprint,
		.baseline = env->baseline.metrics,
		.n_baseline = env->baseline.n,
		.gpus = env->gpus,
		.n_gpus = env->n_gpus,
	};
}

const char *fh_outcome_name(enum fh_outcome outcome)
{
	static const char *const names[] = {
		[FH_OUTCOME_OK] = "ok",
		[FH_OUTCOME_TIMEOUT] = "timeout",
		[FH_OUTCOME_OUTPUT_LIMIT] = "output_limit",
		[FH_OUTCOME_SHELL_RESTARTED] = "shell_restarted",
		[FH_OUTCOME_MEMORY_LIMIT] = "memory_limit",
		[FH_OUTCOME_MALFORMED_EDIT] = "malformed_edit",
		[FH_OUTCOME_SYNTAX_ERROR] = "syntax_error",
		[FH_OUTCOME_SANDBOX_GONE] = "sandbox_gone",
		[FH_OUTCOME_INTERRUPTED] = "interrupted",
	};

	return (size_t)outcome < ARRAY_SIZE(names) ? names[outcome] : "unknown";
}
