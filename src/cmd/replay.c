/* SPDX-License-Identifier: Apache-2.0 */
#include "run/replay.h"

#include "base/log.h"
#include "base/scope.h"
#include "base/str.h"
#include "cli/interrupt.h"
#include "cli/term.h"
#include "cmd/episode_options.h"
#include "cmd/run_report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* fumehood replay: plays a recorded run again (run/replay.h), and compares the observations. */

#define DIFF_LINES 20
#define REPLAY_LINE_BYTES_MAX (64L << 20)

struct replay_command {
	struct replay_options replay;
	bool compare, all;
};

struct replaying {
	const struct command_context *ctx;
	const struct replay_command *command;
	struct replay replay;
};

static void replaying_release(struct replaying *p)
{
	replay_close(&p->replay);
}

/* --- output ----------------------------------------------------------------------------------- */

static void replaying_print_step(void *user, size_t i, const struct replay_step *step)
{
	const struct replaying *r = user;
	static const char *const styles[] = {
		[COMPARE_EQUAL] = TERM_GREEN,
		[COMPARE_NORMALISED] = TERM_GREEN,
		[COMPARE_UNKNOWN] = TERM_YELLOW,
		[COMPARE_DIFFERENT] = TERM_RED,
	};
	auto_buf struct buf line = BUF_INIT(REPLAY_LINE_BYTES_MAX),
			    diff = BUF_INIT(REPLAY_LINE_BYTES_MAX);
	bool colours = term_colours(STDOUT_FILENO);

	if (r->ctx->json || (step->verdict < COMPARE_UNKNOWN && !r->command->all))
		return;
	str_add_printable(&line, step->action);
	printf("%4zu %s%-10s%s %.*s\n", i + 1, term_style(colours, styles[step->verdict]),
			compare_verdicts[step->verdict], term_style(colours, TERM_RESET),
			(int)strcspn(buf_str(&line), "\n"), buf_str(&line));
	if (step->verdict != COMPARE_DIFFERENT)
		return;
	compare_diff(&diff, step->then, step->now, DIFF_LINES);
	buf_clear(&line);
	str_add_printable(&line, buf_str(&diff));
	fputs(buf_str(&line), stdout);
}

static void replaying_print_summary(const struct replaying *p, const struct replay_verdicts *all)
{
	const struct replay *r = &p->replay;
	auto_buf struct buf line = BUF_INIT(REPLAY_LINE_BYTES_MAX);
	struct pyjson_writer w = PYJSON_WRITER_INIT(&line, PYJSON_LINE);

	if (!p->ctx->json) {
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
	run_report_put_task(&w, &r->episode);
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

/* --- the command ------------------------------------------------------------------------------ */

/* True if at least one step could be compared with the record, no step differs, and none is
 * missing. */
static bool replaying_all_equal(const struct replay_verdicts *v)
{
	return !v->n[COMPARE_DIFFERENT] && !v->missing &&
			v->n[COMPARE_EQUAL] + v->n[COMPARE_NORMALISED] > 0;
}

/* Prints why a run can't be replayed, also as JSON, and returns the exit status. A failed episode
 * has logged its error already. */
static int replaying_fail(const struct replaying *p, const struct fh_error *err)
{
	const struct episode *e = &p->replay.episode;

	if (p->ctx->json)
		cmd_print_json_error("run", p->replay.name, err);
	if (e->failed)
		return e->traj ? CMD_FAILED : cmd_status_of(err);
	return e->traj ? cmd_fail(err) : cmd_refuse(err);
}

static int replaying_play(struct replaying *p, struct fh_error *err)
{
	int n = replay_prepare(&p->replay, err);

	if (n < 0)
		return replaying_fail(p, err);
	interrupt_at_once(false);
	n = replay_play(&p->replay, interrupt_fd(), err);
	if (replay_is_opening(&p->replay))
		interrupt_leave(n < 0 ? replaying_fail(p, err) : interrupt_status());
	if (n < 0)
		return replaying_fail(p, err);
	interrupt_at_once(true);
	return CMD_OK;
}

static int replaying_one(struct command_context *ctx, size_t i)
{
	__attribute__((cleanup(replaying_release))) struct replaying p = { .ctx = ctx,
		.command = ctx->options };
	struct replay_verdicts all = { 0 };
	struct fh_error err;
	int status;

	replay_init(&p.replay, &p.command->replay, ctx->args[i]);
	p.replay.is_next = i > 0;
	status = replaying_play(&p, &err);
	if (status != CMD_OK)
		return status;
	if ((p.command->compare || p.command->replay.files) && !interrupt_wanted()) {
		if (replay_compare(&p.replay, replaying_print_step, &p, &all, &err) < 0)
			return replaying_fail(&p, &err);
		if (p.command->replay.files && replay_write_files(&p.replay, &all, &err) < 0)
			return replaying_fail(&p, &err);
	}
	replaying_print_summary(&p, &all);
	return p.replay.now && !replaying_all_equal(&all) ? CMD_FAILED : CMD_OK;
}

/* Replays all recorded runs in turn. Goes on if a run fails or differs from its record. */
static int replay_main(struct command_context *ctx)
{
	struct replay_command *command = ctx->options;
	int worst = CMD_OK;
	struct fh_error err;

	command->replay.warner = &cmd_warner;
	log_setup(&(struct log_options){ .level = LOG_WARN, .fd = STDERR_FILENO });
	if (interrupt_setup(&err) < 0)
		return cmd_fail(&err);
	interrupt_at_once(true);
	for (size_t i = 0; i < ctx->n_args && !interrupt_wanted(); i++) {
		int status;

		if (ctx->n_args > 1 && !ctx->json)
			printf("%s%s:\n", i ? "\n" : "", ctx->args[i]);
		status = replaying_one(ctx, i);
		worst = status > worst ? status : worst;
		fflush(stdout);
	}
	return interrupt_wanted() ? interrupt_status() : worst;
}

#define FIELD(f) offsetof(struct replay_command, f)
#define REPLAY(f) FIELD(replay.f)

static const struct cmd_option options[] = {
	{ "compare", 'c', OPTION_FLAG, FIELD(compare), NULL,
			"show how observations differ; exit status 1 if one does, or none can be compared" },
	{ "all", 'a', OPTION_FLAG, FIELD(all), NULL, "with --compare: show equal steps too" },
	{ "files", 'f', OPTION_FLAG, REPLAY(files), NULL,
			"compare, and write the workspace's files after each step beside RUN, for view" },
	{ "task", 0, OPTION_TEXT, REPLAY(task), "T[:V]", "task instead of the recorded one" },
	{ "agent", 0, OPTION_TEXT, REPLAY(agent), "AGENT",
			"agent configuration, for its commands and prompts (default: the recorded one)" },
	EPISODE_TOOLS_OPTION(REPLAY(tools), REPLAY(tools_given), NULL, AS_RECORDED),
	{ "out", 'o', OPTION_PATH, REPLAY(out), "DIR",
			"folder for the new run's folder (default: trajectories/<user>)" },
	EPISODE_OPTIONS_RECORDED(REPLAY(episode)),
	{ "gpus", 0, OPTION_LIST, REPLAY(gpus), "N,...",
			"NVIDIA GPUs of the episode, 2 for /dev/nvidia2, or `none` (default: as many free ones "
			"as the run had)" },
	{},
};

const struct command command_replay = {
	.name = "replay",
	.summary = "play a recorded run again",
	.arguments = "RUN...",
	.min_args = 1,
	.max_args = 1000000,
	.about = "Plays the actions of a recorded run in a new episode, and records that. RUN is a .traj, "
		 "the folder of a run or its events.jsonl. The episode has the same task and seed. No "
		 "model is asked. Several runs are played one after the other.\n"
		 "With --compare observations and states are compared with the recorded ones. Differences "
		 "between any two runs, such as times and process ids, are \"normalised\". Scores of MLGym "
		 "are compared, but not its words. Reasons in its words can't be compared (\"unknown\").",
	.examples = "fumehood replay --compare trajectories/me/*_run_0\n"
		    "fumehood replay --compare --mlgym-root MLGym --agent configs/agents/default.yaml old.traj",
	.options = options,
	.options_size = sizeof(struct replay_command),
	.run = replay_main,
};
