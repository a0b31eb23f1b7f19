/* SPDX-License-Identifier: Apache-2.0 */
#include "env/env.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/sha256.h"
#include "inside/places.h"
#include "sandbox/python.h"
#include "task/mlgym.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/* MLGym's images have an environment of conda's there; it is this machine's Python, or what was bound. */
#define MLGYM_PATH MLGYM_CONDA_ENV "/bin:" AGENT_PATH

/* A sandbox stands after milliseconds; one that takes this long never will. */
#define START_NS (60 * NS_PER_S)

static void drop(struct fh_env *env)
{
	grade_free(env->grade);
	env->grade = NULL;
	calls_drop(env);
	session_free(env->session);
	env->session = NULL;
	sandbox_close(env->sb);
	env->sb = NULL;
	env->episode = EPISODE_NONE;
	env->work = WORK_NONE;
}

void reset_drop(struct fh_env *env)
{
	poller_forget(&env->gym->poller, env);
	drop(env);
}

/* A number for one use that follows from the episode's seed; neighbouring seeds give unlike
 * ones. */
static uint32_t derive(uint64_t seed, const char *use)
{
	uint8_t digest[SHA256_BYTES];
	char number[32];
	struct sha256 h;
	uint32_t v;

	snprintf(number, sizeof(number), "%llu", (unsigned long long)seed);
	sha256_init(&h);
	sha256_add_str(&h, use);
	sha256_add_str(&h, number);
	sha256_end(&h, digest);
	memcpy(&v, digest, sizeof(v));
	return v;
}

static int start_sandbox(struct fh_env *env, struct fh_error *err)
{
	const struct task *task = env->task->task;
	auto_arena struct arena arena = ARENA_INIT;
	const char *env_list[5];
	size_t n = 0;
	char hash_seed[48];

	snprintf(hash_seed, sizeof(hash_seed), "PYTHONHASHSEED=%u",
			derive(env->seed, "PYTHONHASHSEED"));
	env_list[n++] = hash_seed;
	if (env->n_gpus)
		env_list[n++] = sandbox_gpus_variable(&arena, env->n_gpus);
	if (env->python)
		env_list[n++] = python_env_path(
				&arena, env->python, task->mlgym ? MLGYM_PATH : AGENT_PATH);
	else if (task->mlgym)
		env_list[n++] = "PATH=" MLGYM_PATH;
	env_list[n] = NULL;
	return sandbox_start(env->gym->owner,
			&(struct sandbox_options){
					.layer = env->task->layer,
					.binds = env->binds,
					.n_binds = env->n_binds,
					.writable = env->writable,
					.gpus = env->gpus,
					.n_gpus = env->n_gpus,
					.network = task->network,
					.limits = task->limits,
					.shell = true,
					.env = env_list,
					.random_seed = derive(env->seed, "RANDOM"),
			},
			&env->sb, err);
}

/* Episodes that do the same with the same seed meet other numbers, unless somebody wants them the same: one
 * could tell the next what it met. */
static int draw_salt(const struct fh_env *env, uint64_t *out, struct fh_error *err)
{
	uint64_t salt = env->judge_salt;

	while (!salt) {
		if (getrandom(&salt, sizeof(salt), 0) != sizeof(salt))
			return error_set(err, errno, "draw a random number");
		salt &= FH_JUDGE_SALT_MAX;
	}
	*out = salt;
	return 0;
}

static void begin_history(struct fh_env *env, uint64_t salt)
{
	sha256_init(&env->history);
	sha256_add(&env->history, &env->seed, sizeof(env->seed));
	sha256_add(&env->history, &salt, sizeof(salt));
}

static void clear_episode(struct fh_env *env, uint64_t seed, uint64_t salt)
{
	score_release(&env->best);
	setup_drop_state(env);
	env->seed = seed;
	env->n_steps = 0;
	env->text_bytes = 0;
	begin_history(env, salt);
	env->n_validated = 0;
	env->n_scored = 0;
	env->cpu_ns = 0;
	env->memory_peak_bytes = -1;
	xstrset(&env->working_dir, GUEST_WORKSPACE);
	env->starts = 0;
	step_clear(env);
	env->step.judge_salt = salt;
}

/* The old sandbox ends by itself; nobody waits for it. */
static int start_new(struct fh_env *env, struct fh_error *err)
{
	int r;

	poller_unwatch(&env->gym->poller, env);
	drop(env);
	buf_clear(&env->observation); /* a note about the episode before */
	calls_begin(env);
	r = start_sandbox(env, err);
	if (r < 0)
		return error_wrap(err, "start the sandbox of %s", env->task->task->id);
	env->work = WORK_START;
	env->deadline_ns = clock_now_ns() + START_NS;
	return 0;
}

static void failed(struct fh_env *env, int error, const char *why)
{
	struct fh_error err;

	error_say(&err, error, "the sandbox of %s could not be made: %s", env->task->task->id, why);
	env->failure = err;
	reset_drop(env);
	env->work = WORK_DONE;
}

/* The memory of the episode before is kept. */
static void is_kept(struct fh_env *env)
{
	if (start_new(env, &env->failure) < 0)
		env->work = WORK_DONE;
}

int reset_begin(struct fh_env *env, uint64_t seed, struct fh_error *err)
{
	uint64_t salt;
	int r;

	if (env->work != WORK_NONE)
		return error_say(err, EBUSY, "a reset or step of this environment is under way");
	r = draw_salt(env, &salt, err);
	if (r < 0) {
		reset_drop(env);
		return r;
	}
	poller_forget(&env->gym->poller, env);
	clear_episode(env, seed, salt);
	return memory_begin(env, is_kept) ? 0 : start_new(env, err);
}

static void settled(struct fh_env *env, bool alive)
{
	if (alive)
		step_finish(env);
	else if (env->failure.code < 0)
		failed(env, -env->failure.code, env->failure.message);
	else
		failed(env, EIO, "it ended when the agent's commands were set up");
}

/* `r` is what files.c says: an error, 1 while they are put, 0 if they are there. */
static void files_over(struct fh_env *env, int r)
{
	if (r < 0) {
		failed(env, -env->failure.code, env->failure.message);
		return;
	}
	env->work = WORK_FILES;
	if (r > 0)
		return;
	env->episode = EPISODE_ON;
	env->settled = settled;
	setup_begin(env, true);
}

static void stands(struct fh_env *env)
{
	env->session = session_new(env->sb, (size_t)env->task->task->output_bytes);
	env->wall_end_ns = INT64_MAX;
	if (env->task->task->wall_ms)
		env->wall_end_ns = clock_now_ns() + env->task->task->wall_ms * NS_PER_MS;
	if (env->welcome)
		buf_add_str(&env->observation, env->welcome);
	files_over(env, files_begin(env, &env->failure));
}

/* What is killed while it makes a sandbox takes the plan with it. It is given again. */
static void start_again(struct fh_env *env)
{
	struct fh_error err = FH_ERROR_INIT;
	int r;

	if (++env->starts == SANDBOX_STARTS_MAX) {
		failed(env, EIO, "it ended at once");
		return;
	}
	poller_unwatch(&env->gym->poller, env);
	sandbox_close(take_ptr(env->sb));
	r = start_sandbox(env, &err);
	if (r < 0)
		failed(env, -r, err.message);
}

static void start_advance(struct fh_env *env)
{
	struct sandbox_event event;

	do {
		sandbox_next_event(env->sb, &event);
		switch (event.kind) {
		case SANDBOX_READY:
			stands(env);
			return;
		case SANDBOX_FAILED:
			failed(env, EIO, event.text);
			return;
		case SANDBOX_GONE:
			start_again(env);
			return;
		case SANDBOX_NONE:
		case SANDBOX_EXITED:
		case SANDBOX_REQUEST:
		case SANDBOX_DONE:
		case SANDBOX_HUNGRY:
			break;
		}
	} while (event.kind != SANDBOX_NONE);
}

void reset_advance(struct fh_env *env)
{
	if (env->work == WORK_START)
		start_advance(env);
	else
		files_over(env, files_advance(env, &env->failure));
	if ((env->work == WORK_START || env->work == WORK_FILES) &&
			clock_now_ns() >= env->deadline_ns)
		failed(env, ETIMEDOUT, "it did not stand in time");
}
