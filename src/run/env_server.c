/* SPDX-License-Identifier: Apache-2.0 */
#include "run/env_server.h"

#include "base/fd.h"
#include "base/lines.h"
#include "base/path.h"
#include "base/scope.h"
#include "run/episode_setup.h"
#include "run/gpu_list.h"
#include "run/mlgym_root.h"

#include <errno.h>
#include <poll.h>

/* --- what is asked for ------------------------------------------------------------------------ */

/* Until the environment has done what was begun. -EINTR when it is stopped, or nobody can read the answer. */
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
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			return error_set(err, errno, "wait for the environment");
	}
}

/* What came of writing the record. */
static int env_server_recorded(struct env_server *s, int r)
{
	s->unrecorded = s->unrecorded || r < 0;
	return r;
}

static int env_server_reset(void *data, uint64_t seed, struct fh_step *out, struct fh_error *err)
{
	struct env_server *s = data;
	int r = env_server_recorded(s, env_record_end(&s->record, "early_exit", err));

	if (r < 0)
		return r;
	r = fh_env_reset_begin(s->env, seed, err);
	if (r < 0)
		return r;
	r = env_server_wait(s, out, err);
	if (r < 0)
		return r;
	return env_server_recorded(s, env_record_begin(&s->record, seed, out, err));
}

static int env_server_step(void *data, const struct fh_action *action, struct fh_step *out,
		struct fh_error *err)
{
	struct env_server *s = data;
	int r = fh_env_step_begin(s->env, action, err);

	if (r < 0)
		return r;
	episode_log_action(&s->record.log, action->text);
	r = env_server_wait(s, out, err);
	if (r < 0)
		return r;
	return env_server_recorded(s, env_record_step(&s->record, action->text, out, err));
}

static int env_server_end_episode(void *data, struct fh_error *err)
{
	struct env_server *s = data;

	return env_server_recorded(s, env_record_end(&s->record, "early_exit", err));
}

static const struct env_service env_server_service = { env_server_reset, env_server_step,
	env_server_end_episode };

/* --- the conversation ------------------------------------------------------------------------- */

static int env_server_answer(const struct env_server *s, struct fh_error *err)
{
	const struct buf *answer = &s->protocol.answer;
	int r = fd_write_full(s->options->out_fd, answer->data, answer->len);

	return r < 0 ? error_set(err, -r, "write the answer") : 0;
}

static void env_server_line(struct env_server *s, const char *line, size_t n)
{
	struct fh_error err;
	int r = env_protocol_line(&s->protocol, line, n, &err);

	if (r < 0 && r != -EINTR)
		episode_log_failed(&s->record.log, err.message);
}

static bool env_server_is_stopped(const struct env_server *s)
{
	struct pollfd fd = { .fd = s->options->stop_fd, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

int env_server_serve(struct env_server *s, struct fh_error *err)
{
	__attribute__((cleanup(lines_release))) struct lines in = LINES_INIT;

	while (!s->protocol.closed && !s->unrecorded) {
		const char *line;
		size_t n;
		int r;

		switch (lines_next(&in, s->options->in_fd, s->options->stop_fd, &line, &n)) {
		case LINES_LINE:
			env_server_line(s, line, n);
			break;
		case LINES_TOO_LONG:
			env_protocol_too_long(&s->protocol);
			break;
		case LINES_END:
		case LINES_STOPPED:
			return env_record_end(&s->record, "early_exit", err);
		}
		if (env_server_is_stopped(s))
			return env_record_end(&s->record, "early_exit", err);
		r = env_server_answer(s, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Other episodes' and its own, which goes on being written while the agent looks around. */
static int env_server_hide_records(const struct env_server *s, struct fh_error *err)
{
	int r = path_mkdirs(s->options->out, 0777, err);

	return r < 0 ? r : fh_gym_hide(s->gym, s->options->out, err);
}

static int env_server_open_gym(
		struct env_server *s, struct fh_gym_options *gym, struct fh_error *err)
{
	int r = fh_gym_open(gym, &s->gym, err);

	if (r < 0)
		return r;
	if (fh_gym_warning(s->gym))
		log_record(NULL, LOG_WARN, fh_gym_warning(s->gym), NULL, 0);
	return s->options->out ? env_server_hide_records(s, err) : 0;
}

static int env_server_open_env(struct env_server *s, const struct fh_env_options *env,
		const char *aliases, struct fh_error *err)
{
	int r = fh_env_open(s->gym, env, &s->env, err);

	if (r < 0)
		return r;
	r = episode_set_up(s->env, NULL, aliases, false, err);
	if (r < 0)
		return r;
	if (fh_env_warning(s->env))
		log_record(NULL, LOG_WARN, fh_env_warning(s->env), NULL, 0);
	fh_env_info(s->env, &s->info);
	s->record.info = &s->info;
	s->record.warning = fh_gym_warning(s->gym);
	s->record.out = s->options->out;
	s->record.suffix = s->options->suffix;
	s->record.reward = episode_rewards[s->options->episode.reward];
	return 0;
}

int env_server_open(struct env_server *s, struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	const struct env_server_options *o = s->options;
	const struct episode_options *e = &o->episode;
	struct fh_gym_options gym = {
		.tasks_dir = e->tasks_dir,
		.n_gpus = o->gpus.n,
		.n_gpu_numbers = o->gpus.n,
	};
	struct fh_env_options env = {
		.task = o->task,
		.variant = e->variant,
		.reward = (enum fh_reward_kind)e->reward,
		.max_steps = e->max_steps,
		.judge_salt = e->judge_salt,
		.max_text_bytes = o->out ? RECORDER_TEXT_BYTES : 0,
		.n_binds = e->bind.n,
		.web_hosts = episode_web_hosts(e, NULL),
		.n_gpus = o->gpus.n,
	};
	int r = mlgym_root(&arena, e->mlgym_root, o->warner, &gym.mlgym_root, err);

	if (r < 0)
		return r;
	r = episode_binds(&e->bind, &arena, &env.binds, err);
	if (r < 0)
		return r;
	r = episode_python(e->python, &arena, &env.python, err);
	if (r < 0)
		return r;
	r = gpu_list_read(&o->gpus, &arena, &gym.gpu_numbers, err);
	if (r < 0)
		return r;
	r = env_server_open_gym(s, &gym, err);
	if (r < 0)
		return r;
	return env_server_open_env(s, &env,
			episode_aliases(e->aliases, gym.mlgym_root, o->warner, &arena), err);
}

void env_server_init(struct env_server *s, const struct env_server_options *options)
{
	*s = (struct env_server){ .options = options };
	env_record_init(&s->record, options->task);
	env_protocol_init(&s->protocol, &env_server_service, s, options->episode.seed);
}

void env_server_close(struct env_server *s)
{
	env_record_release(&s->record);
	fh_env_close(s->env);
	fh_gym_close(s->gym);
	env_protocol_release(&s->protocol);
}
