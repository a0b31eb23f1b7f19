/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_view.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "cmd/run_report.h"
#include "cmd/term.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define VIEW_BYTES_MAX (4L * 1024 * 1024)
#define LIVE_LINES_MAX 16 /* more episodes than this are counted */
#define OTHERWISE_COLUMNS 100

void run_view_init(struct run_view *v, enum run_verbosity verbosity, bool live,
		const struct episode *episodes, size_t n)
{
	*v = (struct run_view){ .verbosity = verbosity, .live = live && verbosity > RUN_QUIET };
	v->colours = term_colours(STDERR_FILENO);
	v->episodes = episodes;
	v->n = n;
	buf_init(&v->above, VIEW_BYTES_MAX);
}

static void write_out(const struct buf *out)
{
	/* A terminal that is gone is noticed elsewhere. */
	(void)fd_write_full(STDERR_FILENO, buf_str(out), out->len);
}

/* --- the lines that are drawn again ----------------------------------------------------------- */

static bool goes_on(const struct episode *e)
{
	return e->phase == EPISODE_RESETTING || e->phase == EPISODE_THINKING ||
			e->phase == EPISODE_STEPPING;
}

/* "titanic:micro #0   12/50   0.76 -> 0.81   41.2 s   python3 train.py" */
static void add_episode(
		struct buf *out, const struct run_view *v, const struct episode *e, int width)
{
	auto_buf struct buf line = BUF_INIT(VIEW_BYTES_MAX);
	auto_free char *task = run_report_task(e);
	auto_free char *scores = run_report_scores(e);
	auto_free char *time = run_report_time(e);

	buf_printf(&line, "%s #%d   step %d/%d   %s%s%s   %s", task, e->number,
			e->steps + (e->phase == EPISODE_STEPPING), e->max_steps, scores,
			*scores ? "   " : "", time, e->action ? e->action : "starting");
	buf_add_str(out, term_style(v->colours, TERM_CYAN));
	term_add_line(out, buf_str(&line), width);
	buf_add_str(out, term_style(v->colours, TERM_RESET));
	buf_add_str(out, "\n");
}

static int add_live(struct buf *out, const struct run_view *v)
{
	int width = term_width(STDERR_FILENO, OTHERWISE_COLUMNS) - 1;
	int lines = 0;
	size_t more = 0;

	for (size_t i = 0; i < v->n; i++) {
		if (!goes_on(&v->episodes[i]))
			continue;
		if (lines == LIVE_LINES_MAX) {
			more++;
			continue;
		}
		add_episode(out, v, &v->episodes[i], width);
		lines++;
	}
	if (more)
		buf_printf(out, "and %zu more\n", more);
	return lines + (more > 0);
}

void run_view_draw(struct run_view *v, bool now)
{
	auto_buf struct buf out = BUF_INIT(VIEW_BYTES_MAX);
	int64_t time = clock_now_ns();

	if (!v->live)
		return;
	if (!now && !v->above.len && time - v->drawn_ns < RUN_VIEW_INTERVAL_MS * NS_PER_MS)
		return;
	if (v->drawn)
		buf_printf(&out, "\033[%dA", v->drawn);
	buf_add_str(&out, "\r\033[J");
	buf_add(&out, buf_str(&v->above), v->above.len);
	buf_clear(&v->above);
	v->drawn = add_live(&out, v);
	v->drawn_ns = time;
	write_out(&out);
}

void run_view_release(struct run_view *v)
{
	auto_buf struct buf out = BUF_INIT(VIEW_BYTES_MAX);

	if (v->live && v->drawn)
		buf_printf(&out, "\033[%dA\r\033[J", v->drawn);
	buf_add(&out, buf_str(&v->above), v->above.len);
	write_out(&out);
	buf_release(&v->above);
	v->drawn = 0;
}

/* --- the lines that stay ---------------------------------------------------------------------- */

static void stay(struct run_view *v, const char *text)
{
	str_add_printable(&v->above, text);
	buf_add_char(&v->above, '\n');
	if (v->live) {
		run_view_draw(v, true);
		return;
	}
	write_out(&v->above);
	buf_clear(&v->above);
}

void run_view_say(struct run_view *v, const char *sentence)
{
	if (v->verbosity > RUN_QUIET)
		stay(v, sentence);
}

void run_view_log(void *view, const char *record, size_t n)
{
	struct run_view *v = view;

	buf_add(&v->above, record, n);
	run_view_draw(v, true);
}

void run_view_preparing(struct run_view *v, const struct episode *e)
{
	auto_buf struct buf out = BUF_INIT(VIEW_BYTES_MAX);
	auto_free char *task = run_report_task(e);

	if (!v->live)
		return;
	run_view_draw(v, true);
	buf_printf(&out, "%s   preparing; its baseline is scored the first time\n", task);
	v->drawn++;
	write_out(&out);
}

void run_view_began(struct run_view *v, const struct episode *e)
{
	auto_free char *task = run_report_task(e);
	auto_free char *line = xasprintf("%s #%d: begun", task, e->number);

	if (v->live)
		run_view_draw(v, true);
	else
		run_view_say(v, line);
}

static void say_score(struct run_view *v, const struct episode *e, const char *task)
{
	auto_free char *line =
			xasprintf("%s #%d: %s %.5g", task, e->number, e->metric, e->score_value);

	if (!isnan(e->score_value))
		stay(v, line);
}

void run_view_stepped(struct run_view *v, const struct episode *e)
{
	auto_free char *task = run_report_task(e);
	auto_buf struct buf line = BUF_INIT(VIEW_BYTES_MAX);

	if (v->verbosity < RUN_VERBOSE || !e->action) {
		run_view_draw(v, false);
		return;
	}
	say_score(v, e, task);
	buf_printf(&line, "%s #%d: %d/%d: ", task, e->number, e->steps + 1, e->max_steps);
	term_add_line(&line, e->action, OTHERWISE_COLUMNS);
	stay(v, buf_str(&line));
}

void run_view_ended(struct run_view *v, const struct episode *e)
{
	auto_free char *task = run_report_task(e);
	auto_buf struct buf line = BUF_INIT(VIEW_BYTES_MAX);

	if (e->failed) /* the log has said so */
		return;
	buf_printf(&line, "%s #%d: ", task, e->number);
	run_report_sentence(&line, e);
	run_view_say(v, buf_str(&line));
}
