/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table.h"

#include "python/pyjson.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Writers of Markdown, CSV and JSON. */

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

/* True for a text that a program which opens the file could run as a formula. */
static bool write_is_formula(const char *text)
{
	char *end;

	if (*text != '-')
		return *text && strchr("=+@\t\r", *text);
	strtod(text, &end);
	return *end;
}

static void write_csv_cell(struct buf *out, const char *text)
{
	const char *guard = write_is_formula(text) ? "'" : "";

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

/* A text such as "< 0.001" is for people. Programs get the number. */
static void write_csv_value(struct buf *out, const struct cell *cell)
{
	if (cell->text[0] == '<' && isfinite(cell->value))
		str_add_double(out, cell->value);
	else
		write_csv_cell(out, cell->text);
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
			write_csv_value(out, &t->cells[cell]);
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
