/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/lines.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "cmd/env_record.h"
#include "cmd/episode_options.h"
#include "cmd/interrupt.h"
#include "cmd/log_options.h"
#include "trajectory/info.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/*
 * fumehood env: episodes of one environment over standard input and output, a JSON object a line
 * each way, in order. An answer is written before the next line is looked at; whatever is wrong with
 * a line is an answer too, and the episode goes on.
 */

#define ANSWER_BYTES_MAX (64L * 1024 * 1024)

struct env_options {
	struct episode_options episode;
	const char *task;
	const char *out;
	const char *suffix;
	struct log_choice log;
};

enum episode_state { NOT_RESET, GOING_ON, OVER };

struct door {
	const struct env_options *options;
	struct fh_gym *gym;
	struct fh_env *env;
	struct fh_env_info info;
	struct env_record record;
	enum episode_state state;
	uint64_t next_seed; /* of a reset that gives none */
	struct buf answer;
	bool closing;
	bool unrecorded; /* the record can't be written: nothing goes on */
};

/* --- answers ---------------------------------------------------------------------------------- */

static int answer_error(struct door *d, const char *code, const char *message)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(&d->answer, PYJSON_LINE);

	buf_clear(&d->answer);
	pyjson_put_object(&w, NULL);
	pyjson_put_object(&w, "error");
	pyjson_put_text(&w, "code", code);
	pyjson_put_text(&w, "message", message);
	pyjson_end_object(&w);
	pyjson_end_object(&w);
	return 0;
}

/* -EINVAL and -E2BIG are the asker's; anything else is ours. */
static int answer_failure(struct door *d, int r, const struct fh_error *err)
{
	if (r != -EINVAL && r != -E2BIG && r != -EINTR)
		episode_log_failed(&d->record.log, err->message);
	return answer_error(
			d, r == -EINVAL || r == -E2BIG ? "bad_argument" : "failed", err->message);
}

/* --- what can be asked ------------------------------------------------------------------------ */

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

static int read_seed(const struct pyjson *request, uint64_t *seed, struct fh_error *err)
{
	const struct pyjson *v = pyjson_get(request, "seed");
	int64_t number;

	if (!v || v->kind == PYJSON_NULL)
		return 0;
	if (!pyjson_i64(v, &number) || number < 0)
		return error_say(err, EINVAL, "'seed' should be a whole number from 0 on");
	*seed = (uint64_t)number;
	return 0;
}

static int do_reset(struct door *d, const struct pyjson *request, struct fh_error *err)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(&d->answer, PYJSON_LINE);
	uint64_t seed = d->next_seed;
	struct fh_step step = { 0 };
	int r;

	r = read_seed(request, &seed, err);
	if (r == 0)
		r = env_record_end(&d->record, "early_exit", err);
	if (r == 0)
		r = fh_env_reset_begin(d->env, seed, err);
	if (r < 0)
		return r;
	d->state = NOT_RESET;
	r = wait_for_env(d, &step, err);
	if (r < 0)
		return r;
	r = env_record_begin(&d->record, seed, &step, err);
	d->unrecorded = r < 0;
	if (r < 0)
		return r;
	d->state = GOING_ON;
	d->next_seed = seed + 1;
	pyjson_put_object(&w, NULL);
	info_put_reset(&w, &step);
	pyjson_end_object(&w);
	return 0;
}

static int read_action(const struct pyjson *request, struct fh_action *out, struct fh_error *err)
{
	const struct pyjson *action = pyjson_get(request, "action");
	const struct pyjson *timeout = pyjson_get(request, "timeout_s");

	if (!action)
		return error_say(err, EINVAL, "'action' is missing: a step needs one");
	out->text = pyjson_string(action);
	if (!out->text)
		return error_say(err, EINVAL, "'action' should be a string without a NUL");
	if (str_utf8_invalid(out->text, strlen(out->text)) >= 0)
		return error_say(err, EINVAL, "'action' holds half of a surrogate pair");
	if (!timeout || timeout->kind == PYJSON_NULL)
		return 0;
	if (!pyjson_double(timeout, &out->timeout_s) || out->timeout_s <= 0)
		return error_say(err, EINVAL, "'timeout_s' should be a number above 0");
	return 0;
}

static int do_step(struct door *d, const struct pyjson *request, struct fh_error *err)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(&d->answer, PYJSON_LINE);
	struct fh_action action = { 0 };
	struct fh_step step = { 0 };
	int r;

	if (d->state == NOT_RESET)
		return answer_error(d, "not_reset", "there is no episode yet: ask for a reset");
	if (d->state == OVER)
		return answer_error(d, "episode_over", "the episode is over: ask for a reset");
	r = read_action(request, &action, err);
	if (r == 0)
		r = fh_env_step_begin(d->env, &action, err);
	if (r == 0)
		episode_log_action(&d->record.log, action.text);
	if (r == 0)
		r = wait_for_env(d, &step, err);
	if (r < 0)
		return r;
	if (step.terminated || step.truncated)
		d->state = OVER;
	r = env_record_step(&d->record, action.text, &step, err);
	d->unrecorded = r < 0;
	if (r < 0)
		return r;
	pyjson_put_object(&w, NULL);
	info_put_step(&w, &step);
	pyjson_end_object(&w);
	return 0;
}

static int do_close(struct door *d, const struct pyjson *request, struct fh_error *err)
{
	int r = env_record_end(&d->record, "early_exit", err);

	if (r < 0)
		return r;
	d->closing = true;
	buf_add_str(&d->answer, "{\"closed\":true}");
	return 0;
}

struct op {
	const char *name;
	const char *members[3]; /* beside "op" */
	int (*run)(struct door *d, const struct pyjson *request, struct fh_error *err);
};

static const struct op ops[] = {
	{ "reset", { "seed" }, do_reset },
	{ "step", { "action", "timeout_s" }, do_step },
	{ "close", { NULL }, do_close },
};

static const struct op *find_op(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(ops); i++) {
		if (str_eq(ops[i].name, name))
			return &ops[i];
	}
	return NULL;
}

/* A member that nobody reads is a misspelt one. */
static int check_members(const struct op *op, const struct pyjson *request, struct fh_error *err)
{
	for (const struct pyjson *m = request->first; m; m = m->next) {
		bool known = str_eq(m->key, "op");

		for (size_t i = 0; i < ARRAY_SIZE(op->members); i++)
			known = known || str_eq(m->key, op->members[i]);
		if (!known)
			return error_say(err, EINVAL, "'%s' takes no '%s'", op->name, m->key);
	}
	return 0;
}

static void serve_line(struct door *d, const char *line, size_t n)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct pyjson_source source = { .name = "request", .data = line, .n = n };
	const struct pyjson *request;
	const struct op *op;
	struct fh_error err;
	int r;

	buf_clear(&d->answer);
	if (pyjson_read(&arena, &source, &request, &err) < 0) {
		answer_error(d, "bad_json", err.message);
		return;
	}
	op = find_op(pyjson_string(pyjson_get(request, "op")));
	if (!op) {
		answer_error(d, "unknown_op", "'op' should be \"reset\", \"step\" or \"close\"");
		return;
	}
	r = check_members(op, request, &err);
	if (r == 0)
		r = op->run(d, request, &err);
	if (r < 0)
		answer_failure(d, r, &err);
}

/* --- the conversation ------------------------------------------------------------------------- */

static int send_answer(struct door *d, struct fh_error *err)
{
	int r;

	if (d->answer.truncated)
		answer_error(d, "failed", "the answer is too large");
	buf_add_char(&d->answer, '\n');
	r = fd_write_full(STDOUT_FILENO, d->answer.data, d->answer.len);
	return r < 0 ? error_set(err, -r, "write the answer") : 0;
}

static int converse(struct door *d, struct fh_error *err)
{
	__attribute__((cleanup(lines_release))) struct lines in = LINES_INIT;
	int r = 0;

	while (!d->closing && !d->unrecorded && r == 0) {
		const char *line;
		size_t n;

		switch (lines_next(&in, STDIN_FILENO, interrupt_fd(), &line, &n)) {
		case LINES_LINE:
			serve_line(d, line, n);
			break;
		case LINES_TOO_LONG:
			answer_error(d, "too_long", "a line is longer than 16 MiB");
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

static int open_env(struct door *d, const struct fh_bind *binds, struct fh_error *err)
{
	const struct episode_options *e = &d->options->episode;
	struct fh_gym_options gym = { .tasks_dir = e->tasks_dir };
	struct fh_env_options env = {
		.task = d->options->task,
		.variant = e->variant,
		.reward = (enum fh_reward_kind)e->reward,
		.max_steps = e->max_steps,
		.binds = binds,
		.n_binds = e->bind.n,
	};
	int r;

	r = fh_gym_open(&gym, &d->gym, err);
	if (r == 0)
		r = fh_env_open(d->gym, &env, &d->env, err);
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
	buf_release(&d->answer);
}

static int run_env(struct command_context *ctx)
{
	const struct env_options *o = ctx->options;
	__attribute__((cleanup(close_door))) struct door d = { .options = o };
	auto_arena struct arena arena = ARENA_INIT;
	const struct fh_bind *binds;
	struct log_options log;
	struct fh_error err;
	int r;

	env_record_init(&d.record, o->task);
	if (!o->task)
		return cmd_misuse(
				ctx, "--task is missing; `fumehood task list` shows what there is");
	if (episode_binds(&o->episode.bind, &arena, &binds, &err) < 0 ||
			log_options_read(ctx, &o->log, LOG_WARN, &log, &err) < 0)
		return cmd_refuse(&err);
	log_setup(&log);
	d.next_seed = o->episode.seed;
	buf_init(&d.answer, ANSWER_BYTES_MAX);
	r = interrupt_setup(&err);
	if (r == 0)
		r = open_env(&d, binds, &err);
	if (r == -ENOENT || r == -EINVAL)
		return cmd_refuse(&err);
	if (r == 0 && fh_gym_warning(d.gym))
		log_record(NULL, LOG_WARN, fh_gym_warning(d.gym), NULL, 0);
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
