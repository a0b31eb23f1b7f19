/* SPDX-License-Identifier: Apache-2.0 */
#include "env/reset.h"

#include "base/clock.h"
#include "env/state.h"
#include "inside/environment.h"
#include "sandbox/python.h"
#include "task/mlgym.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/*
 * Path of the conda environment in MLGym's images. Sandboxes have this machine's Python there, or
 * the user's.
 */
#define MLGYM_PATH MLGYM_CONDA_ENV "/bin:" AGENT_PATH

/* Most time for a sandbox to start. It takes milliseconds; a sandbox that takes this long hangs. */
#define START_NS (60 * NS_PER_S)

/*
 * Derives a random number for one use from the episode's seed; neighbouring seeds give unlike
 * numbers.
 */
static uint32_t reset_derive(uint64_t seed, const char *use)
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

/* Makes the variables of the episode's shell, NULL-terminated. The caller's come last. */
static const char *const *reset_variables(const struct fh_env *env, struct arena *a)
{
	const struct variables *given = &env->terms.variables;
	const struct env_spec *spec = &env->spec;
	bool mlgym = spec->task->task->mlgym;
	const char *path = mlgym ? MLGYM_PATH : AGENT_PATH;
	const char **list = arena_array(a, given->n + 4, sizeof(*list));
	size_t n = 0;

	list[n++] = arena_printf(
			a, "PYTHONHASHSEED=%u", reset_derive(env->episode.seed, "PYTHONHASHSEED"));
	if (spec->gpus)
		list[n++] = sandbox_gpus_variable(a, spec->gpus);
	if (spec->python)
		list[n] = python_env_path(a, spec->python, path);
	else if (mlgym)
		list[n] = "PATH=" MLGYM_PATH;
	if (list[n])
		path = list[n++] + strlen("PATH=");
	for (size_t i = 0; i < given->n; i++)
		list[n++] = variable_expand(a, given->items[i], path);
	return list;
}

static int reset_start_sandbox(struct fh_env *env, struct fh_error *err)
{
	const struct env_spec *spec = &env->spec;
	const struct task *task = spec->task->task;
	auto_arena struct arena arena = ARENA_INIT;

	return sandbox_start(spec->gym->owner,
			&(struct sandbox_options){
					.layer = spec->task->layer,
					.binds = spec->binds,
					.n_binds = spec->n_binds,
					.writable = spec->writable,
					.gpus = spec->gpus,
					.network = task->network,
					.limits = task->limits,
					.shell = true,
					.env = reset_variables(env, &arena),
					.random_seed = reset_derive(env->episode.seed, "RANDOM"),
			},
			&env->episode.sb, err);
}

static void reset_fail(struct fh_env *env, int r, const char *why)
{
	struct fh_error err;

	error_say(&err, -r, "the sandbox of %s could not be made: %s", env->spec.task->task->id,
			why);
	turn_fail(env, &err);
}

/*
 * Ends the last episode and starts a sandbox. Does not wait for the last episode's sandbox to end.
 */
static int reset_start(struct fh_env *env, struct fh_error *err)
{
	int r;

	turn_end_episode(env);
	buf_clear(&env->result.observation); /* drop notes that the end of the last episode added */
	calls_begin(&env->calls);
	r = reset_start_sandbox(env, err);
	if (r < 0)
		return error_wrap(err, "start the sandbox of %s", env->spec.task->task->id);
	env->turn.work = WORK_START;
	env->turn.deadline_ns = clock_now_ns() + START_NS;
	return 0;
}

/*
 * Gets the salt of the reset or of the environment, or draws one. The judges' random numbers depend
 * on it besides the seed. Without a new salt, an episode could tell the next one with the same seed
 * which numbers it got.
 */
static int reset_draw_salt(const struct fh_env *env, const struct fh_reset *reset, uint64_t *out,
		struct fh_error *err)
{
	uint64_t salt = reset->judge_salt ? reset->judge_salt : env->terms.judge_salt;

	while (!salt) {
		if (getrandom(&salt, sizeof(salt), 0) != sizeof(salt))
			return error_set(err, errno, "draw a random number");
		salt &= FH_JUDGE_SALT_MAX;
	}
	*out = salt;
	return 0;
}

int reset_begin(struct fh_env *env, const struct fh_reset *reset, struct fh_error *err)
{
	uint64_t salt;
	int r = turn_check_idle(env, err);

	if (r < 0)
		return r;
	if (reset->judge_salt > FH_JUDGE_SALT_MAX)
		return error_say(err, EINVAL, "a judge's salt should be at most %llu",
				FH_JUDGE_SALT_MAX);
	r = reset_draw_salt(env, reset, &salt, err);
	if (r < 0) {
		turn_drop(env);
		return r;
	}
	turn_forget(env);
	setup_drop_state(&env->setup);
	env_episode_begin(&env->episode, reset->seed, salt);
	env->start.n_failed = 0;
	turn_begin(env, TURN_RESET);
	env->result.step.judge_salt = salt;
	env->result.step.data_seed = env->spec.task->task->data_seed;
	return turn_keep_memory(env) ? 0 : reset_start(env, err);
}

/* Continues a reset after turn_set_up(), which sets up the agent's tools in the shell. `r` is its
 * result. */
static void reset_after_setup(struct fh_env *env, int r, const struct fh_error *err)
{
	if (r < 0)
		reset_fail(env, r, err->message);
	else if (r == 0)
		turn_finish(env);
}

/* Continues a reset after files_begin() or files_advance(), which write files into the sandbox. `r`
 * is the result. */
static void reset_after_files(struct fh_env *env, int r, struct fh_error *err)
{
	if (r < 0) {
		reset_fail(env, r, err->message);
		return;
	}
	env->turn.work = WORK_FILES;
	if (r > 0)
		return;
	env->episode.phase = PHASE_ON;
	reset_after_setup(env, turn_set_up(env, true, err), err);
}

static void reset_sandbox_ready(struct fh_env *env)
{
	const struct task *task = env->spec.task->task;
	struct fh_error err;

	env->episode.session = session_new(env->episode.sb, env->output_bytes);
	env->episode.wall_end_ns = INT64_MAX;
	if (task->wall_ms)
		env->episode.wall_end_ns = clock_now_ns() + task->wall_ms * NS_PER_MS;
	if (env->welcome)
		buf_add_str(&env->result.observation, env->welcome);
	env->start.files = (struct files){ env->episode.sb, &env->memory, &env->setup.given };
	reset_after_files(env, files_begin(&env->start.files, &err), &err);
}

/* Starts the sandbox again. The process that was making it may have been killed. */
static void reset_start_again(struct fh_env *env)
{
	struct fh_error err = FH_ERROR_INIT;
	int r;

	if (++env->start.n_failed == SANDBOX_STARTS_MAX) {
		reset_fail(env, -EIO, "it ended at once");
		return;
	}
	turn_close_sandbox(env);
	r = reset_start_sandbox(env, &err);
	if (r < 0)
		reset_fail(env, r, err.message);
}

static void reset_take_events(struct fh_env *env)
{
	struct sandbox_event event;

	do {
		sandbox_next_event(env->episode.sb, &event);
		if (event.kind == SANDBOX_READY)
			reset_sandbox_ready(env);
		else if (event.kind == SANDBOX_FAILED)
			reset_fail(env, -EIO, event.text);
		else if (event.kind == SANDBOX_GONE)
			reset_start_again(env);
		else
			continue;
		return;
	} while (event.kind != SANDBOX_NONE);
}

static void reset_fail_cancelled(struct fh_env *env)
{
	struct fh_error err;

	error_say(&err, ECANCELED, "the reset was interrupted");
	turn_fail(env, &err);
}

void reset_cancel(struct fh_env *env)
{
	if (env->turn.work == WORK_MEMORY)
		env->turn.cancelled = true;
	else if (env->turn.work != WORK_DONE)
		reset_fail_cancelled(env);
}

static void reset_memory_kept(struct fh_env *env)
{
	struct fh_error err;

	if (env->turn.cancelled)
		reset_fail_cancelled(env);
	else if (reset_start(env, &err) < 0)
		turn_fail(env, &err);
}

void reset_advance(struct fh_env *env)
{
	struct fh_error err;

	if (env->turn.work == WORK_START)
		reset_take_events(env);
	else if (env->turn.work == WORK_FILES)
		reset_after_files(env, files_advance(&env->start.files, &err), &err);
	else if (env->turn.work == WORK_SETUP)
		reset_after_setup(env, turn_set_up_advance(env, &err), &err);
	else if (env->turn.work == WORK_MEMORY && turn_memory_is_kept(env))
		reset_memory_kept(env);
	if ((env->turn.work == WORK_START || env->turn.work == WORK_FILES) &&
			clock_now_ns() >= env->turn.deadline_ns)
		reset_fail(env, -ETIMEDOUT, "it did not start in time");
}
