/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/lines.h"
#include "base/path.h"
#include "base/scope.h"
#include "cli/cmd.h"
#include "cli/interrupt.h"
#include "cmd/episode_options.h"
#include "cmd/log_options.h"
#include "run/env_protocol.h"
#include "run/env_record.h"
#include "run/gpu_list.h"
#include "run/mlgym_root.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

/*
 * fumehood env: episodes of one environment over standard input and output, in the form of
 * env_protocol.h. An answer is written before the next line is looked at.
 */

struct env_options {
	struct episode_options episode;
	const char *task;
	const char *out;
	const char *suffix;
	struct texts gpus;
	struct log_choice log;
};

struct door {
	const struct env_options *options;
	struct fh_gym *gym;
	struct fh_env *env;
	struct fh_env_info info;
	struct env_record record;
	struct env_protocol protocol;
	bool unrecorded; /* the record can't be written: nothing goes on */
};

/* --- what is asked for ------------------------------------------------------------------------ */

/* Nobody is there to read the answer. */
static bool reader_is_gone(void)
{
	struct pollfd fd = { .fd = STDOUT_FILENO };

	return poll(&fd, 1, 0) > 0 && (fd.revents & (POLLERR | POLLHUP));
}

/* Until the environment has done what was begun. -EINTR when nobody waits for it any more. */
static int wait_for_env(struct door *d, struct fh_step *step, struct fh_error *err)
{
	struct pollfd fds[] = {
		{ .fd = fh_gym_fd(d->gym), .events = POLLIN },
		{ .fd = interrupt_fd(), .events = POLLIN },
		{ .fd = STDOUT_FILENO },
	};
	struct fh_env *done;
	int n;

	for (;;) {
		n = fh_gym_wait(d->gym, 0, &done, 1, err);
		if (n < 0)
			return n;
		if (n > 0)
			return fh_env_end(d->env, step, err);
		if (interrupt_wanted() || reader_is_gone())
			return error_say(err, EINTR, "interrupted");
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			return error_set(err, errno, "wait for the environment");
	}
}

/* What came of writing the record. */
static int recorded(struct door *d, int r)
{
	d->unrecorded = d->unrecorded || r < 0;
	return r;
}

static int reset(void *data, uint64_t seed, struct fh_step *out, struct fh_error *err)
{
	struct door *d = data;
	int r = recorded(d, env_record_end(&d->record, "early_exit", err));

	if (r == 0)
		r = fh_env_reset_begin(d->env, seed, err);
	if (r == 0)
		r = wait_for_env(d, out, err);
	if (r == 0)
		r = recorded(d, env_record_begin(&d->record, seed, out, err));
	return r;
}

static int step(void *data, const struct fh_action *action, struct fh_step *out,
		struct fh_error *err)
{
	struct door *d = data;
	int r = fh_env_step_begin(d->env, action, err);

	if (r < 0)
		return r;
	episode_log_action(&d->record.log, action->text);
	r = wait_for_env(d, out, err);
	if (r == 0)
		r = recorded(d, env_record_step(&d->record, action->text, out, err));
	return r;
}

static int close_episode(void *data, struct fh_error *err)
{
	struct door *d = data;

	return recorded(d, env_record_end(&d->record, "early_exit", err));
}

static const struct env_service service = { reset, step, close_episode };

/* --- the conversation ------------------------------------------------------------------------- */

static int send_answer(const struct door *d, struct fh_error *err)
{
	const struct buf *answer = &d->protocol.answer;
	int r = fd_write_full(STDOUT_FILENO, answer->data, answer->len);

	return r < 0 ? error_set(err, -r, "write the answer") : 0;
}

static void serve_line(struct door *d, const char *line, size_t n)
{
	struct fh_error err;
	int r = env_protocol_line(&d->protocol, line, n, &err);

	if (r < 0 && r != -EINTR)
		episode_log_failed(&d->record.log, err.message);
}

static int converse(struct door *d, struct fh_error *err)
{
	__attribute__((cleanup(lines_release))) struct lines in = LINES_INIT;
	int r = 0;

	while (!d->protocol.closed && !d->unrecorded && r == 0) {
		const char *line;
		size_t n;

		switch (lines_next(&in, STDIN_FILENO, interrupt_fd(), &line, &n)) {
		case LINES_LINE:
			serve_line(d, line, n);
			break;
		case LINES_TOO_LONG:
			env_protocol_too_long(&d->protocol);
			break;
		case LINES_END:
		case LINES_STOPPED:
			return env_record_end(&d->record, "early_exit", err);
		}
		if (interrupt_wanted())
			return env_record_end(&d->record, "early_exit", err);
		r = send_answer(d, err);
	}
	return r;
}

/* Other episodes' and its own, which goes on being written while the agent looks around. */
static int hide_records(const struct door *d, struct fh_error *err)
{
	int r = path_mkdirs(d->options->out, 0777, err);

	return r < 0 ? r : fh_gym_hide(d->gym, d->options->out, err);
}

static int open_env(struct door *d, struct arena *arena, struct fh_error *err)
{
	const struct episode_options *e = &d->options->episode;
	struct fh_gym_options gym = {
		.tasks_dir = e->tasks_dir,
		.n_gpus = d->options->gpus.n,
		.n_gpu_numbers = d->options->gpus.n,
	};
	struct fh_env_options env = {
		.task = d->options->task,
		.variant = e->variant,
		.reward = (enum fh_reward_kind)e->reward,
		.max_steps = e->max_steps,
		.judge_salt = e->judge_salt,
		.max_text_bytes = d->options->out ? RECORDER_TEXT_BYTES : 0,
		.n_binds = e->bind.n,
		.web_hosts = episode_web_hosts(e, NULL),
		.n_gpus = d->options->gpus.n,
	};
	int r = mlgym_root(arena, e->mlgym_root, &cmd_warner, &gym.mlgym_root, err);

	if (r == 0)
		r = episode_binds(&e->bind, arena, &env.binds, err);
	if (r == 0)
		r = episode_python(e->python, arena, &env.python, err);
	if (r == 0)
		r = gpu_list_read(&d->options->gpus, arena, &gym.gpu_numbers, err);
	if (r == 0)
		r = fh_gym_open(&gym, &d->gym, err);
	if (r == 0 && d->options->out)
		r = hide_records(d, err);
	if (r == 0)
		r = fh_env_open(d->gym, &env, &d->env, err);
	if (r == 0)
		r = episode_set_up(d->env, NULL,
				episode_aliases(e->aliases, gym.mlgym_root, &cmd_warner, arena),
				false, err);
	if (r < 0)
		return r;
	fh_env_info(d->env, &d->info);
	d->record.info = &d->info;
	d->record.warning = fh_gym_warning(d->gym);
	d->record.out = d->options->out;
	d->record.suffix = d->options->suffix;
	d->record.reward = episode_rewards[e->reward];
	return 0;
}

static void close_door(struct door *d)
{
	env_record_release(&d->record);
	fh_env_close(d->env);
	fh_gym_close(d->gym);
	env_protocol_release(&d->protocol);
}

static int run_env(struct command_context *ctx)
{
	const struct env_options *o = ctx->options;
	__attribute__((cleanup(close_door))) struct door d = { .options = o };
	auto_arena struct arena arena = ARENA_INIT;
	struct log_options log;
	struct fh_error err;
	int r;

	env_record_init(&d.record, o->task);
	if (!o->task)
		return cmd_misuse(
				ctx, "--task is missing; `fumehood task list` shows what there is");
	if (log_options_read(ctx, &o->log, LOG_WARN, &log, &err) < 0)
		return cmd_refuse(&err);
	log_setup(&log);
	env_protocol_init(&d.protocol, &service, &d, o->episode.seed);
	r = interrupt_setup(&err);
	if (r == 0)
		r = open_env(&d, &arena, &err);
	if (r == -ENOENT || r == -EINVAL || r == -ENODATA)
		return cmd_refuse(&err);
	if (r == 0 && fh_gym_warning(d.gym))
		log_record(NULL, LOG_WARN, fh_gym_warning(d.gym), NULL, 0);
	if (r == 0 && fh_env_warning(d.env))
		log_record(NULL, LOG_WARN, fh_env_warning(d.env), NULL, 0);
	if (r == 0)
		r = converse(&d, &err);
	if (r < 0)
		return cmd_fail(&err);
	/* The last answer said why. */
	return d.unrecorded ? CMD_FAILED : CMD_OK;
}

static const struct cmd_option options[] = {
	{ "task", 0, OPTION_TEXT, offsetof(struct env_options, task), "T[:V]", "which task",
			.heading = "Episode" },
	EPISODE_OPTIONS(offsetof(struct env_options, episode)),
	{ "gpus", 0, OPTION_LIST, offsetof(struct env_options, gpus), "N,...",
			"NVIDIA's GPUs that its episodes have, 2 for /dev/nvidia2, and no other run "
			"meanwhile" },
	{ "out", 0, OPTION_TEXT, offsetof(struct env_options, out), "DIR",
			"record each episode in a folder beneath DIR", .heading = "Record" },
	{ "suffix", 0, OPTION_TEXT, offsetof(struct env_options, suffix), "TEXT",
			"end of those folders' names" },
	LOG_OPTIONS(offsetof(struct env_options, log)),
	{},
};

const struct command command_env = {
	.name = "env",
	.summary = "one environment over standard input and output, in JSON lines",
	.about = "Reads one JSON object per line and answers each with one, in order:\n"
		 "{\"op\":\"reset\",\"seed\":0} gives observation and info;\n"
		 "{\"op\":\"step\",\"action\":\"ls\",\"timeout_s\":25} gives observation, reward, "
		 "terminated, truncated and info;\n"
		 "{\"op\":\"close\"} gives {\"closed\":true} and ends, as the end of input does, and INT, TERM, "
		 "HUP and QUIT, with exit status 0: a record that goes on is ended with early_exit.\n"
		 "What is wrong gives {\"error\":{\"code\":...,\"message\":...}}, with a code of bad_json, "
		 "too_long, unknown_op, bad_argument, not_reset, episode_over or failed, and the "
		 "episode goes on. Nothing else is printed on standard output.\n"
		 "A reset without a seed gets --seed the first time, and then the number after the last.",
	.options = options,
	.options_size = sizeof(struct env_options),
	.examples = "fumehood env --task battleOfSexes --max-steps 20\n"
		    "fumehood env --task titanic --variant micro --reward improvement --out runs",
	.run = run_env,
};
