/* SPDX-License-Identifier: Apache-2.0 */
#include "run/trials.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/exec.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "task/load.h"
#include "task/requirements.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIALS_REPORT_BYTES_MAX (4 * 1024 * 1024)
#define TRIALS_READ_BYTES 65536
#define TRIALS_MISSING_BYTES_MAX 4096

/* --- the tasks -------------------------------------------------------------------------------- */

static struct trials_item *trials_add_item(struct trials *trials, char *spec)
{
	trials->items = xrealloc(trials->items, trials->n + 1, sizeof(*trials->items));
	trials->items[trials->n] = (struct trials_item){ .spec = spec, .fd = -1 };
	return &trials->items[trials->n++];
}

void trials_add(struct trials *trials, const char *spec)
{
	trials_add_item(trials, xstrdup(spec));
}

/* Returns why a task is left out: it lacks data or Python packages, or takes no data seed. NULL: it
 * is checked. The check itself finds other errors. */
static char *trials_left_out(const char *spec, const struct task_places *places, const char *python)
{
	auto_buf struct buf missing = BUF_INIT(TRIALS_MISSING_BYTES_MAX);
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
static void trials_add_variants(struct trials *trials, const struct task_places *places,
		const char *id, const char *only)
{
	char **variants = NULL;

	if (task_variants(places, id, &variants, NULL) < 0) {
		trials_add(trials, id); /* the check reports the error */
		return;
	}
	for (char **v = variants; *v; v++)
		if (!only || str_eq(*v, only))
			trials_add_item(trials, xasprintf("%s:%s", id, *v));
	xfree_strings(variants);
}

int trials_add_all(struct trials *trials, const struct task_places *places, const char *variant,
		const char *python, struct fh_error *err)
{
	size_t before = trials->n;
	char **ids;
	int r = task_list(places, &ids, err);

	if (r < 0)
		return r;
	for (char **id = ids; *id; id++)
		trials_add_variants(trials, places, *id, variant);
	xfree_strings(ids);
	for (size_t i = before; i < trials->n; i++)
		trials->items[i].left_out = trials_left_out(trials->items[i].spec, places, python);
	if (variant && trials->n == before)
		return error_say(err, ENOENT, "no task has a variant '%s'", variant);
	return 0;
}

void trials_release(struct trials *trials)
{
	for (size_t i = 0; i < trials->n; i++) {
		free(trials->items[i].spec);
		free(trials->items[i].left_out);
		buf_release(&trials->items[i].out);
		json_decref(trials->items[i].report);
	}
	free(trials->items);
}

/* --- processes -------------------------------------------------------------------------------- */

static int trials_begin_item(
		struct trials_item *item, const char *const *words, struct fh_error *err)
{
	pid_t parent = getpid();
	auto_close int ours = -1, theirs = -1;
	int r = fd_pipe(&ours, &theirs);

	if (r < 0)
		return error_set(err, -r, "make a pipe");
	buf_init(&item->out, TRIALS_REPORT_BYTES_MAX);
	item->begun_ns = clock_now_ns();
	item->pid = fork();
	if (item->pid == 0) {
		/* Have the kernel end this process if its parent is killed. */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent || dup2(theirs, STDOUT_FILENO) < 0)
			_exit(EXIT_FAILURE);
		execv("/proc/self/exe", exec_list(words));
		_exit(EXIT_FAILURE);
	}
	if (item->pid < 0) {
		item->pid = 0;
		return error_set(err, errno, "start a process to check '%s'", item->spec);
	}
	item->fd = take_fd(&ours);
	return 0;
}

static json_t *trials_report(const struct trials_item *item, int status)
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

/* Ends all checks. Their sandboxes end with them. */
static void trials_stop(struct trials *trials)
{
	for (size_t i = 0; i < trials->n; i++)
		if (trials->items[i].pid)
			kill(trials->items[i].pid, SIGTERM);
	for (size_t i = 0; i < trials->n; i++)
		if (trials->items[i].pid) {
			TEMP_FAILURE_RETRY(waitpid(trials->items[i].pid, NULL, 0));
			close(trials->items[i].fd);
		}
}

/* --- all -------------------------------------------------------------------------------------- */

/* Begins checks until `jobs` run or none is left. */
static int trials_begin(
		struct trials *trials, const struct trials_request *request, struct fh_error *err)
{
	while (trials->n_begun < trials->n && trials->n_begun - trials->n_done < request->jobs) {
		struct trials_item *item = &trials->items[trials->n_begun++];
		int r;

		if (item->left_out) {
			item->report = json_pack("{s:s, s:b, s:[], s:[], s:s}", "task", item->spec,
					"ok", 1, "problems", "notes", "left_out", item->left_out);
			trials->n_done++;
			continue;
		}
		r = trials_begin_item(item, request->words(request->user, item->spec), err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Reads output of a check. At its end, takes the status of the process and makes the report. */
static void trials_read(struct trials *trials, struct trials_item *item)
{
	double seconds = (double)(clock_now_ns() - item->begun_ns) / 1e9;
	char chunk[TRIALS_READ_BYTES];
	ssize_t n = read(item->fd, chunk, sizeof(chunk));
	int status = 0;

	if (n > 0)
		buf_add(&item->out, chunk, (size_t)n);
	if (n != 0)
		return;
	TEMP_FAILURE_RETRY(waitpid(item->pid, &status, 0));
	close(item->fd);
	item->pid = 0;
	item->fd = -1;
	item->status = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
	item->report = trials_report(item, status);
	json_object_set_new(item->report, "duration_s", json_real(round(seconds * 10) / 10));
	trials->n_done++;
}

/* Waits for output of the checks, and reads it. Returns false if stop_fd is readable. */
static bool trials_wait(struct trials *trials, int stop_fd)
{
	auto_free struct pollfd *fds = xcalloc(trials->n + 1, sizeof(*fds));

	fds[trials->n] = (struct pollfd){ .fd = stop_fd, .events = POLLIN };
	for (size_t i = 0; i < trials->n; i++)
		fds[i] = (struct pollfd){ .fd = trials->items[i].fd, .events = POLLIN };
	if (poll(fds, trials->n + 1, -1) <= 0)
		return true;
	for (size_t i = 0; i < trials->n; i++)
		if (fds[i].revents)
			trials_read(trials, &trials->items[i]);
	return !fds[trials->n].revents;
}

int trials_run(struct trials *trials, const struct trials_request *request, struct fh_error *err)
{
	int r;

	do {
		r = trials_begin(trials, request, err);
		if (r < 0)
			break;
		request->changed(request->user, trials);
		if (trials->n_done == trials->n)
			return 0;
	} while (trials_wait(trials, request->stop_fd));
	trials_stop(trials);
	return r < 0 ? r : error_say(err, EINTR, "interrupted");
}
