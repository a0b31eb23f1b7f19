/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary.h"

#include "base/scope.h"

#include <string.h>

static const struct {
	const char *table, *column, *title;
} summary_columns[] = {
	{ "costs", "Runs", "Runs" },
	{ "borda-attempt", "Mean rank", "Mean rank" },
	{ "iqm", "IQM", "IQM" },
	{ "iqm", "Low", "Low" },
	{ "iqm", "High", "High" },
	{ "aup", "Best AUP", "AUP" },
	{ "errors", "Without a score", "No score" },
	{ "errors", "Incomplete", "Incomplete" },
	{ "errors", "Integrity", "Integrity" },
	{ "costs", "Mean $", "Mean $" },
};

/* Finds the cell of a model in another table. It is empty if that has no such row. */
static struct cell summary_cell(const struct report_doc *doc, const char *model, size_t which)
{
	const struct report_table *t = doc_find(doc, summary_columns[which].table);
	size_t column = 0;

	while (t && column < t->n_columns &&
			!str_eq(t->columns[column], summary_columns[which].column))
		column++;
	for (size_t row = 0; t && column < t->n_columns && row < t->n_rows; row++)
		if (str_eq(t->cells[row * t->n_columns].text, model))
			return t->cells[row * t->n_columns + column];
	return cell_text("");
}

void summary_table(struct report_doc *doc)
{
	const struct report_table *ranks = doc_find(doc, "borda-attempt");
	const char *columns[ARRAY_SIZE(summary_columns) + 2] = { "Model" };
	struct report_table *t;

	if (!ranks)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(summary_columns); i++)
		columns[i + 1] = summary_columns[i].title;
	t = doc_add(doc, "models", "Models",
			"The best mean rank over tasks comes first. Equal scores share the mean of "
			"their ranks, and the order of models with the same mean rank means nothing. "
			"IQM is the interquartile mean of normalised scores: 0 is the baseline, 1 the "
			"best of all runs. AUP is the area under the performance profile. All are of "
			"best scores.",
			columns);
	for (size_t row = 0; row < ranks->n_rows; row++) {
		struct cell *cells = table_add_row(doc, t);

		cells[0] = ranks->cells[row * ranks->n_columns];
		for (size_t i = 0; i < ARRAY_SIZE(summary_columns); i++)
			cells[i + 1] = summary_cell(doc, cells[0].text, i);
	}
	memmove(doc->tables + 1, doc->tables, (doc->n_tables - 1) * sizeof(struct report_table *));
	doc->tables[0] = t;
}
