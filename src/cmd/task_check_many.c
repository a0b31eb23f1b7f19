/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/task_check.h"

#include "base/clock.h"
#include "base/exec.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "cli/interrupt.h"
#include "cli/term.h"
#include "task/load.h"
#include "task/requirements.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Checks several tasks at once. Each task is checked by a process of its own, which runs this
 * program. A process can have only one gym.
 */

#define CHECK_REPORT_BYTES_MAX (4 * 1024 * 1024)
#define READ_BYTES 65536
#define CHECK_MISSING_BYTES_MAX 4096

/* A task to check. */
struct check_item {
	char *spec;
	char *left_out; /* why the task can't run here; NULL: it can */
	pid_t pid;      /* process of the check; 0: none runs */
	int fd;         /* pipe from the standard output of the check's process */
	struct buf out;
	int64_t begun_ns;
	json_t *report; /* report of the check; NULL: the check has not ended */
	int status;
};

struct check_items {
	struct check_item *items;
	size_t n, n_begun, n_done;
	size_t n_printed; /* reports that --json printed, in the order of the items */
	bool live;        /* progress is drawn on the terminal */
};

/* --- the tasks -------------------------------------------------------------------------------- */

static struct check_item *check_items_add(struct check_items *list, char *spec)
{
	list->items = xrealloc(list->items, list->n + 1, sizeof(*list->items));
	list->items[list->n] = (struct check_item){ .spec = spec, .fd = -1 };
	return &list->items[list->n++];
}

/* Returns why a task is left out: it lacks data or Python packages, or takes no data seed. NULL: it
 * is checked. The check itself finds other errors. */
static char *check_left_out(const char *spec, const struct task_places *places, const char *python)
{
	auto_buf struct buf missing = BUF_INIT(CHECK_MISSING_BYTES_MAX);
	auto_task struct task *task = NULL;
	struct task_places first = *places;
	int r = task_load(places, spec, NULL, &task, NULL);

	if (r == -ENODATA)
		return xasprintf("data is missing: see `fumehood task show %s`", spec);
	if (r < 0) {
		first.data_seed = 0;
		if (!places->data_seed || task_load(&first, spec, NULL, &task, NULL) < 0)
			return NULL;
		return xstrdup("no data seed: its data is not generated");
	}
	if (requirements_missing(task, python, &missing, NULL) < 0 || !missing.len)
		return NULL;
	return xasprintf("Python lacks %s", buf_str(&missing));
}

/* Adds the variants of a task, the default variant first. `only`: a variant's name; NULL: all. */
static void check_items_add_variants(struct check_items *list, const struct task_places *places,
		const char *id, const char *only)
{
	char **variants = NULL;

	if (task_variants(places, id, &variants, NULL) < 0) {
		check_items_add(list, xstrdup(id)); /* the check reports the error */
		return;
	}
	for (char **v = variants; *v; v++)
		if (!only || str_eq(*v, only))
			check_items_add(list, xasprintf("%s:%s", id, *v));
	xfree_strings(variants);
}

static int check_items_find(struct check_items *list, const struct command_context *ctx,
		const struct task_places *places, const char *python, struct fh_error *err)
{
	const struct check_options *o = ctx->options;
	char **ids;
	int r;

	for (size_t i = 0; i < ctx->n_args; i++)
		check_items_add(list, xstrdup(ctx->args[i]));
	if (!o->all)
		return 0;
	r = task_list(places, &ids, err);
	if (r < 0)
		return r;
	for (char **id = ids; *id; id++)
		check_items_add_variants(list, places, *id, o->variant);
	for (size_t i = 0; i < list->n; i++)
		list->items[i].left_out = check_left_out(list->items[i].spec, places, python);
	xfree_strings(ids);
	if (o->variant && !list->n)
		return error_say(err, ENOENT, "no task has a variant '%s'", o->variant);
	return 0;
}

static void check_items_release(struct check_items *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->items[i].spec);
		free(list->items[i].left_out);
		buf_release(&list->items[i].out);
		json_decref(list->items[i].report);
	}
	free(list->items);
}

/* --- processes -------------------------------------------------------------------------------- */

/* Words of the command that checks a task, in the arena. */
static const char **check_item_argv(
		const struct check_item *item, const struct command_context *ctx)
{
	const struct check_options *o = ctx->options;
	const struct {
		const char *name, *value;
	} given[] = {
		{ "--tasks-dir", o->task.tasks_dir },
		{ "--mlgym-root", o->task.mlgym_root },
		{ "--python", o->python },
		{ "--data-seed",
				arena_printf(ctx->arena, "%llu",
						(unsigned long long)o->data_seed) },
		{ "--seeds", arena_printf(ctx->arena, "%d", o->seeds) },
	};
	const char **argv = arena_array(ctx->arena, 2 * ARRAY_SIZE(given) + 8, sizeof(*argv));
	size_t n = 0;

	argv[n++] = "fumehood";
	argv[n++] = "task";
	argv[n++] = "check";
	argv[n++] = "--run";
	argv[n++] = "--json";
	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		if (given[i].value) {
			argv[n++] = given[i].name;
			argv[n++] = given[i].value;
		}
	argv[n++] = "--";
	argv[n++] = item->spec;
	return argv;
}

static int check_item_begin(
		struct check_item *item, const struct command_context *ctx, struct fh_error *err)
{
	const char **argv = check_item_argv(item, ctx);
	pid_t parent = getpid();
	auto_close int ours = -1, theirs = -1;
	int r = fd_pipe(&ours, &theirs);

	if (r < 0)
		return error_set(err, -r, "make a pipe");
	buf_init(&item->out, CHECK_REPORT_BYTES_MAX);
	item->begun_ns = clock_now_ns();
	item->pid = fork();
	if (item->pid == 0) {
		/* Have the kernel end this process if its parent is killed. */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent || dup2(theirs, STDOUT_FILENO) < 0)
			_exit(CMD_FAILED);
		execv("/proc/self/exe", exec_list(argv));
		_exit(CMD_FAILED);
	}
	if (item->pid < 0) {
		item->pid = 0;
		return error_set(err, errno, "start a process to check '%s'", item->spec);
	}
	item->fd = take_fd(&ours);
	return 0;
}

static json_t *check_item_report(const struct check_item *item, int status)
{
	struct fh_error err;
	json_t *report = NULL;

	if (WIFEXITED(status) &&
			json_parse("report", buf_str(&item->out), item->out.len, &report, &err) ==
					0)
		return report;
	error_say(&err, EIO, "the process of the check ended with %s %d",
			WIFEXITED(status) ? "status" : "signal",
			WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	report = json_object();
	json_object_set_new(report, "task", json_text(item->spec));
	json_object_set_new(report, "error", json_text(err.message));
	return report;
}

static void check_item_end(struct check_item *item)
{
	double seconds = (double)(clock_now_ns() - item->begun_ns) / 1e9;
	int status = 0;

	TEMP_FAILURE_RETRY(waitpid(item->pid, &status, 0));
	close(item->fd);
	item->pid = 0;
	item->fd = -1;
	item->status = WIFEXITED(status) ? WEXITSTATUS(status) : CMD_FAILED;
	item->report = check_item_report(item, status);
	json_object_set_new(item->report, "duration_s", json_real(round(seconds * 10) / 10));
}

/* Ends all checks. Their sandboxes end with them. */
static void check_items_stop(struct check_items *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->items[i].pid)
			kill(list->items[i].pid, SIGTERM);
	for (size_t i = 0; i < list->n; i++)
		if (list->items[i].pid) {
			TEMP_FAILURE_RETRY(waitpid(list->items[i].pid, NULL, 0));
			close(list->items[i].fd);
		}
}

/* --- progress --------------------------------------------------------------------------------- */

#define ROW_BYTES_MAX 4096

static void check_items_draw(const struct check_items *list)
{
	auto_buf struct buf names = BUF_INIT(ROW_BYTES_MAX), line = BUF_INIT(ROW_BYTES_MAX);

	if (!list->live)
		return;
	buf_printf(&names, "%zu of %zu checked", list->n_done, list->n);
	for (size_t i = 0; i < list->n; i++)
		if (list->items[i].pid)
			buf_printf(&names, "  %s", list->items[i].spec);
	term_add_line(&line, buf_str(&names), term_width(STDERR_FILENO, 80) - 1);
	fprintf(stderr, "\r\033[K%s", buf_str(&line));
}

static void check_items_undraw(const struct check_items *list)
{
	if (list->live)
		fputs("\r\033[K", stderr);
}

/* --- all -------------------------------------------------------------------------------------- */

/* Prints the reports that are complete, in the order of the tasks. */
static void check_items_print_json(struct check_items *list)
{
	while (list->n_printed < list->n && list->items[list->n_printed].report)
		cmd_print_json(list->items[list->n_printed++].report);
	fflush(stdout);
}

static json_t *check_item_left_out(const struct check_item *item)
{
	return json_pack("{s:s, s:b, s:[], s:[], s:s}", "task", item->spec, "ok", 1, "problems",
			"notes", "left_out", item->left_out);
}

/* Begins checks until `jobs` run or none is left. */
static int check_items_begin(struct check_items *list, const struct command_context *ctx, int jobs,
		struct fh_error *err)
{
	while (list->n_begun < list->n && list->n_begun - list->n_done < (size_t)jobs) {
		struct check_item *item = &list->items[list->n_begun++];
		int r;

		if (item->left_out) {
			item->report = check_item_left_out(item);
			list->n_done++;
			continue;
		}
		r = check_item_begin(item, ctx, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Waits for output of the checks, and reads it. */
static void check_items_wait(struct check_items *list)
{
	struct pollfd *fds = xcalloc(list->n + 1, sizeof(*fds));

	fds[list->n] = (struct pollfd){ .fd = interrupt_fd(), .events = POLLIN };
	for (size_t i = 0; i < list->n; i++)
		fds[i] = (struct pollfd){ .fd = list->items[i].fd, .events = POLLIN };
	if (poll(fds, list->n + 1, -1) > 0)
		for (size_t i = 0; i < list->n; i++) {
			char chunk[READ_BYTES];
			ssize_t n = fds[i].revents ? read(fds[i].fd, chunk, sizeof(chunk)) : -1;

			if (n > 0)
				buf_add(&list->items[i].out, chunk, (size_t)n);
			if (n == 0) {
				check_item_end(&list->items[i]);
				list->n_done++;
			}
		}
	free(fds);
}

static int check_items_play(
		struct check_items *list, const struct command_context *ctx, struct fh_error *err)
{
	const struct check_options *o = ctx->options;

	while (!interrupt_wanted()) {
		int r = check_items_begin(list, ctx, o->jobs, err);

		if (r < 0)
			return r;
		if (ctx->json)
			check_items_print_json(list);
		if (list->n_done == list->n)
			return 0;
		check_items_draw(list);
		check_items_wait(list);
	}
	return error_say(err, EINTR, "interrupted");
}

static int check_items_conclude(const struct check_items *list, bool json)
{
	json_t **reports = xcalloc(list->n + 1, sizeof(json_t *));
	int status = CMD_OK;

	for (size_t i = 0; i < list->n; i++) {
		reports[i] = list->items[i].report;
		if (list->items[i].status > status)
			status = list->items[i].status;
	}
	if (!json)
		task_check_print_table(reports, list->n);
	free(reports);
	return status;
}

int task_check_many(
		struct command_context *ctx, const struct task_places *places, const char *python)
{
	struct check_items list = { .live = term_redraws(STDERR_FILENO) };
	struct fh_error err = FH_ERROR_INIT;
	int status;

	if (interrupt_setup(&err) < 0 || check_items_find(&list, ctx, places, python, &err) < 0)
		return cmd_refuse(&err);
	if (check_items_play(&list, ctx, &err) == 0) {
		check_items_undraw(&list);
		status = check_items_conclude(&list, ctx->json);
	} else {
		check_items_undraw(&list);
		check_items_stop(&list);
		status = interrupt_wanted() ? interrupt_status() : cmd_fail(&err);
	}
	check_items_release(&list);
	return status;
}
