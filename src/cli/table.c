/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/table.h"

#include "base/mem.h"
#include "cli/term.h"

#include <stdlib.h>

struct table_row *table_add(struct text_table *t)
{
	t->rows = xrealloc(t->rows, t->n + 1, sizeof(*t->rows));
	t->rows[t->n] = (struct table_row){ .styled = -1 };
	return &t->rows[t->n++];
}

static void table_add_line(struct buf *out, const struct text_table *t, const int *widths,
		const char *const *cells, int styled, const char *style)
{
	for (int c = 0; c < t->n_columns; c++) {
		int used = term_columns(cells[c]);

		if (!widths[c])
			continue;
		buf_add_str(out, c ? "  " : "");
		if (c >= t->n_left)
			term_add_pad(out, used, widths[c]);
		if (c == styled && *style)
			buf_printf(out, "%s%s%s", style, cells[c], TERM_RESET);
		else
			buf_add_str(out, cells[c]);
		if (c < t->n_left && c + 1 < t->n_columns)
			term_add_pad(out, used, widths[c]);
	}
	buf_add_char(out, '\n');
}

void table_print(struct buf *out, const struct text_table *t, bool colours)
{
	int widths[TABLE_COLUMNS_MAX] = { 0 };

	for (size_t i = 0; i < t->n; i++)
		term_widen(widths, (const char *const *)t->rows[i].cells, t->n_columns);
	for (int c = 0; c < t->n_columns; c++)
		if (widths[c] || !t->n)
			term_widen(&widths[c], &t->titles[c], 1);
	buf_add_str(out, term_style(colours, TERM_BOLD));
	table_add_line(out, t, widths, t->titles, -1, "");
	buf_add_str(out, term_style(colours, TERM_RESET));
	for (size_t i = 0; i < t->n; i++) {
		const struct table_row *row = &t->rows[i];

		table_add_line(out, t, widths, (const char *const *)row->cells, row->styled,
				term_style(colours, row->style ? row->style : ""));
	}
}

void table_release(struct text_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		for (int c = 0; c < t->n_columns; c++)
			free(t->rows[i].cells[c]);
	free(t->rows);
}
