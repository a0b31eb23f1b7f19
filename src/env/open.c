/* SPDX-License-Identifier: Apache-2.0 */
#include "env/open.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/sized.h"
#include "env/baseline.h"
#include "env/env.h"
#include "env/observe.h"
#include "env/turn.h"

#include <errno.h>
#include <stdlib.h>

#define TEXT_BYTES (64 << 10)
#define NOTES_BYTES (2 << 20) /* bytes of an observation for notes and scores, besides output */

static void env_init(struct fh_env *env)
{
	size_t output = (size_t)env->spec.task->task->output_bytes;

	/* Bytes of output may become four each ("\\xff"). Notes and scores follow the output. */
	buf_init(&env->observation, 4 * output + NOTES_BYTES);
	buf_init(&env->folded, output);
	buf_init(&env->integrity, TEXT_BYTES);
	buf_init(&env->grade_error, TEXT_BYTES);
	env->calls.poller = env->memory.poller = &env->spec.gym->poller;
	env->calls.web_hosts = env->spec.web_hosts;
	env->memory.task = env->spec.task->task;
	memory_init(&env->memory);
}

static int env_get_baseline(struct fh_env *env, struct fh_error *err)
{
	int r;

	env->terms = (struct env_terms){
		.max_steps = BASELINE_STEPS_MAX,
		.judge_salt = BASELINE_JUDGE_SALT,
	};
	r = baseline_get(env, &env->spec, &env->baseline, err);
	turn_drop(env);
	scores_release(&env->scores);
	return r;
}

static int env_open(struct fh_env *env, const struct fh_env_options *options, struct fh_error *err)
{
	struct variables variables;
	const struct task *task;
	int r;

	if (!options->task || options->max_steps < 0 || options->max_text_bytes < 0)
		return error_say(err, EINVAL,
				"an environment needs a task, and max_steps and max_text_bytes of 0 or more");
	if (options->judge_salt > FH_JUDGE_SALT_MAX)
		return error_say(err, EINVAL, "a judge's salt is at most %llu", FH_JUDGE_SALT_MAX);
	if (options->data_seed > FH_DATA_SEED_MAX)
		return error_say(err, EINVAL, "a data seed is at most %llu", FH_DATA_SEED_MAX);
	r = env_spec_init(&env->spec, env->spec.gym, options, err);
	if (r < 0)
		return r;
	task = env->spec.task->task;
	if (options->memory && !task->memory)
		return error_say(err, EINVAL, "the task %s has no memory_path: a memory needs one",
				task->id);
	r = variables_copy(&env->spec.arena, options->variables, options->n_variables, &variables,
			err);
	if (r < 0)
		return r;
	env_init(env);
	r = env_spec_check_imports(&env->spec, err);
	if (r < 0)
		return r;
	r = env_get_baseline(env, err);
	if (r < 0)
		return r;
	env->memory.is_kept = options->memory;
	if (options->memory_file)
		env->memory.file = arena_strdup(&env->spec.arena, options->memory_file);
	env->terms = (struct env_terms){
		.reward = options->reward,
		.max_steps = options->max_steps ? options->max_steps : task->max_steps,
		.max_text_bytes = options->max_text_bytes,
		.judge_salt = options->judge_salt,
		.variables = variables,
	};
	env->welcome = observe_welcome(task, env->terms.max_steps, &env->baseline);
	return 0;
}

int fh_env_open(struct fh_gym *gym, const struct fh_env_options *options, struct fh_env **out,
		struct fh_error *err)
{
	struct fh_env_options read;
	struct fh_env *env;
	int r;

	err = error_or(err, &(struct fh_error)FH_ERROR_INIT);
	r = gym_check_process(gym, err);
	if (r < 0)
		return r;
	r = SIZED_READ(fh_env_options, &read, options, err);
	if (r < 0)
		return r;
	env = xcalloc(1, sizeof(*env));
	env->spec.gym = gym;
	r = env_open(env, &read, err);
	if (r < 0) {
		fh_env_close(env);
		return r;
	}
	*out = env;
	return 0;
}

void fh_env_close(struct fh_env *env)
{
	if (!env || gym_check_process(env->spec.gym, NULL) < 0)
		return;
	/*
	 * Save the agent's memory. Blocks for the sandbox' answer, which has a deadline, and for a
	 * job that merges memories.
	 */
	if (env->work == WORK_MEMORY || turn_keep_memory(env))
		while (!turn_memory_is_kept(env)) {
			struct waits w = WAITS_INIT;

			memory_waits(&env->memory, env->sb, &w);
			waits_poll(&w);
		}
	turn_drop(env);
	memory_release(&env->memory);
	setup_release(&env->setup);
	score_release(&env->baseline);
	scores_release(&env->scores);
	buf_release(&env->observation);
	buf_release(&env->folded);
	buf_release(&env->integrity);
	buf_release(&env->grade_error);
	env_spec_release(&env->spec);
	env_hide(env, NULL);
	free(env->welcome);
	free(env->working_dir);
	free(env);
}

int env_check_imports(struct fh_gym *gym, const struct fh_env_options *options, char **out_warning,
		struct fh_error *err)
{
	__attribute__((cleanup(env_spec_release))) struct env_spec spec = { .gym = gym };
	int r = env_spec_init(&spec, gym, options, err);

	if (r < 0)
		return r;
	r = env_spec_check_imports(&spec, err);
	if (r < 0)
		return r;
	*out_warning = spec.warning ? xstrdup(spec.warning) : NULL;
	return 0;
}

const char *fh_env_warning(const struct fh_env *env)
{
	return env->spec.warning;
}

void fh_env_info(const struct fh_env *env, struct fh_env_info *out)
{
	const struct task *task = env->spec.task->task;

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
		.gpus = env->spec.gpus,
		.n_gpus = env->spec.n_gpus,
		.data_seed = task->data_seed,
	};
}
