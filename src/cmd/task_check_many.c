/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/task_check.h"

#include "base/mem.h"
#include "base/scope.h"
#include "cli/interrupt.h"
#include "cli/term.h"
#include "run/trials.h"

#include <stdio.h>
#include <stdlib.h>

/* Checks several tasks at once: `task check --run` with --all or --jobs. */

#define ROW_BYTES_MAX 4096

struct check_many {
	const struct command_context *ctx;
	bool live;        /* progress is drawn on the terminal */
	size_t n_printed; /* reports that --json printed, in the order of the tasks */
};

/* Returns the words of the command that checks a task, in the command's arena. */
static const char *const *check_many_words(void *user, const char *spec)
{
	const struct check_many *many = user;
	struct arena *a = many->ctx->arena;
	const struct check_options *o = many->ctx->options;
	const struct {
		const char *name, *value;
	} given[] = {
		{ "--tasks-dir", o->task.tasks_dir },
		{ "--mlgym-root", o->task.mlgym_root },
		{ "--python", o->python },
		{ "--data-seed", arena_printf(a, "%llu", (unsigned long long)o->data_seed) },
		{ "--seeds", arena_printf(a, "%d", o->seeds) },
	};
	const char **words = arena_array(a, 2 * ARRAY_SIZE(given) + 8, sizeof(*words));
	size_t n = 0;

	words[n++] = "fumehood";
	words[n++] = "task";
	words[n++] = "check";
	words[n++] = "--run";
	words[n++] = "--json";
	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		if (given[i].value) {
			words[n++] = given[i].name;
			words[n++] = given[i].value;
		}
	words[n++] = "--";
	words[n++] = spec;
	return words;
}

/* Draws on the terminal how many tasks are checked, and which are being checked. */
static void check_many_draw(const struct trials *trials)
{
	auto_buf struct buf names = BUF_INIT(ROW_BYTES_MAX), line = BUF_INIT(ROW_BYTES_MAX);

	buf_printf(&names, "%zu of %zu checked", trials->n_done, trials->n);
	for (size_t i = 0; i < trials->n; i++)
		if (trials->items[i].pid)
			buf_printf(&names, "  %s", trials->items[i].spec);
	term_add_line(&line, buf_str(&names), term_width(STDERR_FILENO, 80) - 1);
	fprintf(stderr, "\r\033[K%s", buf_str(&line));
}

/* With --json prints the reports that are complete, in the order of the tasks. */
static void check_many_changed(void *user, const struct trials *trials)
{
	struct check_many *many = user;

	while (many->ctx->json && many->n_printed < trials->n &&
			trials->items[many->n_printed].report)
		cmd_print_json(trials->items[many->n_printed++].report);
	fflush(stdout);
	if (many->live && trials->n_done < trials->n)
		check_many_draw(trials);
}

/* Prints the table, unless --json printed the reports. Returns the exit status. */
static int check_many_conclude(const struct trials *trials, bool json)
{
	auto_free json_t **reports = xcalloc(trials->n + 1, sizeof(json_t *));
	int status = CMD_OK;

	for (size_t i = 0; i < trials->n; i++) {
		reports[i] = trials->items[i].report;
		if (trials->items[i].status > status)
			status = trials->items[i].status;
	}
	if (!json)
		task_check_print_table(reports, trials->n);
	return status;
}

static int check_many_find(struct trials *trials, const struct command_context *ctx,
		const struct task_places *places, const char *python, struct fh_error *err)
{
	const struct check_options *o = ctx->options;

	for (size_t i = 0; i < ctx->n_args; i++)
		trials_add(trials, ctx->args[i]);
	return o->all ? trials_add_all(trials, places, o->variant, python, err) : 0;
}

int task_check_many(
		struct command_context *ctx, const struct task_places *places, const char *python)
{
	const struct check_options *o = ctx->options;
	struct check_many many = { .ctx = ctx, .live = term_redraws(STDERR_FILENO) };
	struct trials trials = { .n = 0 };
	struct fh_error err = FH_ERROR_INIT;
	int r, status;

	if (interrupt_setup(&err) < 0 || check_many_find(&trials, ctx, places, python, &err) < 0)
		return cmd_refuse(&err);
	r = trials_run(&trials,
			&(struct trials_request){
					.jobs = (size_t)o->jobs,
					.stop_fd = interrupt_fd(),
					.words = check_many_words,
					.changed = check_many_changed,
					.user = &many,
			},
			&err);
	if (many.live)
		fputs("\r\033[K", stderr);
	if (r < 0)
		status = interrupt_wanted() ? interrupt_status() : cmd_fail(&err);
	else
		status = check_many_conclude(&trials, ctx->json);
	trials_release(&trials);
	return status;
}
