/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_view.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "cli/term.h"
#include "cmd/run_report.h"
#include "cmd/transcript.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VIEW_BYTES_MAX (4L * 1024 * 1024)
#define LIVE_LINES_MAX 64 /* most lines of running episodes; the others are only counted */
#define OTHERWISE_COLUMNS 100
#define OTHERWISE_LINES 24
#define MODEL_COLUMNS 40
#define PREPARING "preparing; its baseline is scored the first time"
#define GAP 3 /* blank columns between two cells of a line */

void run_view_init(struct run_view *v, enum run_verbosity verbosity, bool live,
		const struct episode *episodes, size_t n)
{
	*v = (struct run_view){ .verbosity = verbosity, .live = live && verbosity > RUN_QUIET };
	v->colours = term_colours(STDERR_FILENO);
	v->episodes = episodes;
	v->n = n;
	v->models = run_models_of(episodes, n);
	buf_init(&v->above, VIEW_BYTES_MAX);
}

static void run_view_write_out(const struct buf *out)
{
	/* Ignore errors: the main loop notices that the terminal is closed. */
	(void)fd_write_full(STDERR_FILENO, buf_str(out), out->len);
}

/* --- progress lines that are redrawn ---------------------------------------------------------- */

static bool run_view_goes_on(const struct episode *e)
{
	return e->phase == EPISODE_OPENING || e->phase == EPISODE_RESETTING ||
			e->phase == EPISODE_THINKING || e->phase == EPISODE_HELD ||
			e->phase == EPISODE_STEPPING || e->phase == EPISODE_WRITING ||
			e->phase == EPISODE_RECORDING || e->phase == EPISODE_LEAVING;
}

/* Cells of an episode's line: "titanic:micro #0   openai:m   12/50   0.76 -> 0.81   41.2 s
 * python3 train.py". */
enum view_cell {
	CELL_EPISODE,
	CELL_MODEL,
	CELL_STEP,
	CELL_SCORES,
	CELL_TIME,
	CELL_ACTION,
	N_CELLS
};

struct view_line {
	char *cells[N_CELLS];
};

/* Name of an episode: "titanic:micro #0". The number is left out until the run's folder is made.
 * A heap string. */
static char *run_view_name(const struct episode *e)
{
	auto_free char *task = run_report_task(e);

	return e->traj ? xasprintf("%s #%d", task, e->number) : xstrdup(task);
}

static void run_view_fill(struct view_line *line, const struct run_view *v, const struct episode *e)
{
	auto_buf struct buf shown = BUF_INIT(VIEW_BYTES_MAX);
	auto_free char *model = run_model_name(&v->models, e);

	line->cells[CELL_EPISODE] = run_view_name(e);
	term_add_line(&shown, model, MODEL_COLUMNS);
	line->cells[CELL_MODEL] = xstrdup(buf_str(&shown));
	line->cells[CELL_STEP] = e->phase == EPISODE_OPENING
			? xstrdup("")
			: xasprintf("%d/%d", e->steps + (e->phase == EPISODE_STEPPING),
					  e->max_steps);
	line->cells[CELL_SCORES] = run_report_scores(e);
	line->cells[CELL_TIME] = run_report_time(e);
	line->cells[CELL_ACTION] = xstrdup(e->phase == EPISODE_HELD   ? "waits for a person"
					: e->trouble                  ? e->trouble
					: e->action                   ? e->action
					: e->phase == EPISODE_OPENING ? PREPARING
								      : "starting");
}

static void run_view_add_line(struct buf *out, const struct run_view *v,
		const struct view_line *line, const int *widths, int columns)
{
	auto_buf struct buf text = BUF_INIT(VIEW_BYTES_MAX);

	for (int c = 0; c < N_CELLS; c++) {
		if (!widths[c])
			continue;
		buf_add_str(&text, line->cells[c]);
		if (c == CELL_ACTION)
			break;
		term_add_pad(&text, term_columns(line->cells[c]), widths[c] + GAP);
	}
	buf_add_str(out, term_style(v->colours, TERM_CYAN));
	term_add_line(out, buf_str(&text), columns);
	buf_add_str(out, term_style(v->colours, TERM_RESET));
	buf_add_str(out, "\n");
}

/* Appends a line with the number of episodes that run but have no line, and of those that ended.
 * Returns 1 if a line was appended, else 0. */
static int run_view_add_count(struct buf *out, const struct run_view *v, size_t more)
{
	size_t all = 0, ended = 0;
	double cost = 0;

	for (size_t i = 0; i < v->n; i++) {
		if (v->episodes[i].phase <= EPISODE_FOUND &&
				v->episodes[i].phase != EPISODE_PLANNED)
			continue;
		all++;
		ended += v->episodes[i].phase == EPISODE_ENDED;
		cost += v->episodes[i].stats.cost;
	}
	if (!more && (!ended || ended == all))
		return 0;
	if (more)
		buf_printf(out, "and %zu more; ", more);
	buf_printf(out, "%zu of %zu ended", ended, all);
	if (cost > 0)
		buf_printf(out, ", $%.4f", cost);
	buf_add_char(out, '\n');
	return 1;
}

static int run_view_add_live(struct buf *out, const struct run_view *v)
{
	int columns = term_width(STDERR_FILENO, OTHERWISE_COLUMNS) - 1;
	struct view_line lines[LIVE_LINES_MAX];
	/* leave three lines of the terminal free, for the line of counts and the cursor */
	int most = term_height(STDERR_FILENO, OTHERWISE_LINES) - 3;
	int widths[N_CELLS] = { 0 }, n = 0;
	size_t more = 0;

	for (size_t i = 0; i < v->n; i++) {
		if (!run_view_goes_on(&v->episodes[i]))
			continue;
		if (n == LIVE_LINES_MAX || (n && n >= most)) {
			more++;
			continue;
		}
		run_view_fill(&lines[n], v, &v->episodes[i]);
		term_widen(widths, (const char *const *)lines[n++].cells, N_CELLS);
	}
	for (int i = 0; i < n; i++) {
		run_view_add_line(out, v, &lines[i], widths, columns);
		for (int c = 0; c < N_CELLS; c++)
			free(lines[i].cells[c]);
	}
	return n + run_view_add_count(out, v, more);
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
	v->drawn = run_view_add_live(&out, v);
	v->drawn_ns = time;
	run_view_write_out(&out);
}

void run_view_release(struct run_view *v)
{
	auto_buf struct buf out = BUF_INIT(VIEW_BYTES_MAX);

	if (v->live && v->drawn)
		buf_printf(&out, "\033[%dA\r\033[J", v->drawn);
	buf_add(&out, buf_str(&v->above), v->above.len);
	run_view_write_out(&out);
	buf_release(&v->above);
	v->drawn = 0;
}

/* --- progress lines that stay ----------------------------------------------------------------- */

static void run_view_flush(struct run_view *v)
{
	if (v->live) {
		run_view_draw(v, true);
		return;
	}
	run_view_write_out(&v->above);
	buf_clear(&v->above);
}

static void run_view_stay(struct run_view *v, const char *text)
{
	str_add_printable(&v->above, text);
	buf_add_char(&v->above, '\n');
	run_view_flush(v);
}

void run_view_say(struct run_view *v, const char *sentence)
{
	if (v->verbosity > RUN_QUIET)
		run_view_stay(v, sentence);
}

void run_view_log(void *view, const char *line, size_t n)
{
	struct run_view *v = view;

	buf_add(&v->above, line, n);
	run_view_draw(v, true);
}

/* Name of an episode and its model: "rows #2, openai:m (memory)". The model is left out if all
 * are equal. A heap string. */
static char *run_view_subject(const struct run_view *v, const struct episode *e)
{
	auto_free char *name = run_view_name(e);
	auto_free char *model = run_model_name(&v->models, e);

	return xasprintf("%s%s%s", name, *model ? ", " : "", model);
}

void run_view_began(struct run_view *v, const struct episode *e)
{
	auto_free char *what = run_view_subject(v, e);
	auto_free char *line = xasprintf("%s: begun", what);

	if (v->live)
		run_view_draw(v, true);
	else
		run_view_say(v, line);
}

#define INDENT "    "

void run_view_played(void *view, const struct episode *e, const struct fh_step *step)
{
	struct run_view *v = view;
	const char *metric = e->scores.metric;
	double value = e->scores.last_value;
	auto_free char *score = isnan(value) ? NULL : xasprintf("%s %.5g", metric, value);
	const struct transcript_step shown = {
		.output = step->observation,
		.duration_s = step->duration_s,
		.exit_code = step->exit_code,
		.outcome = fh_outcome_name(step->outcome),
		.score = score,
		.refused = step->grade_error,
		/* The log has warned of tampering already. */
	};

	transcript_add_result(&v->above, (struct transcript_style){ .indent = INDENT }, &shown);
	run_view_flush(v);
}

void run_view_rejected(struct run_view *v, const struct conversation_verdict *verdict)
{
	transcript_add_rejection(&v->above, (struct transcript_style){ .indent = INDENT }, verdict);
	run_view_flush(v);
}

/* True if an action fits behind the step's number. Otherwise it stands below, in full. */
static bool run_view_is_short(const char *action)
{
	return !strchr(action, '\n') && strlen(action) < OTHERWISE_COLUMNS;
}

/* Appends the thought of a step, and the action if it is not short. */
static void run_view_add_turn(struct run_view *v, const struct episode *e)
{
	const char *thought = e->thought, *said = e->response;
	const struct transcript_step turn = {
		.thought = thought && *thought                     ? thought
				: said && !str_eq(said, e->action) ? said
								   : NULL,
		.action = run_view_is_short(e->action) ? NULL : e->action,
	};

	transcript_add_turn(&v->above, (struct transcript_style){ .indent = INDENT }, &turn);
	run_view_flush(v);
}

void run_view_stepped(struct run_view *v, const struct episode *e)
{
	auto_free char *what = run_view_subject(v, e);
	auto_buf struct buf line = BUF_INIT(VIEW_BYTES_MAX);

	if (v->verbosity < RUN_VERBOSE || !e->action) {
		run_view_draw(v, false);
		return;
	}
	buf_printf(&line, "%s: %d/%d%s", what, e->steps + 1, e->max_steps,
			run_view_is_short(e->action) ? ": " : "");
	if (run_view_is_short(e->action))
		buf_add_str(&line, e->action);
	run_view_stay(v, buf_str(&line));
	run_view_add_turn(v, e);
}

void run_view_found(struct run_view *v, const struct episode *e)
{
	auto_free char *what = run_view_subject(v, e);
	auto_buf struct buf line = BUF_INIT(VIEW_BYTES_MAX);

	if (v->verbosity < RUN_VERBOSE || e->phase != EPISODE_FOUND)
		return;
	buf_printf(&line, "%s: there already: ", what);
	run_report_sentence(&line, e);
	run_view_stay(v, buf_str(&line));
}

void run_view_ended(struct run_view *v, const struct episode *e)
{
	auto_free char *what = run_view_subject(v, e);
	auto_buf struct buf line = BUF_INIT(VIEW_BYTES_MAX);

	if (e->failed) /* say nothing: the log shows the error */
		return;
	buf_printf(&line, "%s: ", what);
	run_report_sentence(&line, e);
	run_view_say(v, buf_str(&line));
}
