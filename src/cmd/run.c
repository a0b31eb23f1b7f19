/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "cli/interrupt.h"
#include "cli/term.h"
#include "cmd/run_options.h"
#include "cmd/run_person.h"
#include "cmd/run_report.h"
#include "cmd/run_spread.h"
#include "cmd/run_view.h"
#include "cmd/view_token.h"
#include "run/sweep.h"
#include "view/live_server.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* fumehood run: reads the options of a run (run/run.h), shows its progress and its results. */

#define RUN_REPORT_BYTES_MAX (256L * 1024 * 1024)

struct runner {
	struct command_context *ctx;
	const struct run_command *command;
	struct run run;
	size_t printed; /* number of episodes whose JSON line is printed */
	struct run_view view;
	struct log_options log;
	struct live_server web;
};

/* --- options ---------------------------------------------------------------------------------- */

/* Refuses options that can't be changed for a resumed run. */
static int runner_check_resume(struct runner *runner)
{
	static const char *const fixed[] = { "task", "task_config_path", "sweep", "model",
		"replay_path", "variant", "seed", "data-seed", "judge-salt", "max-steps", "reward",
		"runs", "num_agents", "skip-existing", "retry-failed", "suffix" };

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (cmd_given(runner->ctx, fixed[i]))
			return cmd_misuse(runner->ctx,
					"--resume takes the options of the recorded run: leave --%s out",
					fixed[i]);
	return CMD_OK;
}

static int runner_check_repeats(struct runner *runner, const char *option, const struct texts *list)
{
	size_t at;

	if (!str_find_repeat(list->items, list->n, &at))
		return CMD_OK;
	return cmd_misuse(runner->ctx, "%s: '%s' would be played twice", option, list->items[at]);
}

/* Refuses an empty command that plays as the agent, and options of such a command without one. */
static int runner_check_foreign(struct runner *runner)
{
	static const char *const needy[] = { "agent-timeout", "agent-calls", "agent-tokens" };
	const struct run_options *o = &runner->command->run;

	for (size_t i = 0; i < ARRAY_SIZE(needy) && !o->foreign.command && !o->resume; i++)
		if (cmd_given(runner->ctx, needy[i]))
			return cmd_misuse(runner->ctx, "--%s needs --agent-command", needy[i]);
	if (o->foreign.command && !*o->foreign.command)
		return cmd_misuse(runner->ctx, "--agent-command is empty");
	return CMD_OK;
}

/* Warns of options for requests to models if no language model plays. */
static void runner_warn_of_model_options(struct runner *runner)
{
	static const char *const options[] = { "temperature", "top-p", "max-tokens", "stop",
		"stream", "url", "api-key", "api-version", "completion-kwargs",
		"per-instance-cost-limit", "total-cost-limit", "prices", "context", "model-timeout",
		"retries" };
	auto_buf struct buf text = BUF_INIT(1024);

	for (size_t i = 0; i < ARRAY_SIZE(options) && !runner->run.plan.chat; i++)
		if (cmd_given(runner->ctx, options[i]))
			buf_printf(&text, "%s--%s", text.len ? ", " : "", options[i]);
	if (text.len)
		cmd_warn("no effect without a language model as --model: %s", buf_str(&text));
}

static int runner_check_options(struct runner *runner)
{
	const struct run_options *o = &runner->command->run;
	int r = o->resume ? runner_check_resume(runner) : CMD_OK;

	if (r != CMD_OK)
		return r;
	if (!o->tasks.n && !o->task_config && !o->sweep && !o->resume)
		return cmd_misuse(runner->ctx,
				"--task is missing; `fumehood task list` shows what there is");
	if (o->tasks.n && o->task_config)
		return cmd_misuse(runner->ctx, "--task_config_path is --task: give one of them");
	r = runner_check_foreign(runner);
	if (r != CMD_OK)
		return r;
	r = runner_check_repeats(runner, "--task", &o->tasks);
	return r == CMD_OK ? runner_check_repeats(runner, "--model", &o->models) : r;
}

/* --- events ----------------------------------------------------------------------------------- */

/* Prints the JSON lines of episodes. They are in the episodes' order, so a line waits for earlier
 * episodes. */
static void runner_print_json(struct runner *runner)
{
	while (runner->ctx->json && runner->printed < runner->run.plan.n) {
		const struct episode *e = &runner->run.plan.episodes[runner->printed];
		auto_buf struct buf line = BUF_INIT(RUN_REPORT_BYTES_MAX);

		if (!episode_is_settled(e))
			break;
		run_report_json(&line, e);
		fputs(buf_str(&line), stdout);
		fflush(stdout);
		runner->printed++;
	}
}

static void runner_on_event(void *user, enum run_event event, const struct episode *e)
{
	struct runner *runner = user;
	auto_buf struct buf line = BUF_INIT(4 * FH_ERROR_MESSAGE_MAX);
	auto_free char *task = NULL;

	switch (event) {
	case RUN_BEGAN:
		run_view_began(&runner->view, e);
		return;
	case RUN_STEPPED:
		interrupt_take_soft(); /* forget a Ctrl-C that came before this step */
		run_view_stepped(&runner->view, e);
		return;
	case RUN_AGAIN:
		task = run_report_task(e);
		buf_printf(&line, "%s #%d: once more: %s", task, e->number, e->error.message);
		run_view_say(&runner->view, buf_str(&line));
		return;
	case RUN_FOUND:
		run_view_found(&runner->view, e);
		runner_print_json(runner);
		return;
	case RUN_ENDED:
		run_view_ended(&runner->view, e);
		runner_print_json(runner);
		return;
	case RUN_STOPPING:
		run_view_say(&runner->view, "stopping; press Ctrl-C again to stop at once");
		return;
	case RUN_WAITS:
		run_person_serve(&runner->run);
		run_view_draw(&runner->view, false);
	}
}

static void runner_on_played(void *user, const struct episode *e, const struct fh_step *step)
{
	struct runner *runner = user;

	run_view_played(&runner->view, e, step);
}

static void runner_on_rejected(void *user, const struct conversation_verdict *verdict)
{
	struct runner *runner = user;

	run_view_rejected(&runner->view, verdict);
}

/* --- the command ------------------------------------------------------------------------------ */

static void runner_start_view(struct runner *runner)
{
	const struct run_command *o = runner->command;
	const struct run_plan *plan = &runner->run.plan;
	enum run_verbosity verbosity = o->quiet ? RUN_QUIET : o->verbose ? RUN_VERBOSE : RUN_NORMAL;
	bool live = term_redraws(STDERR_FILENO) && !plan->interactive;

	run_view_init(&runner->view, verbosity, live, plan->episodes, plan->n);
	if (!runner->view.live)
		return;
	/* While lines of progress are redrawn at the bottom, print log lines above them. */
	runner->log.write = run_view_log;
	runner->log.context = &runner->view;
	log_setup(&runner->log);
}

static void runner_say_found(struct runner *runner)
{
	size_t found = runner->run.plan.n_found, n = runner->run.plan.n;
	auto_free char *sentence = found < n ? xasprintf("%zu of %zu runs %s there already", found,
							       n, found == 1 ? "is" : "are")
			: n == 1             ? xstrdup("the run is there already")
					     : xasprintf("all %zu runs are there already", n);

	if (found)
		run_view_say(&runner->view, sentence);
}

static void runner_print_table(struct runner *runner)
{
	auto_buf struct buf table = BUF_INIT(RUN_REPORT_BYTES_MAX);

	const struct episode *episodes = runner->run.plan.episodes;
	bool colours = term_colours(STDOUT_FILENO);

	run_report_table(&table, episodes, runner->run.begun, colours);
	run_spread_table(&table, episodes, runner->run.begun, colours);
	run_report_paths(&table, episodes, runner->run.begun);
	if (table.len)
		printf("%s%s", runner->command->quiet ? "" : "\n", buf_str(&table));
}

/* Exit status of the run: that of a signal if one came, else the highest one of its episodes.
 * Only an episode that never opened can give CMD_USAGE. */
static int runner_status(const struct runner *runner)
{
	int worst = CMD_OK;

	if (interrupt_wanted())
		return interrupt_status();
	for (size_t i = 0; i < runner->run.plan.n; i++) {
		const struct episode *e = &runner->run.plan.episodes[i];
		bool opened = e->traj || e->phase == EPISODE_GIVEN_UP;
		int status = !e->failed ? CMD_OK : opened ? CMD_FAILED : cmd_status_of(&e->error);

		worst = status > worst ? status : worst;
	}
	return worst;
}

static void runner_release(struct runner *runner)
{
	live_server_release(&runner->web);
	run_close(&runner->run);
}

/* Sets options that MLGym's options imply: --num_agents N means --runs N --jobs N. */
static void runner_set_options(struct command_context *ctx)
{
	struct run_command *c = ctx->options;

	if (cmd_given(ctx, "num_agents") && !cmd_given(ctx, "runs"))
		c->run.runs = c->agents;
	if (cmd_given(ctx, "num_agents") && !cmd_given(ctx, "jobs"))
		c->run.jobs = c->agents;
	c->run.warner = &cmd_warner;
	c->run.human_in = STDIN_FILENO;
	c->run.human_out = ctx->json ? STDERR_FILENO : STDOUT_FILENO;
}

static int runner_play(struct runner *runner)
{
	struct run_play play = { .on = runner_on_event,
		.user = runner,
		.stop_fd = interrupt_fd(),
		.wake_fd = interrupt_soft_fd(),
		.takeover = runner->web.takeover };
	struct fh_error err;
	int r, status;

	runner_start_view(runner);
	runner_say_found(runner);
	if (runner->command->verbose && !runner->run.plan.interactive) {
		play.played = runner_on_played;
		play.rejected = runner_on_rejected;
	}
	play.interval_ms = runner->view.live ? RUN_VIEW_INTERVAL_MS : -1;
	r = run_play(&runner->run, &play, &err);
	runner->log.write = NULL;
	log_setup(&runner->log);
	run_view_release(&runner->view);
	if (r < 0) {
		status = cmd_fail(&err);
	} else {
		if (!runner->ctx->json)
			runner_print_table(runner);
		status = runner_status(runner);
	}
	live_server_linger(&runner->web, interrupt_fd());
	if (run_is_opening(&runner->run))
		interrupt_leave(status);
	return status;
}

static int runner_start_web(struct runner *runner, struct fh_error *err)
{
	const char *token;
	int r = view_token(runner->ctx->arena, &token, err);

	if (r < 0)
		return r;
	r = live_server_start(
			&runner->web, runner->run.plan.out, runner->command->web_port, token, err);
	if (r < 0)
		return r;
	fprintf(stderr, "%s#/live\n", runner->web.address);
	return 0;
}

static int runner_main(struct command_context *ctx)
{
	__attribute__((cleanup(runner_release))) struct runner runner = { .ctx = ctx,
		.command = ctx->options };
	struct fh_error err;
	int r;

	runner_set_options(ctx);
	run_init(&runner.run, &runner.command->run);
	live_server_init(&runner.web);
	r = runner_check_options(&runner);
	if (r != CMD_OK)
		return r;
	if (log_options_read(ctx, &runner.command->log,
			    runner.command->quiet ? LOG_ERROR : LOG_WARN, &runner.log, &err) < 0)
		return cmd_refuse(&err);
	log_setup(&runner.log);
	if (run_prepare(&runner.run, &err) < 0)
		return cmd_refuse(&err);
	if (!runner.command->quiet)
		runner_warn_of_model_options(&runner);
	if (interrupt_setup(&err) < 0)
		return cmd_fail(&err);
	if (run_open(&runner.run, &err) < 0)
		return cmd_refuse(&err);
	r = runner.command->web ? runner_start_web(&runner, &err) : 0;
	if (r < 0)
		return r == -EINVAL ? cmd_refuse(&err) : cmd_fail(&err);
	return runner_play(&runner);
}

const struct command command_run = {
	.name = "run",
	.summary = "play and score episodes of tasks",
	.arguments = "--task T",
	.about = "A model acts in the sandbox of a task until it submits, runs out of "
		 "steps or is stopped. Every step is recorded before the model sees it. The end is a "
		 "table, or with --json a line for each episode.\n"
		 "With --model human each typed line is an action. An unfinished command goes on with the "
		 "next line: `for` without `done`, or `edit 2:2` without end_of_edit. At a terminal Ctrl-C "
		 "clears the line or ends the running command. Pressed twice, it asks whether to submit or "
		 "leave.\n"
		 "Ctrl-C (or TERM, HUP, QUIT) ends the episodes in order. They keep their records, with "
		 "the exit status early_exit. A second signal stops at once.",
	.options = run_options,
	.options_size = sizeof(struct run_command),
	.examples = "fumehood run --task battleOfSexes --model demo\n"
		    "fumehood run --task battleOfSexes,titanicSurvival:micro --runs 4 --jobs 2 --out runs\n"
		    "fumehood run --task titanicSurvival:micro --model actions:mine.jsonl --json\n"
		    "fumehood run --task battleOfSexes --model human --max-steps 10\n"
		    "fumehood run --task battleOfSexes --model human --web    # in a browser",
	.run = runner_main,
};
