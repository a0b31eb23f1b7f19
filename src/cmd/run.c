/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/interrupt.h"
#include "cli/term.h"
#include "cmd/run_gym.h"
#include "cmd/run_options.h"
#include "cmd/run_plan.h"
#include "cmd/run_report.h"
#include "cmd/run_view.h"
#include "run/repeats.h"
#include "trajectory/run_dir.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * fumehood run: episodes of some tasks, played by models (run_plan.c). One thread drives all of them by the
 * pollable form of the environments, at most --jobs at a time, in the order in which they are named.
 */

#define REPORT_BYTES_MAX (256L * 1024 * 1024)
#define DONE_AT_ONCE 64

struct runner {
	struct command_context *ctx;
	const struct run_options *options;
	struct fh_gym *gym;
	struct openings openings;
	struct run_plan plan;
	int jobs;
	struct episode *episodes; /* of the plan */
	size_t n, begun, ended;
	size_t printed; /* JSON lines of the first so many episodes */
	bool stopping;
	const char *warned; /* of this task */
	struct run_view view;
	struct log_options log;
};

static int check_repeats(struct runner *run, const char *option, const struct texts *list)
{
	size_t at;

	if (!repeats_find(list->items, list->n, &at))
		return CMD_OK;
	return cmd_misuse(run->ctx, "%s: '%s' would be played twice", option, list->items[at]);
}

static int check_options(struct runner *run)
{
	const struct run_options *o = run->options;
	struct fh_error err;
	int r;

	if (o->resume && run_past_contradicts(run->ctx, &err))
		return cmd_misuse(run->ctx, "%s", err.message);
	if (!o->tasks.n && !o->task_config && !o->sweep && !o->resume)
		return cmd_misuse(run->ctx,
				"--task is missing; `fumehood task list` shows what there is");
	if (o->tasks.n && o->task_config)
		return cmd_misuse(run->ctx, "--task_config_path is --task: give one of them");
	if (o->quiet && o->verbose)
		return cmd_misuse(run->ctx, "--quiet and --verbose contradict each other");
	r = check_repeats(run, "--task", &o->tasks);
	return r == CMD_OK ? check_repeats(run, "--model", &o->models) : r;
}

/* --- playing ---------------------------------------------------------------------------------- */

/* Lines for programs come in the order of the episodes, each as soon as it can. */
static void print_json(struct runner *run)
{
	while (run->printed < run->n) {
		const struct episode *e = &run->episodes[run->printed];
		auto_buf struct buf line = BUF_INIT(REPORT_BYTES_MAX);

		if (!episode_is_settled(e))
			break;
		run_report_json(&line, e);
		fputs(buf_str(&line), stdout);
		fflush(stdout);
		run->printed++;
	}
}

static void after(struct runner *run, struct episode *e);

/* One that broke, from the beginning: what was recorded of it stays. */
static void again(struct runner *run, struct episode *e)
{
	struct episode_plan plan = e->plan;
	int retried = e->retried + 1;
	auto_free char *task = run_report_task(e);
	auto_free char *sentence =
			xasprintf("%s #%d: once more: %s", task, e->number, e->error.message);

	run_view_say(&run->view, sentence);
	episode_release(e);
	episode_init(e, &plan);
	e->retried = retried;
	episode_start(e);
	if (e->phase == EPISODE_ENDED)
		after(run, e);
}

/* All language models together have cost what they may. */
static bool is_spent(const struct runner *run, struct fh_error *why)
{
	return run->plan.chat && chat_service_is_spent(run->plan.chat, why);
}

static bool asks_a_model(const struct episode *e)
{
	return e->plan.agent && e->plan.agent->chat;
}

static bool is_begun_again(const struct runner *run, const struct episode *e)
{
	return e->failed && !run->stopping && !e->plan.past && e->retried < run->options->retry &&
			!(asks_a_model(e) && is_spent(run, NULL));
}

static void after(struct runner *run, struct episode *e)
{
	if (e->phase == EPISODE_THINKING || e->phase == EPISODE_LEAVING)
		return; /* it will be said what it does, or that it is over */
	if (e->phase != EPISODE_ENDED) {
		run_view_stepped(&run->view, e);
		return;
	}
	if (is_begun_again(run, e)) {
		again(run, e);
		return;
	}
	run->ended++;
	run_view_ended(&run->view, e);
	if (run->ctx->json)
		print_json(run);
}

/* It was there already, or nobody pays for it. */
static void end_without(struct runner *run, const struct episode *e)
{
	run->ended++;
	run_view_found(&run->view, e);
	if (run->ctx->json)
		print_json(run);
}

/* What nobody would pay for leaves no folder. Others play on. */
static void give_up_unpaid(struct runner *run)
{
	auto_free char *sentence = NULL;
	struct fh_error why;
	size_t n = 0;

	if (!is_spent(run, &why))
		return;
	for (size_t i = run->begun; i < run->n; i++) {
		struct episode *e = &run->episodes[i];

		if (e->phase != EPISODE_PLANNED || !asks_a_model(e))
			continue;
		episode_give_up(e, &why);
		n++;
	}
	sentence = xasprintf("%zu run%s not begun: %s", n, n == 1 ? " is" : "s are", why.message);
	if (n)
		log_record(NULL, LOG_ERROR, sentence, NULL, 0);
}

/* Once for all episodes of a task, which follow each other. */
static void warn_of_task(struct runner *run, const struct episode *e)
{
	const char *warning = e->env ? fh_env_warning(e->env) : NULL;

	if (warning && run->warned != e->plan.env->task)
		log_record(NULL, LOG_WARN, warning, NULL, 0);
	run->warned = e->plan.env->task;
}

static void begin_next(struct runner *run)
{
	struct episode *e = &run->episodes[run->begun];

	give_up_unpaid(run);
	run->begun++;
	if (e->phase != EPISODE_PLANNED) {
		end_without(run, e);
		return;
	}
	e->plan.gym = run->gym;
	e->plan.openings = &run->openings;
	e->plan.stop_fd = interrupt_fd();
	episode_start(e);
	if (e->phase == EPISODE_ENDED)
		after(run, e);
}

static bool may_begin(const struct runner *run)
{
	return !run->stopping && run->begun < run->n &&
			run->begun - run->ended < (size_t)run->jobs &&
			run->openings.n < OPENINGS_MAX;
}

static void stop_all(struct runner *run)
{
	if (run->stopping)
		return;
	run->stopping = true;
	run_view_say(&run->view, "stopping; once more to stop at once");
	for (size_t i = 0; i < run->begun; i++) {
		struct episode *e = &run->episodes[i];
		bool was_settled = episode_is_settled(e);

		episode_stop(e);
		if (episode_is_settled(e) && !was_settled)
			after(run, e);
	}
}

static struct episode *episode_of(struct runner *run, const struct fh_env *env)
{
	for (size_t i = 0; i < run->begun; i++) {
		if (run->episodes[i].env == env)
			return &run->episodes[i];
	}
	return NULL;
}

static void opened(struct runner *run, struct episode *e)
{
	episode_opened(e);
	warn_of_task(run, e);
	if (e->phase == EPISODE_ENDED)
		after(run, e);
	else
		run_view_began(&run->view, e);
}

/* Episodes that differ only in their seeds begin in order: their folders' numbers follow the seeds. */
static int advance_opened(struct runner *run)
{
	const struct fh_env_options *held = NULL;
	int n = 0;

	if (!openings_came(&run->openings))
		return 0;
	for (size_t i = 0; i < run->begun; i++) {
		struct episode *e = &run->episodes[i];

		if (e->phase != EPISODE_OPENING || e->plan.env == held)
			continue;
		if (opening_is_over(e->opening)) {
			opened(run, e);
			n++;
		}
		if (e->phase == EPISODE_OPENING)
			held = e->plan.env;
	}
	return n;
}

static int advance_done(struct runner *run, struct fh_error *err)
{
	struct fh_env *done[DONE_AT_ONCE];
	int n = fh_gym_wait(run->gym, 0, done, DONE_AT_ONCE, err);

	for (int i = 0; i < n; i++) {
		struct episode *e = episode_of(run, done[i]);

		episode_advance(e);
		after(run, e);
	}
	return n;
}

/* Language models that have answered. */
static int advance_thought(struct runner *run)
{
	struct chat_call *done[DONE_AT_ONCE];
	size_t n = run->plan.chat ? chat_service_advance(run->plan.chat, done, DONE_AT_ONCE) : 0;

	for (size_t i = 0; i < n; i++) {
		struct episode *e = chat_call_user(done[i]);

		episode_thought(e);
		after(run, e);
	}
	return (int)n;
}

static int wait_for_something(struct runner *run, struct fh_error *err)
{
	struct pollfd fds[] = {
		{ .fd = fh_gym_fd(run->gym), .events = POLLIN },
		/* Once is enough: it stays readable. */
		{ .fd = run->stopping ? -1 : interrupt_fd(), .events = POLLIN },
		{ .fd = run->plan.chat ? chat_service_fd(run->plan.chat) : -1, .events = POLLIN },
		{ .fd = run->openings.fd, .events = POLLIN },
	};

	run_view_draw(&run->view, false);
	if (poll(fds, ARRAY_SIZE(fds), run->view.live ? RUN_VIEW_INTERVAL_MS : -1) < 0 &&
			errno != EINTR)
		return error_set(err, errno, "wait for environments");
	return 0;
}

static int play(struct runner *run, struct fh_error *err)
{
	while (run->ended < (run->stopping ? run->begun : run->n)) {
		int r;

		if (interrupt_wanted())
			stop_all(run);
		if (may_begin(run)) {
			begin_next(run);
			continue;
		}
		r = advance_done(run, err);
		if (r >= 0)
			r += advance_thought(run) + advance_opened(run);
		if (r == 0 && run->ended < run->begun)
			r = wait_for_something(run, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- the command ------------------------------------------------------------------------------ */

static int start_log(struct runner *run, struct fh_error *err)
{
	enum log_level otherwise = run->options->quiet ? LOG_ERROR : LOG_WARN;
	int r = log_options_read(run->ctx, &run->options->log, otherwise, &run->log, err);

	if (r == 0)
		log_setup(&run->log);
	return r;
}

/* What is drawn and drawn again would be written over by the log: it goes above that. */
static void log_above_view(struct runner *run)
{
	if (!run->view.live)
		return;
	run->log.write = run_view_log;
	run->log.context = &run->view;
	log_setup(&run->log);
}

static void stop_view(struct runner *run)
{
	run->log.write = NULL;
	log_setup(&run->log);
	run_view_release(&run->view);
}

static void start_view(struct runner *run)
{
	const struct run_options *o = run->options;
	enum run_verbosity verbosity = o->quiet ? RUN_QUIET : o->verbose ? RUN_VERBOSE : RUN_NORMAL;
	bool live = term_redraws(STDERR_FILENO) && !run->plan.interactive;

	run_view_init(&run->view, verbosity, live, run->episodes, run->n);
	for (size_t i = 0; i < run->n && o->verbose && !run->plan.interactive; i++) {
		run->episodes[i].plan.played = run_view_played;
		run->episodes[i].plan.played_user = &run->view;
	}
	log_above_view(run);
}

static void say_found(struct runner *run)
{
	size_t found = run->plan.n_found;
	auto_free char *some = xasprintf("%zu of %zu runs %s there already", found, run->n,
			found == 1 ? "is" : "are");
	auto_free char *all = run->n == 1 ? xstrdup("the run is there already")
					  : xasprintf("all %zu runs are there already", run->n);

	if (found)
		run_view_say(&run->view, found < run->n ? some : all);
}

static void print_table(struct runner *run)
{
	auto_buf struct buf table = BUF_INIT(REPORT_BYTES_MAX);

	if (run->ctx->json)
		return;
	run_report_table(&table, run->episodes, run->begun, term_colours(STDOUT_FILENO));
	if (table.len)
		printf("%s%s", run->options->quiet ? "" : "\n", buf_str(&table));
}

static int status_of(const struct runner *run)
{
	if (interrupt_wanted())
		return interrupt_status();
	for (size_t i = 0; i < run->n; i++) {
		if (run->episodes[i].failed)
			return CMD_FAILED;
	}
	return CMD_OK;
}

static void release(struct runner *run)
{
	run_plan_release_episodes(&run->plan);
	fh_gym_close(run->gym);
	openings_close(&run->openings);
	run_plan_release(&run->plan);
}

static int run_run(struct command_context *ctx)
{
	__attribute__((cleanup(release))) struct runner run = {
		.ctx = ctx, .options = ctx->options, .openings = { .fd = -1 }
	};
	struct fh_error err;
	int r, status;

	r = check_options(&run);
	if (r == CMD_OK && start_log(&run, &err) < 0)
		r = cmd_refuse(&err);
	if (r == CMD_OK)
		r = run_plan_make(&run.plan, ctx);
	if (r != CMD_OK)
		return r;
	run.episodes = run.plan.episodes;
	run.n = run.plan.n;
	run.jobs = cmd_given(ctx, "num_agents") && !cmd_given(ctx, "jobs") ? run.options->agents
									   : run.options->jobs;
	if (run.plan.interactive)
		run.jobs = 1;
	r = openings_open(&run.openings, &err);
	if (r == 0)
		r = interrupt_setup(&err);
	if (r == 0)
		r = run_gym_open(&run.plan, ctx, run.jobs, &run.gym, &err);
	if (r == -ENOENT || r == -EINVAL)
		return cmd_refuse(&err);
	if (r < 0)
		return cmd_fail(&err);
	start_view(&run);
	say_found(&run);
	r = play(&run, &err);
	stop_view(&run);
	if (r == 0)
		print_table(&run);
	status = r < 0 ? cmd_fail(&err) : status_of(&run);
	if (run.openings.n)
		interrupt_leave(status);
	return status;
}

const struct command command_run = {
	.name = "run",
	.summary = "play episodes of tasks and score them",
	.arguments = "--task T",
	.about = "Plays episodes: a model acts in the sandbox of a task until it submits, runs out of "
		 "steps or is stopped. Every step is recorded before the model sees it. At the end there "
		 "is a table, or with --json a line for each episode.\n"
		 "With --model human each line that is typed is an action. Lines between a line "
		 "start_multiline_command and a line end_multiline_command are one: for a "
		 "here-document, or a function. `edit 2:2` goes on up to a line end_of_edit, and so "
		 "does each command that takes a text.\n"
		 "Ctrl-C (or TERM, HUP, QUIT) ends the episodes in order, with the exit status early_exit and what they "
		 "recorded; a second one stops at once.",
	.options = run_options,
	.options_size = sizeof(struct run_options),
	.examples = "fumehood run --task battleOfSexes --model demo\n"
		    "fumehood run --task battleOfSexes,titanic:micro --runs 4 --jobs 2 --out runs\n"
		    "fumehood run --task titanic:micro --model actions:mine.jsonl --json\n"
		    "fumehood run --task battleOfSexes --model human --max-steps 10",
	.run = run_run,
};
