/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table.h"

#include "cli/term.h"

#include <math.h>

/* Writer of text for a terminal. */

#define WRITE_CELL_COLUMNS 40 /* most columns of a cell's line, and of a bar or curve */
#define WRITE_CELL_BYTES 4096
#define WRITE_FOLDER "..."   /* stands for the folder in which all records of a table lie */
#define WRITE_BELOW "\u2193" /* a point below the picture */

struct text_layout {
	struct buf *out;
	const struct report_table *table; /* all texts are printable */
	int *widths;                      /* widths of the columns, in characters */
	const char **rest; /* for each column, the part of the cell that is not written yet */
	size_t n_keys;     /* first columns, which each block repeats */
	size_t first, end; /* columns of this block, after those */
};

/* Paths are not broken, so that they can be copied. */
static bool write_is_path(const struct report_table *t, size_t column)
{
	for (size_t row = 0; row < t->n_rows; row++)
		if (t->cells[row * t->n_columns + column].record)
			return true;
	return false;
}

static int write_width(const struct report_table *t, size_t column)
{
	int width = term_columns(t->columns[column]);

	for (size_t row = 0; row < t->n_rows; row++) {
		int w = term_columns(t->cells[row * t->n_columns + column].text);

		width = w > width ? w : width;
	}
	return width < WRITE_CELL_COLUMNS || write_is_path(t, column) ? width : WRITE_CELL_COLUMNS;
}

/* True for a column of texts, which are aligned left. Numbers are aligned right. */
static bool write_is_left(const struct report_table *t, size_t column)
{
	for (size_t row = 0; row < t->n_rows; row++)
		if (!isnan(t->cells[row * t->n_columns + column].value))
			return false;
	return true;
}

/* Appends as much of a text as fits into `width`, and blanks up to there. Returns the rest. */
static const char *write_text_piece(struct buf *out, const char *text, int width, bool right)
{
	size_t n = term_fit_words(text, width);
	auto_buf struct buf piece = BUF_INIT(WRITE_CELL_BYTES);
	int used;

	buf_add(&piece, text, n);
	used = term_columns(buf_str(&piece));
	if (right)
		term_add_pad(out, used, width);
	buf_add(out, buf_str(&piece), piece.len);
	if (!right)
		term_add_pad(out, used, width);
	return text + n + (text[n] == ' ');
}

static void write_end_line(struct buf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->len--;
	buf_add_char(out, '\n');
}

static size_t write_next_column(const struct text_layout *l, size_t column)
{
	return column + 1 == l->n_keys ? l->first : column + 1;
}

/* Writes a row, or the names of the columns if `cells` is NULL. Long cells take several lines. */
static void write_text_row(struct text_layout *l, const struct cell *cells)
{
	bool more = true;

	for (size_t i = 0; i < l->end; i = write_next_column(l, i))
		l->rest[i] = cells ? cells[i].text : l->table->columns[i];
	while (more) {
		more = false;
		for (size_t i = 0; i < l->end; i = write_next_column(l, i)) {
			bool left = cells && *cells[i].text ? isnan(cells[i].value)
							    : write_is_left(l->table, i);

			buf_add_str(l->out, i ? "  " : "");
			l->rest[i] = write_text_piece(l->out, l->rest[i], l->widths[i], i && !left);
			more = more || *l->rest[i];
		}
		write_end_line(l->out);
	}
}

static bool write_is_empty(const struct report_table *t, size_t column)
{
	for (size_t row = 0; row < t->n_rows; row++)
		if (*t->cells[row * t->n_columns + column].text)
			return false;
	return true;
}

static const char *write_printable(struct arena *a, const char *text)
{
	auto_buf struct buf line = BUF_INIT(2 * WRITE_CELL_BYTES);

	term_add_line(&line, text, WRITE_CELL_BYTES);
	return arena_strdup(a, buf_str(&line));
}

/* Returns the path of the folder in which all records of a table lie. NULL: it names none. */
static const char *write_folder(struct arena *a, const struct report_table *t)
{
	const char *first = NULL;
	size_t n = 0;

	for (size_t cell = 0; cell < t->n_rows * t->n_columns; cell++) {
		const char *path = t->cells[cell].text;

		if (!t->cells[cell].record)
			continue;
		if (!first) {
			first = path;
			n = strlen(path);
		}
		while (n && (strncmp(first, path, n) != 0 || first[n - 1] != '/'))
			n--;
	}
	return n > 1 ? arena_strndup(a, first, n - 1) : NULL;
}

/* Returns a printable copy of a table without its empty columns, such as costs where no run cost
 * anything. */
static struct report_table write_copy(struct arena *a, const struct report_table *t)
{
	struct report_table copy = { .n_rows = t->n_rows };
	const char *folder = write_folder(a, t);
	struct cell *to = arena_array(a, t->n_rows * t->n_columns + 1, sizeof(*to));

	copy.columns = arena_array(a, t->n_columns, sizeof(*copy.columns));
	copy.cells = to;
	for (size_t column = 0; column < t->n_columns; column++)
		if (column == 0 || !write_is_empty(t, column))
			copy.columns[copy.n_columns++] = write_printable(a, t->columns[column]);
	for (size_t cell = 0; cell < t->n_rows * t->n_columns; cell++)
		if (cell % t->n_columns == 0 || !write_is_empty(t, cell % t->n_columns)) {
			const char *text = t->cells[cell].text;

			if (folder && t->cells[cell].record)
				text = arena_printf(a, WRITE_FOLDER "%s", text + strlen(folder));
			*to = t->cells[cell];
			to++->text = write_printable(a, text);
		}
	return copy;
}

/* Breaks a table that is too wide into blocks. Each repeats the columns that name rows. */
static void write_text_table(struct buf *out, const struct report_doc *doc,
		const struct report_table *whole, const struct doc_style *style)
{
	struct report_table copy = write_copy(doc->arena, whole), *t = &copy;
	struct text_layout l = {
		.out = out, .table = t, .n_keys = whole->n_keys ? whole->n_keys : 1
	};

	l.widths = arena_array(doc->arena, t->n_columns, sizeof(int));
	l.rest = arena_array(doc->arena, t->n_columns, sizeof(char *));
	for (size_t i = 0; i < t->n_columns; i++)
		l.widths[i] = write_width(t, i);
	l.first = l.n_keys;
	do {
		int width = 0;

		for (size_t i = 0; i < l.n_keys; i++)
			width += l.widths[i] + (i ? 2 : 0);
		for (l.end = l.first; l.end < t->n_columns; l.end++) {
			width += l.widths[l.end] + 2;
			if (width > style->width && l.end > l.first)
				break;
		}
		buf_add_str(out, l.first > l.n_keys ? "\n" : "");
		write_text_row(&l, NULL);
		for (size_t row = 0; row < t->n_rows; row++)
			write_text_row(&l, t->cells + row * t->n_columns);
		l.first = l.end;
	} while (l.first < t->n_columns);
}

/* Appends a text with control characters escaped, in lines that are not too wide. Those after the
 * first are indented. */
static void write_text_wrapped(
		struct buf *out, const char *text, int indent, const struct doc_style *style)
{
	auto_buf struct buf clean = BUF_INIT(65536);

	str_add_printable(&clean, text);
	term_add_wrapped(out, buf_str(&clean), indent, style->width);
}

/* Writes a bar or curve for each of n names, beside the name. */
static void write_text_marks(struct buf *out, const char *const *names, const char *const *marks,
		size_t n, const struct doc_style *style)
{
	int width = 0, room = style->width - WRITE_CELL_COLUMNS - 2;

	for (size_t i = 0; i < n; i++)
		width = term_columns(names[i]) > width ? term_columns(names[i]) : width;
	width = width < room ? width : room;
	buf_add_char(out, '\n');
	for (size_t i = 0; i < n; i++) {
		const char *rest = write_text_piece(out, names[i], width, false);

		buf_printf(out, "  %s", marks[i]);
		write_end_line(out);
		while (*rest) {
			rest = write_text_piece(out, rest, width, false);
			write_end_line(out);
		}
	}
}

/* A bar of `#` for each row, for a terminal. */
static void write_text_bars(struct buf *out, const struct report_doc *doc,
		const struct report_table *t, const struct doc_style *style)
{
	const char **names = arena_array(doc->arena, t->n_rows + 1, sizeof(char *)), **bars;
	double most = 0;

	bars = arena_array(doc->arena, t->n_rows + 1, sizeof(char *));
	for (size_t row = 0; row < t->n_rows; row++)
		most = fmax(most, t->cells[row * t->n_columns + t->chart->bar_column].value);
	if (!(most > 0))
		return;
	for (size_t row = 0; row < t->n_rows; row++) {
		const struct cell *cells = t->cells + row * t->n_columns;
		auto_buf struct buf bar = BUF_INIT(WRITE_CELL_COLUMNS + 1);

		for (int i = 0; i < (int)lround(WRITE_CELL_COLUMNS *
						    cells[t->chart->bar_column].value / most);
				i++)
			buf_add_char(&bar, '#');
		names[row] = write_printable(doc->arena, cells[0].text);
		bars[row] = arena_strdup(doc->arena, buf_str(&bar));
	}
	write_text_marks(out, names, bars, t->n_rows, style);
}

/* A row of blocks for a curve. Points right of the picture are left out. */
static const char *write_curve(
		struct arena *a, const struct chart_line *line, const struct chart_axes *axes)
{
	static const char *const blocks[] = { "\u2581", "\u2582", "\u2583", "\u2584", "\u2585",
		"\u2586", "\u2587", "\u2588" };
	auto_buf struct buf out = BUF_INIT(4 * WRITE_CELL_COLUMNS + 1);
	size_t n = 0;

	while (n < line->n && line->x[n] <= axes->x_high)
		n++;
	for (size_t k = 0; n && k < WRITE_CELL_COLUMNS; k++) {
		double y = line->y[k * n / WRITE_CELL_COLUMNS];
		double at = (y - axes->y_low) / (axes->y_high - axes->y_low);

		if (isfinite(y))
			buf_add_str(&out, at < 0 ? WRITE_BELOW : blocks[(size_t)fmin(8 * at, 7)]);
		else
			buf_add_char(&out, ' ');
	}
	return arena_strdup(a, buf_str(&out));
}

static void write_text_curves(struct buf *out, const struct report_doc *doc, const struct chart *f,
		const struct doc_style *style)
{
	const char **names = arena_array(doc->arena, f->n_lines + 1, sizeof(char *)), **curves;
	const char *outside = chart_outside(doc->arena, f);
	struct chart_axes axes = chart_axes_of(f);

	curves = arena_array(doc->arena, f->n_lines + 1, sizeof(char *));
	for (size_t i = 0; i < f->n_lines; i++) {
		names[i] = write_printable(doc->arena, f->lines[i].name);
		curves[i] = write_curve(doc->arena, &f->lines[i], &axes);
	}
	write_text_marks(out, names, curves, f->n_lines, style);
	buf_add_char(out, '\n');
	write_text_wrapped(out,
			arena_printf(doc->arena,
					"From left to right: %s %.4g to %.4g. From \u2581 to \u2588: %s "
					"%.4g to %.4g.%s%s",
					f->x_title, axes.x_low, axes.x_high, f->y_title, axes.y_low,
					axes.y_high, outside ? " " : "", outside ? outside : ""),
			0, style);
	buf_add_char(out, '\n');
}

void doc_write_text(struct buf *out, const struct report_doc *doc, const struct doc_style *style)
{
	for (size_t i = 0; i < doc->notes.n; i++) {
		buf_add_str(out, "Note: ");
		write_text_wrapped(out, doc->notes.items[i], 6, style);
		buf_add_char(out, '\n');
	}
	for (size_t i = 0; i < doc->n_tables; i++) {
		const struct report_table *t = doc->tables[i];
		const char *folder = write_folder(doc->arena, t);

		buf_printf(out, "\n%s", term_style(style->colours, TERM_BOLD));
		write_text_wrapped(out, t->title, 0, style);
		buf_printf(out, "%s\n", term_style(style->colours, TERM_RESET));
		if (t->note) {
			write_text_wrapped(out, t->note, 0, style);
			buf_add_char(out, '\n');
		}
		if (folder)
			buf_printf(out, "%s stands for %s\n", WRITE_FOLDER,
					write_printable(doc->arena, folder));
		if (!t->n_rows) /* t->note tells why the table is empty */
			continue;
		buf_add_char(out, '\n');
		write_text_table(out, doc, t, style);
		if (t->chart && t->chart->kind == CHART_BARS)
			write_text_bars(out, doc, t, style);
		if (t->chart && t->chart->kind == CHART_LINES)
			write_text_curves(out, doc, t->chart, style);
	}
	if (doc->more)
		buf_printf(out, "\n%s\n", doc->more);
}
