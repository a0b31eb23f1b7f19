/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table.h"

#include "cli/term.h"
#include "python/pyjson.h"

#include <math.h>
#include <string.h>

/* Writers of text, Markdown, CSV and JSON. */

#define WRITE_CELL_COLUMNS 40
#define CURVE_COLUMNS 40

/* --- text ------------------------------------------------------------------------------------- */

struct text_layout {
	struct buf *out;
	const struct report_table *table;
	int *widths;       /* widths of the columns, in characters */
	size_t first, end; /* columns of this block, after the first of all */
};

static int write_width(const struct report_table *t, size_t column)
{
	int width = term_columns(t->columns[column]);

	for (size_t row = 0; row < t->n_rows; row++) {
		int w = term_columns(t->cells[row * t->n_columns + column].text);

		width = w > width ? w : width;
	}
	/* Only the last column may be wide: no other moves out of sight. */
	return width < WRITE_CELL_COLUMNS || column + 1 == t->n_columns ? width
									: WRITE_CELL_COLUMNS;
}

static void write_text_cell(struct text_layout *l, size_t column, const char *text, bool right)
{
	auto_buf struct buf cell = BUF_INIT(4096);
	int used;

	term_add_line(&cell, text, l->widths[column]);
	used = term_columns(buf_str(&cell));
	buf_add_str(l->out, column ? "  " : "");
	if (right)
		term_add_pad(l->out, used, l->widths[column]);
	buf_add(l->out, buf_str(&cell), cell.len);
	if (!right && column + 1 < l->end)
		term_add_pad(l->out, used, l->widths[column]);
}

static void write_text_line(struct text_layout *l, const struct cell *cells)
{
	for (size_t i = 0; i < l->end; i = i ? i + 1 : l->first) {
		const char *text = cells ? cells[i].text : l->table->columns[i];
		bool right = i && !(cells && isnan(cells[i].value) && *text);

		write_text_cell(l, i, text, right);
	}
	while (l->out->len && l->out->data[l->out->len - 1] == ' ')
		l->out->len--;
	buf_add_char(l->out, '\n');
}

static bool write_is_empty(const struct report_table *t, size_t column)
{
	for (size_t row = 0; row < t->n_rows; row++)
		if (*t->cells[row * t->n_columns + column].text)
			return false;
	return true;
}

/* Returns a copy of a table without its empty columns, such as costs where no run cost anything. */
static struct report_table write_drop_empty(struct arena *a, const struct report_table *t)
{
	struct report_table copy = { .n_rows = t->n_rows };
	struct cell *to = arena_array(a, t->n_rows * t->n_columns + 1, sizeof(*to));

	copy.columns = arena_array(a, t->n_columns, sizeof(*copy.columns));
	copy.cells = to;
	for (size_t column = 0; column < t->n_columns; column++)
		if (column == 0 || !write_is_empty(t, column))
			copy.columns[copy.n_columns++] = t->columns[column];
	for (size_t cell = 0; cell < t->n_rows * t->n_columns; cell++)
		if (cell % t->n_columns == 0 || !write_is_empty(t, cell % t->n_columns))
			*to++ = t->cells[cell];
	return copy;
}

/* Breaks a table that is too wide into blocks of columns. Each repeats the first column. */
static void write_text_table(struct buf *out, const struct report_doc *doc,
		const struct report_table *whole, const struct doc_style *style)
{
	struct report_table copy = write_drop_empty(doc->arena, whole), *t = &copy;
	struct text_layout l = { .out = out, .table = t };

	l.widths = arena_array(doc->arena, t->n_columns, sizeof(int));
	for (size_t i = 0; i < t->n_columns; i++)
		l.widths[i] = write_width(t, i);
	l.first = 1;
	do {
		int width = l.widths[0];

		for (l.end = l.first; l.end < t->n_columns; l.end++) {
			width += l.widths[l.end] + 2;
			if (width > style->width && l.end > l.first)
				break;
		}
		buf_add_str(out, l.first > 1 ? "\n" : "");
		write_text_line(&l, NULL);
		for (size_t row = 0; row < t->n_rows; row++)
			write_text_line(&l, t->cells + row * t->n_columns);
		l.first = l.end;
	} while (l.first < t->n_columns);
}

/* A bar of `#` for each row, for a terminal. */
static void write_text_bars(struct buf *out, const struct report_table *t)
{
	double most = 0;

	for (size_t row = 0; row < t->n_rows; row++)
		most = fmax(most, t->cells[row * t->n_columns + t->chart->bar_column].value);
	if (!(most > 0))
		return;
	buf_add_char(out, '\n');
	for (size_t row = 0; row < t->n_rows; row++) {
		const struct cell *cells = t->cells + row * t->n_columns;
		double value = cells[t->chart->bar_column].value;
		auto_buf struct buf name = BUF_INIT(4096);

		term_add_line(&name, cells[0].text, 28);
		buf_add_str(out, buf_str(&name));
		term_add_pad(out, term_columns(buf_str(&name)), 30);
		for (int i = 0; i < (int)lround(40 * value / most); i++)
			buf_add_char(out, '#');
		buf_add_char(out, '\n');
	}
}

/* A row of blocks for each curve, from 0 to the highest value of all, for a terminal. */
static void write_text_curves(struct buf *out, const struct chart *f)
{
	static const char *const blocks[] = { "\u2581", "\u2582", "\u2583", "\u2584", "\u2585",
		"\u2586", "\u2587", "\u2588" };
	double most = 0;

	for (size_t i = 0; i < f->n_lines; i++)
		for (size_t k = 0; k < f->lines[i].n; k++)
			most = fmax(most, f->lines[i].y[k]);
	if (!(most > 0) || !isfinite(most))
		return;
	buf_add_char(out, '\n');
	for (size_t i = 0; i < f->n_lines; i++) {
		const struct chart_line *line = &f->lines[i];
		auto_buf struct buf name = BUF_INIT(4096);

		term_add_line(&name, line->name, 28);
		buf_add_str(out, buf_str(&name));
		term_add_pad(out, term_columns(buf_str(&name)), 30);
		for (size_t k = 0; line->n && k < CURVE_COLUMNS; k++) {
			double y = line->y[k * line->n / CURVE_COLUMNS];

			buf_add_str(out, y > 0 ? blocks[(size_t)fmin(8 * y / most, 7)] : " ");
		}
		buf_add_char(out, '\n');
	}
}

void doc_write_text(struct buf *out, const struct report_doc *doc, const struct doc_style *style)
{
	for (size_t i = 0; i < doc->notes.n; i++) {
		buf_add_str(out, "Note: ");
		str_add_printable(out, doc->notes.items[i]);
		buf_add_char(out, '\n');
	}
	for (size_t i = 0; i < doc->n_tables; i++) {
		const struct report_table *t = doc->tables[i];

		buf_printf(out, "\n%s%s%s\n", term_style(style->colours, TERM_BOLD), t->title,
				term_style(style->colours, TERM_RESET));
		if (t->note)
			buf_printf(out, "%s\n", t->note);
		buf_add_char(out, '\n');
		write_text_table(out, doc, t, style);
		if (t->chart && t->chart->kind == CHART_BARS)
			write_text_bars(out, t);
		if (t->chart && t->chart->kind == CHART_LINES)
			write_text_curves(out, t->chart);
	}
	if (doc->more)
		buf_printf(out, "\n%s\n", doc->more);
}

/* --- Markdown --------------------------------------------------------------------------------- */

static void write_markdown_cell(struct buf *out, const char *text)
{
	auto_buf struct buf safe = BUF_INIT(65536);

	str_add_printable(&safe, text);
	buf_add_str(out, "| ");
	for (const char *c = buf_str(&safe); *c; c++) {
		if (strchr("|\\`*_<>[]&", *c))
			buf_add_char(out, '\\');
		buf_add_char(out, *c == '\n' ? ' ' : *c);
	}
	buf_add_char(out, ' ');
}

static void write_markdown_table(struct buf *out, const struct report_table *t)
{
	for (size_t i = 0; i < t->n_columns; i++)
		write_markdown_cell(out, t->columns[i]);
	buf_add_str(out, "|\n");
	for (size_t i = 0; i < t->n_columns; i++)
		buf_add_str(out, i ? "|---:" : "|---");
	buf_add_str(out, "|\n");
	for (size_t row = 0; row < t->n_rows; row++) {
		for (size_t i = 0; i < t->n_columns; i++)
			write_markdown_cell(out, t->cells[row * t->n_columns + i].text);
		buf_add_str(out, "|\n");
	}
}

void doc_write_markdown(struct buf *out, const struct report_doc *doc)
{
	buf_printf(out, "# %s\n", doc->title);
	for (size_t i = 0; i < doc->notes.n; i++) {
		buf_add_str(out, "\n> ");
		str_add_printable(out, doc->notes.items[i]);
		buf_add_char(out, '\n');
	}
	for (size_t i = 0; i < doc->n_tables; i++) {
		const struct report_table *t = doc->tables[i];

		buf_printf(out, "\n## %s\n\n", t->title);
		if (t->note)
			buf_printf(out, "%s\n\n", t->note);
		write_markdown_table(out, t);
	}
}

/* --- CSV -------------------------------------------------------------------------------------- */

static void write_csv_cell(struct buf *out, const char *text)
{
	/* A program that opens the file must not run a text that looks like a formula. */
	const char *guard = strchr("=+@\t\r", *text) && *text ? "'" : "";

	if (!*guard && !strpbrk(text, ",\"\r\n")) {
		buf_add_str(out, text);
		return;
	}
	buf_printf(out, "\"%s", guard);
	for (; *text; text++) {
		if (*text == '"')
			buf_add_char(out, '"');
		buf_add_char(out, *text);
	}
	buf_add_char(out, '"');
}

/* Writes all cells of all tables as one table: table, row, column, value. */
void doc_write_csv(struct buf *out, const struct report_doc *doc)
{
	buf_add_str(out, "table,row,column,value\n");
	for (size_t i = 0; i < doc->n_tables; i++) {
		const struct report_table *t = doc->tables[i];

		for (size_t cell = 0; cell < t->n_rows * t->n_columns; cell++) {
			size_t column = cell % t->n_columns;

			if (column == 0)
				continue;
			buf_printf(out, "%s,", t->id);
			write_csv_cell(out, t->cells[cell - column].text);
			buf_add_char(out, ',');
			write_csv_cell(out, t->columns[column]);
			buf_add_char(out, ',');
			write_csv_cell(out, t->cells[cell].text);
			buf_add_char(out, '\n');
		}
	}
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void write_json_cell(struct pyjson_writer *w, const struct cell *cell)
{
	if (isfinite(cell->value))
		pyjson_put_double(w, NULL, cell->value);
	else if (*cell->text)
		pyjson_put_text(w, NULL, cell->text);
	else
		pyjson_put_null(w, NULL);
}

static void write_json_table(struct pyjson_writer *w, const struct report_table *t)
{
	pyjson_put_object(w, NULL);
	pyjson_put_text(w, "id", t->id);
	pyjson_put_text(w, "title", t->title);
	pyjson_put_text(w, "note", t->note);
	pyjson_put_array(w, "columns");
	for (size_t i = 0; i < t->n_columns; i++)
		pyjson_put_text(w, NULL, t->columns[i]);
	pyjson_end_array(w);
	pyjson_put_array(w, "rows");
	for (size_t row = 0; row < t->n_rows; row++) {
		pyjson_put_array(w, NULL);
		for (size_t i = 0; i < t->n_columns; i++)
			write_json_cell(w, &t->cells[row * t->n_columns + i]);
		pyjson_end_array(w);
	}
	pyjson_end_array(w);
	pyjson_end_object(w);
}

void doc_write_json(struct buf *out, const struct report_doc *doc)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(out, PYJSON_LINE);

	pyjson_put_object(&w, NULL);
	pyjson_put_array(&w, "notes");
	for (size_t i = 0; i < doc->notes.n; i++)
		pyjson_put_text(&w, NULL, doc->notes.items[i]);
	pyjson_end_array(&w);
	pyjson_put_array(&w, "tables");
	for (size_t i = 0; i < doc->n_tables; i++)
		write_json_table(&w, doc->tables[i]);
	pyjson_end_array(&w);
	pyjson_end_object(&w);
	buf_add_char(out, '\n');
}
