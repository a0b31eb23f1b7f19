/* SPDX-License-Identifier: Apache-2.0 */
#include "run/env_server.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/lines.h"
#include "base/scope.h"
#include "env/open.h"
#include "run/episode_setup.h"
#include "run/mlgym_root.h"
#include "run/task_warnings.h"
#include "task/load.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

/* --- requests --------------------------------------------------------------------------------- */

/* Shows the running step to viewers. */
static void env_server_look(struct env_server *s)
{
	const struct live_now now = {
		.phase = LIVE_STEP, .step = s->step + 1, .action = s->action
	};

	if (!s->action || clock_now_ns() < s->look_ns)
		return;
	run_record_look(&s->record, s->env, now);
	s->look_ns = clock_now_ns() + LIVE_LOOK_MS * NS_PER_MS;
}

/* Waits for the result of a reset or step. -EINTR: stop_fd became readable, or the client stopped
 * reading answers. */
static int env_server_wait(struct env_server *s, struct fh_step *step, struct fh_error *err)
{
	struct pollfd fds[] = {
		{ .fd = fh_gym_fd(s->gym), .events = POLLIN },
		{ .fd = s->options->stop_fd, .events = POLLIN },
		{ .fd = s->options->out_fd },
	};
	struct fh_env *done;
	int n;

	for (;;) {
		n = fh_gym_wait(s->gym, 0, &done, 1, err);
		if (n < 0)
			return n;
		if (n > 0)
			return fh_env_end(s->env, step, err);
		if (fds[1].revents || (fds[2].revents & (POLLERR | POLLHUP)))
			return error_say(err, EINTR, "interrupted");
		if (poll(fds, ARRAY_SIZE(fds), LIVE_LOOK_MS) < 0 && errno != EINTR)
			return error_set(err, errno, "wait for the environment");
		env_server_look(s);
	}
}

/* If an episode is running, ends it and its record with this exit status. */
static int env_server_end(struct env_server *s, const char *exit_status, struct fh_error *err)
{
	struct run_record *record = &s->record;
	int r = 0;

	if (s->going_on)
		episode_log_over(&record->log, exit_status);
	s->going_on = false;
	if (record->recorder)
		r = recorder_end(record->recorder,
				&(struct recorder_end){ .exit_status = exit_status }, err);
	recorder_close(take_ptr(record->recorder));
	return r;
}

static int env_server_begin(struct env_server *s, uint64_t seed, const struct fh_step *step,
		struct fh_error *err)
{
	const struct env_server_options *o = s->options;
	const struct task_places places = env_places(s->env);
	struct episode_plan plan = {
		.gym = s->gym,
		.env = env_given(s->env),
		.places = &places,
		.model = "env",
		.aliases = s->aliases,
		.out = o->out,
		.suffix = o->suffix,
		.reward = episode_rewards[o->episode.reward],
		.seed = seed,
	};
	struct run_record_start start = { .plan = &plan, .info = &s->info, .model = plan.model };
	int r;

	free(take_ptr(s->record.dir)); /* forget the folder of the last episode's record */
	s->record.number = s->n_episodes++;
	r = run_record_open(&s->record, &start, err);
	if (r < 0)
		return r;
	s->going_on = true;
	s->step = 0;
	episode_log_reset(&s->record.log, step);
	return o->out ? recorder_reset(s->record.recorder, seed, step, err) : 0;
}

static int env_server_add(struct env_server *s, const char *action, const struct fh_step *step,
		struct fh_error *err)
{
	struct recorder *recorder = s->record.recorder;
	int r = 0;

	episode_log_step(&s->record.log, step);
	s->step = step->step;
	if (recorder)
		r = recorder_step(recorder, &(struct recorder_turn){ .action = action }, step, err);
	if (r < 0 || !(step->terminated || step->truncated))
		return r;
	return env_server_end(s, step->exit_status, err);
}

/* Takes the result r of writing the episode's record, and returns it. After a failure sets
 * s->unrecorded. */
static int env_server_recorded(struct env_server *s, int r)
{
	s->unrecorded = s->unrecorded || r < 0;
	return r;
}

static int env_server_close_episode(void *data, struct fh_error *err)
{
	struct env_server *s = data;

	return env_server_recorded(s, env_server_end(s, "early_exit", err));
}

static int env_server_reset(void *data, uint64_t seed, struct fh_step *out, struct fh_error *err)
{
	struct env_server *s = data;
	int r = env_server_close_episode(s, err);

	if (r < 0)
		return r;
	r = fh_env_reset_start(s->env, &FH_RESET(.seed = seed), err);
	if (r < 0)
		return r;
	r = env_server_wait(s, out, err);
	if (r < 0)
		return r;
	return env_server_recorded(s, env_server_begin(s, seed, out, err));
}

static int env_server_step(void *data, const struct fh_action *action, struct fh_step *out,
		struct fh_error *err)
{
	struct env_server *s = data;
	int r = fh_env_step_start(s->env, action, err);

	if (r < 0)
		return r;
	episode_log_action(&s->record.log, action->text);
	s->action = action->text;
	r = env_server_wait(s, out, err);
	s->action = NULL;
	if (r < 0)
		return r;
	return env_server_recorded(s, env_server_add(s, action->text, out, err));
}

static const struct env_service env_server_service = { env_server_reset, env_server_step,
	env_server_close_episode };

/* --- lines ------------------------------------------------------------------------------------ */

static int env_server_answer(const struct env_server *s, struct fh_error *err)
{
	const struct buf *answer = &s->protocol.answer;
	int r = fd_write_full(s->options->out_fd, answer->data, answer->len);

	return r < 0 ? error_set(err, -r, "write the answer") : 0;
}

int env_server_refuse(struct env_server *s, const char *message, struct fh_error *err)
{
	env_protocol_not_opened(&s->protocol, message);
	return env_server_answer(s, err);
}

int env_server_serve(struct env_server *s, struct fh_error *err)
{
	__attribute__((cleanup(lines_release))) struct lines in = LINES_INIT;
	struct pollfd stop = { .fd = s->options->stop_fd, .events = POLLIN };

	while (!s->protocol.closed && !s->unrecorded) {
		struct fh_error why;
		const char *line;
		size_t n;
		int r;

		switch (lines_next(&in, s->options->in_fd, s->options->stop_fd, &line, &n)) {
		case LINES_LINE:
			r = env_protocol_line(&s->protocol, line, n, &why);
			if (r < 0 && r != -EINTR)
				episode_log_failed(&s->record.log, why.message);
			break;
		case LINES_TOO_LONG:
			env_protocol_too_long(&s->protocol);
			break;
		case LINES_END:
		case LINES_STOPPED:
			return env_server_end(s, "early_exit", err);
		}
		if (poll(&stop, 1, 0) > 0)
			return env_server_end(s, "early_exit", err);
		r = env_server_answer(s, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- opening ---------------------------------------------------------------------------------- */

static int env_server_open_env(
		struct env_server *s, const struct fh_env_options *env, struct fh_error *err)
{
	int r = fh_env_open(s->gym, env, &s->env, err);

	if (r < 0)
		return r;
	r = episode_set_up(s->env, NULL, s->aliases, false, err);
	if (r < 0)
		return r;
	if (fh_env_warning(s->env))
		log_line(NULL, LOG_WARN, fh_env_warning(s->env), NULL, 0);
	fh_env_info(s->env, &s->info);
	return 0;
}

/* Opens gym and environment. Then passes the task's warnings to the user: the error of a failure
 * has the same reasons. */
static int env_server_open_task(struct env_server *s, const struct fh_gym_options *gym,
		const struct fh_env_options *env, struct fh_error *err)
{
	const struct task_places places = { .tasks_dir = gym->tasks_dir,
		.mlgym_root = gym->mlgym_root,
		.data_seed = env->data_seed };
	auto_task struct task *task = NULL;
	int r = task_load(&places, env->task, env->variant, &task, err);

	if (r < 0)
		return r;
	r = run_record_open_gym(gym, s->options->out, &s->gym, err);
	if (r < 0)
		return r;
	r = env_server_open_env(s, env, err);
	if (r < 0)
		return r;
	task_warnings_say(s->options->warner, task, env);
	return 0;
}

int env_server_open(struct env_server *s, struct fh_error *err)
{
	const struct env_server_options *o = s->options;
	const struct episode_options *e = &o->episode;
	struct fh_gym_options gym = FH_GYM_OPTIONS(.tasks_dir = e->tasks_dir, .n_gpus = o->gpus.n,
			.n_gpu_numbers = o->gpus.n);
	struct fh_env_options env = FH_ENV_OPTIONS(.task = o->task,
			.max_text_bytes = o->out ? RECORDER_TEXT_BYTES : 0,
			.web_hosts = episode_web_hosts(e, NULL), .n_gpus = o->gpus.n);
	int r = episode_env_options(e, &s->arena, &env, err);

	if (r < 0)
		return r;
	r = mlgym_root(&s->arena, e->mlgym_root, o->warner, &gym.mlgym_root, err);
	if (r < 0)
		return r;
	r = episode_gpus(&o->gpus, &s->arena, &gym.gpu_numbers, err);
	if (r < 0)
		return r;
	r = episode_aliases(e->aliases, gym.mlgym_root, o->warner, &s->arena, &s->aliases, err);
	if (r < 0)
		return r;
	return env_server_open_task(s, &gym, &env, err);
}

void env_server_init(struct env_server *s, const struct env_server_options *options)
{
	*s = (struct env_server){ .options = options, .arena = ARENA_INIT };
	run_record_init(&s->record, options->task);
	env_protocol_init(&s->protocol, &env_server_service, s, options->episode.seed);
}

void env_server_close(struct env_server *s)
{
	run_record_release(&s->record);
	fh_env_close(s->env);
	fh_gym_close(s->gym);
	env_protocol_release(&s->protocol);
	arena_release(&s->arena);
}
