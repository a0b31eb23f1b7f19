/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/task_check.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "cli/table.h"
#include "cli/term.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Prints the reports of `fumehood task check` for people. */

#define TASK_CHECK_REPORT_BYTES_MAX (1024 * 1024)
#define TABLE_BYTES_MAX (16 * 1024 * 1024)
#define CHECK_REPORT_CELL_COLUMNS 100

/* --- one task --------------------------------------------------------------------------------- */

static void task_check_print_line(const char *what, const char *text)
{
	auto_buf struct buf line = BUF_INIT(TASK_CHECK_REPORT_BYTES_MAX);

	str_add_printable(&line, text);
	printf("  %s: %s\n", what, buf_str(&line));
}

/* Prints the texts of the list report[key]. */
static size_t task_check_print_list(const json_t *report, const char *key, const char *what)
{
	json_t *list = json_object_get(report, key), *text;
	size_t i;

	json_array_foreach(list, i, text)
		task_check_print_line(what, json_string_value(text));
	return json_array_size(list);
}

/* Prints the scores in the list played[what] of a report, if there is one. `remark` is the key of a
 * text to print behind them; NULL: none. */
static void task_check_print_scores(const json_t *played, const char *what, const char *remark)
{
	json_t *scores = json_object_get(played, what), *value;
	const char *text = remark ? json_string_value(json_object_get(played, remark)) : NULL;
	const char *name, *comma = "";

	if (!scores)
		return;
	printf("  %s:", what);
	json_object_foreach(scores, name, value) {
		printf("%s %s %.6g", comma, name, json_number_value(value));
		comma = ",";
	}
	if (text)
		printf(" (%s)", text);
	putchar('\n');
}

/* If several seeds were played, prints mean and standard deviation of the scores of baseline and
 * solution. Adds the largest distance from the expected mean, and the distance between the two
 * means. */
static void task_check_print_seeds(const json_t *played)
{
	json_t *seeds = json_object_get(played, "seeds"), *side;
	const json_t *apart = json_object_get(seeds, "apart_sd"), *moved;
	const char *name;

	json_object_foreach(seeds, name, side) {
		moved = json_object_get(side, "moved_sd");
		if (!json_is_object(side))
			continue;
		printf("  %s over %lld seeds: %.5g, sd %.2g", name,
				(long long)json_integer_value(json_object_get(side, "n")),
				json_number_value(json_object_get(side, "mean")),
				json_number_value(json_object_get(side, "sd")));
		if (moved)
			printf(" (up to %.2g expected sd from the expected mean)",
					json_number_value(moved));
		putchar('\n');
	}
	if (apart)
		printf("  apart: %.3g sd\n", json_number_value(apart));
}

/* Prints the text object[key], if there is one. */
static void task_check_print_member(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	if (text)
		task_check_print_line(key, text);
}

void task_check_print_text(const json_t *report)
{
	json_t *played = json_object_get(report, "played");
	bool ok = json_is_true(json_object_get(report, "ok"));
	bool colours = term_colours(1);
	size_t n;

	printf("%s%s%s %s\n", term_style(colours, ok ? TERM_GREEN : TERM_RED), ok ? "ok" : "FAIL",
			term_style(colours, TERM_RESET),
			json_string_value(json_object_get(report, "task")));
	n = task_check_print_list(report, "problems", "problem");
	n += task_check_print_list(report, "notes", "note");
	if (n == TASK_REMARKS_MAX)
		printf("  and more\n");
	task_check_print_scores(played, "published", NULL);
	task_check_print_scores(played, "baseline", "compared");
	task_check_print_scores(played, "solution", NULL);
	task_check_print_scores(played, "validated", NULL);
	task_check_print_seeds(played);
	task_check_print_member(played, "note");
	task_check_print_member(played, "problem");
	task_check_print_member(report, "error");
}

/* --- reports of several tasks ----------------------------------------------------------------- */

enum check_column {
	CHECK_TASK,
	CHECK_RESULT,
	CHECK_METRIC,
	CHECK_BASELINE,
	CHECK_SOLUTION,
	CHECK_APART,
	CHECK_MOVED,
	CHECK_SECONDS,
	CHECK_REMARK,
	N_CHECK_COLUMNS
};

static const char *const titles[N_CHECK_COLUMNS] = { "task", "result", "metric", "baseline",
	"solution", "apart", "moved", "seconds", "remark" };

static char *task_check_number(const json_t *value)
{
	return json_is_number(value) ? xasprintf("%.5g", json_number_value(value)) : xstrdup("");
}

/* Returns the score of one side, "baseline" or "solution". If several seeds were played, returns
 * mean and standard deviation of its scores. */
static char *task_check_score(const json_t *played, const char *side, const char *metric)
{
	const json_t *seeds = json_object_get(json_object_get(played, "seeds"), side);

	if (!seeds)
		return task_check_number(json_object_get(json_object_get(played, side), metric));
	return xasprintf("%.5g ± %.2g", json_number_value(json_object_get(seeds, "mean")),
			json_number_value(json_object_get(seeds, "sd")));
}

/* Returns the distance between the mean scores of baseline and solution over several seeds, in
 * standard deviations. "": not known. */
static char *task_check_apart(const json_t *seeds)
{
	const json_t *apart = json_object_get(seeds, "apart_sd");

	return apart ? xasprintf("%.3g sd", json_number_value(apart)) : xstrdup("");
}

/* Returns the largest distance of a score from the expected mean, over several seeds. The unit is
 * the expected standard deviation. "": not known. */
static char *task_check_moved(const json_t *seeds)
{
	static const char *const sides[] = { "baseline", "solution" };
	double most = -1;

	for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
		const json_t *side = json_object_get(seeds, sides[i]);
		const json_t *moved = json_object_get(side, "moved_sd");

		if (moved)
			most = fmax(most, json_number_value(moved));
	}
	return most < 0 ? xstrdup("") : xasprintf("%.2g sd", most);
}

static void task_check_add_row(struct text_table *table, const json_t *report)
{
	const json_t *played = json_object_get(report, "played");
	const char *metric = json_string_value(json_object_get(played, "metric"));
	const char *left_out = json_string_value(json_object_get(report, "left_out"));
	bool ok = json_is_true(json_object_get(report, "ok"));
	struct table_row *row = table_add(table);

	row->cells[CHECK_TASK] = term_cell(json_string_value(json_object_get(report, "task")),
			CHECK_REPORT_CELL_COLUMNS);
	row->cells[CHECK_RESULT] = xstrdup(left_out ? "left out" : ok ? "ok" : "FAIL");
	row->cells[CHECK_METRIC] = term_cell(metric ? metric : "", CHECK_REPORT_CELL_COLUMNS);
	row->cells[CHECK_BASELINE] = task_check_score(played, "baseline", metric);
	row->cells[CHECK_SOLUTION] = task_check_score(played, "solution", metric);
	row->cells[CHECK_APART] = task_check_apart(json_object_get(played, "seeds"));
	row->cells[CHECK_MOVED] = task_check_moved(json_object_get(played, "seeds"));
	row->cells[CHECK_SECONDS] = task_check_number(json_object_get(report, "duration_s"));
	row->cells[CHECK_REMARK] = term_cell(left_out ? left_out : "", CHECK_REPORT_CELL_COLUMNS);
	row->styled = CHECK_RESULT;
	row->style = left_out ? TERM_DIM : ok ? TERM_GREEN : TERM_RED;
}

void task_check_print_table(json_t *const *reports, size_t n)
{
	struct text_table table = {
		.titles = titles, .n_columns = N_CHECK_COLUMNS, .n_left = N_CHECK_COLUMNS
	};
	auto_buf struct buf text = BUF_INIT(TABLE_BYTES_MAX);

	for (size_t i = 0; i < n; i++)
		task_check_add_row(&table, reports[i]);
	table_print(&text, &table, term_colours(1));
	fputs(buf_str(&text), stdout);
	table_release(&table);
	for (size_t i = 0; i < n; i++) {
		if (json_is_true(json_object_get(reports[i], "ok")) ||
				json_object_get(reports[i], "left_out"))
			continue;
		putchar('\n');
		task_check_print_text(reports[i]);
	}
}
