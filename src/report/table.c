/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define SMALL_DIGITS_MAX 8 /* digits after the point of a small number */

const char *const report_table_ids[] = {
	"models",
	"mixed",
	"compare",
	"compare-total",
	"scores-attempt",
	"scores-submission",
	"ranks-attempt",
	"borda-attempt",
	"ranks-submission",
	"borda-submission",
	"profile-attempt",
	"profile-submission",
	"aup",
	"iqm",
	"spread",
	"over-steps",
	"over-cost",
	"policy-steps",
	"costs",
	"times",
	"errors",
	"exit-statuses",
	"actions-by-model",
	"actions-by-task",
	"actions-by-step",
	"troubles",
	NULL,
};

static bool table_is_listed(const char *id)
{
	for (size_t i = 0; report_table_ids[i]; i++)
		if (str_eq(report_table_ids[i], id))
			return true;
	return false;
}

static struct report_table *table_doc_new_table(
		struct report_doc *doc, const char *id, const char *title, const char *note)
{
	struct report_table *t = arena_alloc(doc->arena, sizeof(*t));

	assert(table_is_listed(id));
	*t = (struct report_table){ .id = id, .title = title, .note = note };
	doc->tables = arena_grow(
			doc->arena, doc->tables, doc->n_tables, sizeof(struct report_table *));
	doc->tables[doc->n_tables++] = t;
	return t;
}

static void table_doc_add_column(struct report_doc *doc, struct report_table *t, const char *name)
{
	t->columns = arena_grow(doc->arena, t->columns, t->n_columns, sizeof(*t->columns));
	t->columns[t->n_columns++] = name;
}

struct report_table *doc_add(struct report_doc *doc, const char *id, const char *title,
		const char *note, const char *const *columns)
{
	struct report_table *t = table_doc_new_table(doc, id, title, note);

	for (; *columns; columns++)
		table_doc_add_column(doc, t, *columns);
	return t;
}

struct report_table *doc_add_named(struct report_doc *doc, const char *id, const char *title,
		const char *note, const char *first, const struct texts *names)
{
	struct report_table *t = table_doc_new_table(doc, id, title, note);

	table_doc_add_column(doc, t, first);
	for (size_t i = 0; i < names->n; i++)
		table_doc_add_column(doc, t, names->items[i]);
	return t;
}

struct report_table *doc_find(const struct report_doc *doc, const char *id)
{
	for (size_t i = 0; i < doc->n_tables; i++)
		if (str_eq(doc->tables[i]->id, id))
			return doc->tables[i];
	return NULL;
}

void doc_note(struct report_doc *doc, const char *format, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	doc->notes.items = arena_grow(doc->arena, doc->notes.items, doc->notes.n, sizeof(char *));
	doc->notes.items[doc->notes.n++] = arena_strdup(doc->arena, text);
}

struct cell *table_add_row(struct report_doc *doc, struct report_table *t)
{
	size_t row = t->n_columns * sizeof(*t->cells);
	struct cell *cells;

	t->cells = arena_grow(doc->arena, t->cells, t->n_rows, row);
	cells = t->cells + t->n_rows++ * t->n_columns;
	for (size_t i = 0; i < t->n_columns; i++)
		cells[i] = cell_text("");
	return cells;
}

struct cell cell_text(const char *text)
{
	return (struct cell){ .text = text ? text : "", .value = NAN };
}

struct cell cell_count(struct report_doc *doc, double value)
{
	if (isnan(value))
		return cell_text("");
	return (struct cell){ arena_printf(doc->arena, "%.0f", value), value };
}

static struct cell cell_of(struct report_doc *doc, double value, double rounded)
{
	auto_buf struct buf text = BUF_INIT(64);

	str_add_double(&text, rounded == 0 ? 0 : rounded);
	return (struct cell){ arena_strdup(doc->arena, buf_str(&text)), value };
}

struct cell cell_number(struct report_doc *doc, double value, int digits)
{
	double scale = pow(10, digits), rounded = rint(value * scale) / scale;

	if (isnan(value))
		return cell_text("");
	return cell_of(doc, value, isfinite(rounded) ? rounded : value);
}

struct cell cell_small(struct report_doc *doc, double value, int digits)
{
	double size = fabs(value);
	int needed = size > 0 && isfinite(size) ? 2 - (int)floor(log10(size)) : 0;

	needed = needed < SMALL_DIGITS_MAX ? needed : SMALL_DIGITS_MAX;
	return cell_number(doc, value, needed > digits ? needed : digits);
}

struct cell cell_rounded(struct report_doc *doc, double value, int digits)
{
	char text[400];

	if (isnan(value))
		return cell_text("");
	snprintf(text, sizeof(text), "%.*f", digits, value);
	return cell_of(doc, value, strtod(text, NULL));
}
