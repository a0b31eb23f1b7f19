/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/replay.h"

#include "base/log.h"
#include "base/scope.h"
#include "base/str.h"
#include "cmd/interrupt.h"
#include "cmd/term.h"
#include "trajectory/compare.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/*
 * fumehood replay: the actions of a recorded run, played again in a fresh episode of the same task and seed, and
 * its observations beside the recorded ones.
 */
#define DIFF_LINES 20
#define LINE_BYTES_MAX (64L << 20)

/* --- playing it ----------------------------------------------------------------------------------------- */

static int wait_for_it(struct replay *r, struct fh_gym *gym, struct fh_error *err)
{
	struct pollfd fds[] = { { .fd = fh_gym_fd(gym), .events = POLLIN },
		{ .fd = r->episode.stopping ? -1 : interrupt_fd(), .events = POLLIN } };
	struct fh_env *done;
	int n;

	if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
		return error_set(err, errno, "wait for the episode");
	if (interrupt_wanted() && !r->episode.stopping)
		episode_stop(&r->episode);
	n = fh_gym_wait(gym, 0, &done, 1, err);
	if (n > 0)
		episode_advance(&r->episode);
	return n;
}

static int play(struct replay *r, struct fh_error *err)
{
	struct episode_plan plan = {
		.env = &r->env,
		.places = &r->places,
		.model = r->model,
		.agent = r->agent.config ? &r->agent : NULL,
		.out = r->out,
		.aliases = r->aliases,
		.suffix = "replay",
		.reward = episode_rewards[r->reward],
		.seed = r->seed,
		.task_hash = r->options->task ? NULL : r->task_hash,
		.agent_hash = r->options->agent ? NULL : r->agent_hash,
		.stop_fd = -1,
	};
	struct fh_gym_options options = {
		.tasks_dir = r->places.tasks_dir,
		.mlgym_root = r->places.mlgym_root,
		.n_gpus = r->env.n_gpus,
		.gpu_numbers = r->gpus,
		.n_gpu_numbers = r->gpus ? r->env.n_gpus : 0,
	};
	int n = fh_gym_open(&options, &plan.gym, err);

	if (n < 0 && r->env.n_gpus && !r->gpus)
		return error_wrap(err, "the run had %zu GPUs (--gpus none plays it without)",
				r->env.n_gpus);
	if (n < 0)
		return n;
	r->now_s = time(NULL);
	episode_init(&r->episode, &plan);
	episode_start(&r->episode);
	while (r->episode.phase != EPISODE_ENDED && n >= 0)
		n = wait_for_it(r, plan.gym, err);
	if (r->episode.failed) {
		*err = r->episode.error;
		n = err->code;
	}
	fh_gym_close(plan.gym);
	return n < 0 ? n : 0;
}

/* --- comparing -------------------------------------------------------------------------------------------- */

static const char *text_of(const struct pyjson *v)
{
	const char *text = v ? pyjson_string(v) : NULL;

	return text ? text : "";
}

struct verdicts {
	size_t n[3];    /* by enum compare_verdict */
	size_t missing; /* steps that only one of both has */
};

static struct compare_text then(const struct replay *r, const struct pyjson *v)
{
	return (struct compare_text){ text_of(v), r->recorded_s };
}

static struct compare_text now(const struct replay *r, const struct pyjson *v)
{
	return (struct compare_text){ text_of(v), r->now_s };
}

/* What a step was like: what it showed, and the state that it began in. */
static enum compare_verdict compare_step(const struct replay *r, size_t i)
{
	const struct traj_step *a = &r->recorded->steps[i], *b = &r->now->steps[i];
	enum compare_verdict shown = compare_texts(then(r, a->observation), now(r, b->observation));
	enum compare_verdict state = a->state ? compare_texts(then(r, a->state), now(r, b->state))
					      : COMPARE_EQUAL;

	return shown > state ? shown : state;
}

static void print_step(const struct replay *r, size_t i, enum compare_verdict v)
{
	const struct traj_step *a = &r->recorded->steps[i], *b = &r->now->steps[i];
	auto_buf struct buf line = BUF_INIT(LINE_BYTES_MAX), diff = BUF_INIT(LINE_BYTES_MAX);
	bool colours = term_colours(STDOUT_FILENO);
	const char *style = v == COMPARE_DIFFERENT ? TERM_RED : TERM_GREEN;

	if (v != COMPARE_DIFFERENT && !r->options->all)
		return;
	str_add_printable(&line, text_of(a->action));
	printf("%4zu %s%-10s%s %.*s\n", i + 1, term_style(colours, style), compare_verdicts[v],
			term_style(colours, TERM_RESET), (int)strcspn(buf_str(&line), "\n"),
			buf_str(&line));
	if (v != COMPARE_DIFFERENT)
		return;
	compare_diff(&diff, then(r, a->observation), now(r, b->observation), DIFF_LINES);
	if (!diff.len)
		compare_diff(&diff, then(r, a->state), now(r, b->state), DIFF_LINES);
	buf_clear(&line);
	str_add_printable(&line, buf_str(&diff));
	fputs(buf_str(&line), stdout);
}

static struct verdicts compare(const struct replay *r)
{
	size_t a = r->recorded->n_steps, b = r->now->n_steps;
	struct verdicts all = { .missing = a > b ? a - b : b - a };

	for (size_t i = 0; i < a && i < b; i++) {
		enum compare_verdict v = compare_step(r, i);

		all.n[v]++;
		if (!r->ctx->json)
			print_step(r, i, v);
	}
	return all;
}

static void print_summary(const struct replay *r, const struct verdicts *all)
{
	auto_buf struct buf line = BUF_INIT(LINE_BYTES_MAX);
	struct pyjson_writer w = PYJSON_WRITER_INIT(&line, PYJSON_LINE);

	if (!r->ctx->json) {
		if (r->now)
			printf("%zu steps equal, %zu after normalisation, %zu different, %zu missing\n",
					all->n[COMPARE_EQUAL], all->n[COMPARE_NORMALISED],
					all->n[COMPARE_DIFFERENT], all->missing);
		printf("%s: %s\n", r->episode.exit_status, r->episode.traj);
		return;
	}
	pyjson_put_object(&w, NULL);
	pyjson_put_text(&w, "task", r->env.task);
	pyjson_put_text(&w, "exit_status", r->episode.exit_status);
	pyjson_put_i64(&w, "steps", r->episode.steps);
	for (size_t i = 0; r->now && i < ARRAY_SIZE(all->n); i++)
		pyjson_put_i64(&w, compare_verdicts[i], (int64_t)all->n[i]);
	if (r->now)
		pyjson_put_i64(&w, "missing", (int64_t)all->missing);
	pyjson_put_text(&w, "trajectory", r->episode.traj);
	pyjson_end_object(&w);
	printf("%s\n", buf_str(&line));
}

/* --- the command -------------------------------------------------------------------------------------------- */

static void release(struct replay *r)
{
	episode_release(&r->episode);
	run_agent_release(&r->agent);
	traj_free(r->recorded);
	traj_free(r->now);
	free(r->out);
	arena_release(&r->arena);
}

static int run_replay(struct command_context *ctx)
{
	__attribute__((cleanup(release))) struct replay r = { .ctx = ctx, .options = ctx->options };
	struct verdicts all = { 0 };
	struct fh_error err;

	log_setup(&(struct log_options){ .level = LOG_WARN, .fd = STDERR_FILENO });
	if (replay_prepare(&r, &err) < 0)
		return cmd_refuse(&err);
	if (interrupt_setup(&err) < 0 || play(&r, &err) < 0)
		return cmd_fail(&err);
	interrupt_at_once();
	if (r.options->compare && !interrupt_wanted()) {
		if (traj_read(r.episode.traj, &r.now, &err) < 0)
			return cmd_fail(&err);
		all = compare(&r);
	}
	print_summary(&r, &all);
	if (interrupt_wanted())
		return interrupt_status();
	return all.n[COMPARE_DIFFERENT] || all.missing ? CMD_FAILED : CMD_OK;
}

#define FIELD(f) offsetof(struct replay_options, f)

static const struct cmd_option options[] = {
	{ "compare", 'c', OPTION_FLAG, FIELD(compare), NULL,
			"say which observations differ, and how; exit status 1 if any does" },
	{ "all", 'a', OPTION_FLAG, FIELD(all), NULL, "with --compare: name equal steps, too" },
	{ "task", 0, OPTION_TEXT, FIELD(task), "T[:V]", "instead of the recorded one" },
	{ "agent", 0, OPTION_TEXT, FIELD(agent), "FILE",
			"the configuration that led it, for its commands and prompts (otherwise the recorded one)" },
	{ "out", 'o', OPTION_TEXT, FIELD(out), "DIR",
			"where the folder of the new run goes (otherwise trajectories/<user>)" },
	EPISODE_OPTIONS(FIELD(episode)),
	{ "gpus", 0, OPTION_LIST, FIELD(gpus), "N,...",
			"NVIDIA's GPUs that the episode has, 2 for /dev/nvidia2; none: it has none (otherwise "
			"as many as the run had, any that are free)" },
	{},
};

const struct command command_replay = {
	.name = "replay",
	.summary = "play the actions of a recorded run again",
	.arguments = "RUN",
	.min_args = 1,
	.max_args = 1,
	.about = "Plays the actions of a recorded run (a .traj, or the folder of a run) in a fresh episode of the "
		 "same task with the same seed, and records that. No model is asked.\n"
		 "With --compare observations and states are laid beside the recorded ones. What no two runs have "
		 "in common, such as times and process ids, is put aside (\"normalised\").",
	.examples = "fumehood replay --compare trajectories/me/*_run_0\n"
		    "fumehood replay --compare --mlgym-root MLGym --agent configs/agents/default.yaml old.traj",
	.options = options,
	.options_size = sizeof(struct replay_options),
	.run = run_replay,
};
