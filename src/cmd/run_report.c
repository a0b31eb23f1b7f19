/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_report.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/scope.h"
#include "cli/term.h"
#include "cmd/run_player.h"
#include "grade/score.h"
#include "python/pyjson.h"

#include <math.h>
#include <string.h>

#define PATHS_SHOWN 20 /* more runs than this are named by their folder alone */
#define CELL_COLUMNS 44

char *run_report_task(const struct episode *e)
{
	const char *task = e->plan.env->task;
	int n = (int)strcspn(task, ":");

	if (!e->variant)
		return xstrdup(task);
	return xasprintf("%.*s%s%s", n, task, *e->variant ? ":" : "", e->variant);
}

static double seconds(const struct episode *e)
{
	int64_t end = e->ended_ns ? e->ended_ns : clock_now_ns();

	return e->begun_ns ? (double)(end - e->begun_ns) / NS_PER_S : 0;
}

char *run_report_time(const struct episode *e)
{
	double s = seconds(e);
	int whole = (int)s;

	if (s < 100)
		return xasprintf("%.1f s", s);
	if (s < 3600)
		return xasprintf("%d m %02d s", whole / 60, whole % 60);
	return xasprintf("%d h %02d m", whole / 3600, whole / 60 % 60);
}

static char *number(double v)
{
	return isnan(v) ? xstrdup("-") : xasprintf("%.5g", v);
}

char *run_report_scores(const struct episode *e)
{
	auto_free char *baseline = number(e->scores.baseline_value);
	auto_free char *best = number(e->scores.best_value);

	if (isnan(e->scores.best_value))
		return xstrdup(isnan(e->scores.baseline_value) ? "" : baseline);
	return xasprintf("%s -> %s", baseline, best);
}

/* 1, 0 or -1 for better, the same and worse than the baseline; 0 if not known. */
static int compare(const struct episode *e)
{
	return score_compare(run_report_result(e), e->scores.baseline_value, e->scores.maximize);
}

static const char *in_words(const struct episode *e)
{
	static const char *const words[] = { "worse", "equal", "better" };

	return words[compare(e) + 1];
}

static const char *status_of(const struct episode *e)
{
	if (e->failed)
		return "failed";
	return *e->exit_status ? e->exit_status : "unfinished";
}

void run_report_sentence(struct buf *out, const struct episode *e)
{
	auto_free char *time = run_report_time(e);
	auto_free char *best = number(e->scores.best_value);
	auto_free char *baseline = number(e->scores.baseline_value);

	if (e->failed) {
		buf_printf(out, "failed after %d step%s: %s", e->steps, e->steps == 1 ? "" : "s",
				e->error.message);
		return;
	}
	buf_printf(out, "%s after %d step%s and %s", status_of(e), e->steps,
			e->steps == 1 ? "" : "s", time);
	if (!isnan(e->scores.best_value))
		buf_printf(out, ", %s %s", e->scores.metric, best);
	if (!isnan(e->scores.best_value) && !isnan(e->scores.baseline_value))
		buf_printf(out, " (baseline %s, %s)", baseline, in_words(e));
}

/* --- the table -------------------------------------------------------------------------------- */

enum report_column {
	COLUMN_TASK,
	COLUMN_PLAYER,
	COLUMN_STATUS,
	COLUMN_BASELINE,
	COLUMN_BEST,
	COLUMN_CHANGE,
	COLUMN_STEPS,
	COLUMN_TIME,
	N_COLUMNS
};

static const char *const titles[N_COLUMNS] = {
	[COLUMN_TASK] = "Task",
	[COLUMN_PLAYER] = "Model",
	[COLUMN_STATUS] = "Status",
	[COLUMN_BASELINE] = "Baseline",
	[COLUMN_BEST] = "Best",
	[COLUMN_CHANGE] = "Change",
	[COLUMN_STEPS] = "Steps",
	[COLUMN_TIME] = "Time",
};

struct report_row {
	char *cells[N_COLUMNS];
	const char *style;
};

static char *change_of(const struct episode *e)
{
	double change = run_report_result(e) - e->scores.baseline_value;

	if (isnan(change))
		return xstrdup("-");
	return xasprintf("%+.5g %s", compare(e) ? change : 0, in_words(e));
}

/* A cell of the table: one line of limited width, whatever is in it. */
static char *cell(const char *text)
{
	auto_buf struct buf out = BUF_INIT(4096);

	term_add_line(&out, text, CELL_COLUMNS);
	return buf_take(&out);
}

static struct report_row make_row(const struct run_players *players, const struct episode *e)
{
	auto_free char *task = run_report_task(e);
	auto_free char *player = run_player(players, e);
	struct report_row row = {
		.cells = {
			[COLUMN_TASK] = cell(task),
			[COLUMN_PLAYER] = cell(player),
			[COLUMN_STATUS] = cell(status_of(e)),
			[COLUMN_BASELINE] = number(e->scores.baseline_value),
			[COLUMN_BEST] = number(e->scores.best_value),
			[COLUMN_CHANGE] = change_of(e),
			[COLUMN_STEPS] = xasprintf("%d", e->steps),
			[COLUMN_TIME] = run_report_time(e),
		},
		.style = e->failed ? TERM_RED : compare(e) > 0 ? TERM_GREEN : compare(e) < 0 ? TERM_YELLOW : "",
	};

	return row;
}

static void add_cells(struct buf *out, const char *const *cells, const int *widths, int coloured,
		const char *style)
{
	for (int c = 0; c < N_COLUMNS; c++) {
		bool left = c <= COLUMN_STATUS;

		if (!widths[c])
			continue;
		if (c)
			buf_add_str(out, "  ");
		if (!left)
			term_add_pad(out, term_columns(cells[c]), widths[c]);
		buf_add_str(out, c == coloured ? style : "");
		buf_add_str(out, cells[c]);
		buf_add_str(out, c == coloured && *style ? TERM_RESET : "");
		if (left)
			term_add_pad(out, term_columns(cells[c]), widths[c]);
	}
	buf_add_char(out, '\n');
}

static void add_rows(struct buf *out, const struct run_players *players, struct report_row *rows,
		size_t n, bool colours)
{
	int widths[N_COLUMNS] = { 0 };

	term_widen(widths, titles, N_COLUMNS);
	for (size_t i = 0; i < n; i++)
		term_widen(widths, (const char *const *)rows[i].cells, N_COLUMNS);
	if (!players->several)
		widths[COLUMN_PLAYER] = 0;
	buf_add_str(out, term_style(colours, TERM_BOLD));
	add_cells(out, titles, widths, -1, "");
	buf_add_str(out, term_style(colours, TERM_RESET));
	for (size_t i = 0; i < n; i++) {
		int coloured = strcmp(rows[i].cells[COLUMN_STATUS], "failed") == 0 ? COLUMN_STATUS
										   : COLUMN_CHANGE;

		add_cells(out, (const char *const *)rows[i].cells, widths, coloured,
				term_style(colours, rows[i].style));
	}
}

/* Of a run whose record could not be ended nothing is promised. */
static void add_paths(struct buf *out, const struct episode *episodes, size_t n)
{
	size_t recorded = 0, begun = 0;

	for (size_t i = 0; i < n; i++) {
		recorded += episodes[i].recorded;
		begun += episode_was_begun(&episodes[i]);
	}
	if (!recorded)
		return;
	if (begun > PATHS_SHOWN) {
		buf_printf(out, "\nEvery step of %zu of %zu runs is recorded in %s\n", recorded,
				begun, episodes[0].plan.out);
		return;
	}
	buf_add_str(out, "\nEvery step is recorded:\n");
	for (size_t i = 0; i < n; i++) {
		if (episodes[i].recorded)
			buf_printf(out, "  %s\n", episodes[i].traj);
	}
}

void run_report_table(struct buf *out, const struct episode *episodes, size_t n, bool colours)
{
	struct run_players players = run_players_of(episodes, n);
	struct report_row *rows = xcalloc(n + 1, sizeof(*rows));
	size_t n_rows = 0;

	for (size_t i = 0; i < n; i++)
		if (episode_was_begun(&episodes[i]))
			rows[n_rows++] = make_row(&players, &episodes[i]);
	if (n_rows) {
		add_rows(out, &players, rows, n_rows, colours);
		run_report_spread(out, episodes, n, colours);
		add_paths(out, episodes, n);
	}
	for (size_t i = 0; i < n_rows; i++) {
		for (int c = 0; c < N_COLUMNS; c++)
			free(rows[i].cells[c]);
	}
	free(rows);
}

/* --- for programs ----------------------------------------------------------------------------- */

void run_report_json(struct buf *out, const struct episode *e)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(out, PYJSON_LINE);
	auto_free char *scores = xasprintf("[%s]", buf_str(&e->scores.all));
	const char *task = e->plan.env->task;
	auto_free char *id = xstrndup(task, strcspn(task, ":"));

	pyjson_put_object(&w, NULL);
	pyjson_put_text(&w, "task", id);
	pyjson_put_text(&w, "variant", e->variant ? e->variant : "");
	pyjson_put_text(&w, "model", e->plan.model);
	if (e->plan.agent) {
		pyjson_put_text(&w, "agent", e->plan.agent->name);
		pyjson_put_double(&w, "temperature", e->plan.agent->options.temperature);
	}
	pyjson_put_u64(&w, "seed", e->plan.seed);
	pyjson_put_text(&w, "exit_status", e->exit_status);
	pyjson_put_i64(&w, "steps", e->steps);
	pyjson_put_written(&w, "baseline", buf_str(&e->scores.baseline));
	pyjson_put_written(&w, "scores", scores);
	pyjson_put_written(&w, "best", buf_str(&e->scores.best));
	if (e->plan.agent && e->plan.agent->chat) {
		pyjson_put_double(&w, "cost", e->stats.cost);
		pyjson_put_i64(&w, "tokens_sent", e->stats.tokens_sent);
		pyjson_put_i64(&w, "tokens_received", e->stats.tokens_received);
		pyjson_put_i64(&w, "api_calls", e->stats.calls);
	}
	pyjson_put_double(&w, "seconds", round(seconds(e) * 1000) / 1000);
	pyjson_put_text(&w, "trajectory", e->traj);
	if (e->phase == EPISODE_FOUND)
		pyjson_put_bool(&w, "skipped", true);
	if (e->failed)
		pyjson_put_text(&w, "error", e->error.message);
	pyjson_end_object(&w);
	buf_add_char(out, '\n');
}
