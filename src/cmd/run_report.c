/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_report.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/scope.h"
#include "cli/table.h"
#include "cli/term.h"
#include "cmd/run_models.h"
#include "grade/score.h"
#include "task/find.h"
#include "run/foreign.h"

#include <math.h>

#define PATHS_SHOWN 20 /* most paths in a report; of more, only the common folder is shown */
#define RUN_REPORT_CELL_COLUMNS 44

char *run_report_task(const struct episode *e)
{
	const char *task = e->plan.env->task;
	int n = (int)strcspn(task, ":");

	if (!e->variant)
		return xstrdup(task);
	return xasprintf("%.*s%s%s", n, task, *e->variant ? ":" : "", e->variant);
}

static double run_report_seconds(const struct episode *e)
{
	int64_t end = e->ended_ns ? e->ended_ns : clock_now_ns();

	return e->begun_ns ? (double)(end - e->begun_ns) / NS_PER_S : 0;
}

char *run_report_time(const struct episode *e)
{
	double s = run_report_seconds(e);
	int whole = (int)s;

	if (s < 100)
		return xasprintf("%.1f s", s);
	if (s < 3600)
		return xasprintf("%d m %02d s", whole / 60, whole % 60);
	return xasprintf("%d h %02d m", whole / 3600, whole / 60 % 60);
}

char *run_report_number(double v)
{
	return isnan(v) ? xstrdup("-") : xasprintf("%.5g", v);
}

char *run_report_scores(const struct episode *e)
{
	auto_free char *baseline = run_report_number(e->scores.baseline_value);
	auto_free char *best = run_report_number(e->scores.best_value);

	if (isnan(e->scores.best_value))
		return xstrdup(isnan(e->scores.baseline_value) ? "" : baseline);
	return xasprintf("%s -> %s", baseline, best);
}

/* Compares the best score with the baseline: 1 if better, 0 if equal, -1 if worse. 0 if one is
 * unknown. */
static int run_report_compare(const struct episode *e)
{
	return score_compare(run_report_result(e), e->scores.baseline_value, e->scores.maximize);
}

static const char *run_report_in_words(const struct episode *e)
{
	static const char *const words[] = { "worse", "equal", "better" };

	return words[run_report_compare(e) + 1];
}

static const char *run_report_status_of(const struct episode *e)
{
	if (e->failed)
		return "failed";
	return *e->exit_status ? e->exit_status : "unfinished";
}

void run_report_sentence(struct buf *out, const struct episode *e)
{
	auto_free char *time = run_report_time(e);
	auto_free char *best = run_report_number(e->scores.best_value);
	auto_free char *baseline = run_report_number(e->scores.baseline_value);

	if (e->failed) {
		buf_printf(out, "failed after %d step%s: %s", e->steps, e->steps == 1 ? "" : "s",
				e->error.message);
		return;
	}
	buf_printf(out, "%s after %d step%s and %s", run_report_status_of(e), e->steps,
			e->steps == 1 ? "" : "s", time);
	if (!isnan(e->scores.best_value))
		buf_printf(out, ", %s %s", e->scores.metric, best);
	if (!isnan(e->scores.best_value) && !isnan(e->scores.baseline_value))
		buf_printf(out, " (baseline %s, %s)", baseline, run_report_in_words(e));
	if (!isnan(e->scores.gap))
		buf_printf(out, ", %+.5g from its best validate", e->scores.gap);
	if (e->scores.refused)
		buf_printf(out, ": %.*s", (int)strcspn(e->scores.refused, "\n"), e->scores.refused);
}

/* --- the table -------------------------------------------------------------------------------- */

enum report_column {
	REPORT_TASK,
	REPORT_MODEL,
	REPORT_STATUS,
	REPORT_BASELINE,
	REPORT_BEST,
	REPORT_CHANGE,
	REPORT_GAP,
	REPORT_STEPS,
	REPORT_TIME,
	N_REPORT_COLUMNS
};

static const char *const titles[N_REPORT_COLUMNS] = {
	[REPORT_TASK] = "Task",
	[REPORT_MODEL] = "Model",
	[REPORT_STATUS] = "Status",
	[REPORT_BASELINE] = "Baseline",
	[REPORT_BEST] = "Best",
	[REPORT_CHANGE] = "Change",
	[REPORT_GAP] = "Gap",
	[REPORT_STEPS] = "Steps",
	[REPORT_TIME] = "Time",
};

static char *run_report_change(const struct episode *e)
{
	double change = run_report_result(e) - e->scores.baseline_value;

	if (isnan(change))
		return xstrdup("-");
	return xasprintf("%+.5g %s", run_report_compare(e) ? change : 0, run_report_in_words(e));
}

static void run_report_add(
		struct text_table *table, const struct run_models *models, const struct episode *e)
{
	int compared = run_report_compare(e);
	auto_free char *task = run_report_task(e);
	auto_free char *model = run_model_name(models, e);
	struct table_row *row = table_add(table);

	row->cells[REPORT_TASK] = term_cell(task, RUN_REPORT_CELL_COLUMNS);
	row->cells[REPORT_MODEL] = term_cell(model, RUN_REPORT_CELL_COLUMNS);
	row->cells[REPORT_STATUS] = term_cell(run_report_status_of(e), RUN_REPORT_CELL_COLUMNS);
	row->cells[REPORT_BASELINE] = run_report_number(e->scores.baseline_value);
	row->cells[REPORT_BEST] = run_report_number(e->scores.best_value);
	row->cells[REPORT_CHANGE] = run_report_change(e);
	/* Leave the cell empty without a gap: the table leaves out columns with empty cells
	 * only. */
	row->cells[REPORT_GAP] = isnan(e->scores.gap) ? xstrdup("")
						      : xasprintf("%+.5g", e->scores.gap);
	row->cells[REPORT_STEPS] = xasprintf("%d", e->steps);
	row->cells[REPORT_TIME] = run_report_time(e);
	row->styled = e->failed ? REPORT_STATUS : REPORT_CHANGE;
	row->style = e->failed         ? TERM_RED
			: compared > 0 ? TERM_GREEN
			: compared < 0 ? TERM_YELLOW
				       : "";
}

void run_report_paths(struct buf *out, const struct episode *episodes, size_t n)
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
	struct run_models models = run_models_of(episodes, n);
	struct text_table table = { titles, N_REPORT_COLUMNS, REPORT_BASELINE, NULL, 0 };

	for (size_t i = 0; i < n; i++)
		if (episode_was_begun(&episodes[i]))
			run_report_add(&table, &models, &episodes[i]);
	if (table.n)
		table_print(out, &table, colours);
	table_release(&table);
}

/* --- for programs ----------------------------------------------------------------------------- */

void run_report_put_task(struct pyjson_writer *w, const struct episode *e)
{
	const char *task = e->plan.env->task;
	auto_free char *id = xstrndup(task, strcspn(task, ":"));

	pyjson_put_text(w, "task", id);
	pyjson_put_text(w, "variant", e->variant ? task_variant_name(e->variant) : NULL);
}

static void run_report_put_gap(struct pyjson_writer *w, double gap)
{
	if (isnan(gap))
		pyjson_put_null(w, "gap");
	else
		pyjson_put_double(w, "gap", gap);
}

void run_report_json(struct buf *out, const struct episode *e)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(out, PYJSON_LINE);
	auto_free char *scores = xasprintf("[%s]", buf_str(&e->scores.all));

	pyjson_put_object(&w, NULL);
	run_report_put_task(&w, e);
	pyjson_put_text(&w, "model", e->plan.model);
	if (e->plan.agent) {
		pyjson_put_text(&w, "agent",
				e->plan.foreign ? FOREIGN_CONFIG : e->plan.agent->name);
		pyjson_put_double(&w, "temperature", e->plan.agent->options.temperature);
	}
	pyjson_put_u64(&w, "seed", e->plan.seed);
	if (e->plan.env->data_seed)
		pyjson_put_u64(&w, "data_seed", e->plan.env->data_seed);
	pyjson_put_text(&w, "exit_status", e->exit_status);
	pyjson_put_i64(&w, "steps", e->steps);
	pyjson_put_written(&w, "baseline", buf_str(&e->scores.baseline));
	pyjson_put_written(&w, "scores", scores);
	pyjson_put_written(&w, "best", buf_str(&e->scores.best));
	if (e->scores.final) {
		pyjson_put_written(&w, "validated", buf_str(&e->scores.validated));
		run_report_put_gap(&w, e->scores.gap);
	}
	if (e->plan.agent && e->plan.agent->chat) {
		pyjson_put_double(&w, "cost", e->stats.cost);
		pyjson_put_i64(&w, "tokens_sent", e->stats.tokens_sent);
		pyjson_put_i64(&w, "tokens_received", e->stats.tokens_received);
		pyjson_put_i64(&w, "api_calls", e->stats.calls);
	}
	pyjson_put_double(&w, "seconds", round(run_report_seconds(e) * 1000) / 1000);
	pyjson_put_text(&w, "trajectory", e->traj);
	if (e->phase == EPISODE_FOUND)
		pyjson_put_bool(&w, "skipped", true);
	if (e->failed)
		pyjson_put_text(&w, "error", e->error.message);
	pyjson_end_object(&w);
	buf_add_char(out, '\n');
}
