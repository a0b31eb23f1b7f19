/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/replay.h"

#include "base/log.h"
#include "base/scope.h"
#include "base/str.h"
#include "cli/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * fumehood replay: the actions of a recorded run, played again in a fresh episode of the same task and seed, and
 * its observations beside the recorded ones.
 */
#define LINE_BYTES_MAX (64L << 20)

/* --- playing it ----------------------------------------------------------------------------------------- */

static void opened(struct replay *r)
{
	episode_opened(&r->episode);
	if (r->episode.env && fh_env_warning(r->episode.env))
		cmd_warn("%s", fh_env_warning(r->episode.env));
}

static int wait_for_it(struct replay *r, struct fh_gym *gym, struct openings *openings,
		struct fh_error *err)
{
	struct pollfd fds[] = { { .fd = fh_gym_fd(gym), .events = POLLIN },
		{ .fd = openings->fd, .events = POLLIN },
		{ .fd = r->episode.stopping ? -1 : interrupt_fd(), .events = POLLIN } };
	struct fh_env *done;
	int n;

	if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
		return error_set(err, errno, "wait for the episode");
	if (interrupt_wanted() && !r->episode.stopping)
		episode_stop(&r->episode);
	if (openings_came(openings) && r->episode.phase == EPISODE_OPENING)
		opened(r);
	n = fh_gym_wait(gym, 0, &done, 1, err);
	if (n > 0)
		episode_advance(&r->episode);
	return n;
}

/* A line of an action begins with it. */
static bool has_command(const struct traj *t, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < t->n_steps; i++)
		for (const char *at = pyjson_text(t->steps[i].action); *at;) {
			if (strncmp(at, name, n) == 0 && at[n] == ' ')
				return true;
			at += strcspn(at, "\n");
			at += *at == '\n';
		}
	return false;
}

static int play(struct replay *r, struct fh_error *err)
{
	__attribute__((cleanup(openings_close))) struct openings openings = { .fd = -1 };
	struct episode_plan plan = {
		.openings = &openings,
		.env = &r->env,
		.places = &r->places,
		.model = r->model,
		.agent = r->agent.config ? &r->agent : NULL,
		.out = r->out,
		.aliases = r->aliases,
		.edits_at_once = has_command(r->recorded, "edit") ||
				has_command(r->recorded, "insert"),
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
	n = openings_open(&openings, err);
	if (n == 0)
		episode_start(&r->episode);
	while (r->episode.phase != EPISODE_ENDED && n >= 0)
		n = wait_for_it(r, plan.gym, &openings, err);
	if (openings.n)
		interrupt_leave(n < 0 ? cmd_fail(err) : interrupt_status());
	if (r->episode.failed) {
		*err = r->episode.error;
		n = err->code;
	}
	fh_gym_close(plan.gym);
	return n < 0 ? n : 0;
}

/* --- the end ---------------------------------------------------------------------------------------------- */

static void print_summary(const struct replay *r, const struct replay_verdicts *all)
{
	auto_buf struct buf line = BUF_INIT(LINE_BYTES_MAX);
	struct pyjson_writer w = PYJSON_WRITER_INIT(&line, PYJSON_LINE);

	if (!r->ctx->json) {
		if (r->now)
			printf("%zu steps equal, %zu after normalisation, %zu not comparable, "
			       "%zu different, %zu missing\n",
					all->n[COMPARE_EQUAL], all->n[COMPARE_NORMALISED],
					all->n[COMPARE_UNKNOWN], all->n[COMPARE_DIFFERENT],
					all->missing);
		printf("%s: %s\n", r->episode.exit_status, r->episode.traj);
		return;
	}
	pyjson_put_object(&w, NULL);
	pyjson_put_text(&w, "run", r->name);
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
	free(r->path);
	free(r->out);
	arena_release(&r->arena);
}

/* All that can be compared; where nothing can, nobody knows. */
static bool all_equal(const struct replay_verdicts *v)
{
	return !v->n[COMPARE_DIFFERENT] && !v->missing &&
			v->n[COMPARE_EQUAL] + v->n[COMPARE_NORMALISED] > 0;
}

static int replay_one(struct command_context *ctx, size_t i)
{
	__attribute__((cleanup(release))) struct replay r = {
		.ctx = ctx, .options = ctx->options, .name = ctx->args[i], .is_next = i > 0
	};
	struct replay_verdicts all = { 0 };
	struct fh_error err;
	int n;

	if (replay_prepare(&r, &err) < 0)
		return cmd_refuse(&err);
	interrupt_at_once(false);
	n = play(&r, &err);
	if (n < 0) /* data that is missing is known before anything runs */
		return n == -ENODATA ? cmd_refuse(&err) : cmd_fail(&err);
	interrupt_at_once(true);
	if (r.options->compare && !interrupt_wanted()) {
		if (traj_read(r.episode.traj, &r.now, &err) < 0)
			return cmd_fail(&err);
		all = replay_compare(&r);
	}
	print_summary(&r, &all);
	return r.now && !all_equal(&all) ? CMD_FAILED : CMD_OK;
}

/* One after the other. What can't be played, or differs, keeps no other from its turn. */
static int run_replay(struct command_context *ctx)
{
	int worst = CMD_OK;
	struct fh_error err;

	log_setup(&(struct log_options){ .level = LOG_WARN, .fd = STDERR_FILENO });
	if (interrupt_setup(&err) < 0)
		return cmd_fail(&err);
	interrupt_at_once(true);
	for (size_t i = 0; i < ctx->n_args && !interrupt_wanted(); i++) {
		int status;

		if (ctx->n_args > 1 && !ctx->json)
			printf("%s%s:\n", i ? "\n" : "", ctx->args[i]);
		status = replay_one(ctx, i);
		worst = status > worst ? status : worst;
		fflush(stdout);
	}
	return interrupt_wanted() ? interrupt_status() : worst;
}

#define FIELD(f) offsetof(struct replay_options, f)

static const struct cmd_option options[] = {
	{ "compare", 'c', OPTION_FLAG, FIELD(compare), NULL,
			"say which observations differ, and how; exit status 1 if any does, or none can be compared" },
	{ "all", 'a', OPTION_FLAG, FIELD(all), NULL, "with --compare: name equal steps, too" },
	{ "task", 0, OPTION_TEXT, FIELD(task), "T[:V]", "instead of the recorded one" },
	{ "agent", 0, OPTION_TEXT, FIELD(agent), "AGENT",
			"the configuration that led it, for its commands and prompts (otherwise the recorded one)" },
	EPISODE_TOOLS_OPTION(FIELD(tools), FIELD(tools_given)),
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
	.arguments = "RUN...",
	.min_args = 1,
	.max_args = 1000000,
	.about = "Plays the actions of a recorded run (a .traj, or the folder of a run) in a fresh episode of the "
		 "same task with the same seed, and records that. No model is asked. Several runs are played one "
		 "after the other.\n"
		 "With --compare observations and states are laid beside the recorded ones. What no two runs have "
		 "in common, such as times and process ids, is put aside (\"normalised\"). Of what MLGym scored, the "
		 "scores are compared, not its words; reasons in its words can't be (\"unknown\").",
	.examples = "fumehood replay --compare trajectories/me/*_run_0\n"
		    "fumehood replay --compare --mlgym-root MLGym --agent configs/agents/default.yaml old.traj",
	.options = options,
	.options_size = sizeof(struct replay_options),
	.run = run_replay,
};
