/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "base/buf.h"

#include <stdbool.h>

#define TABLE_COLUMNS_MAX 16

/*
 * A table for people. Cells are padded to the widest cell of their column. A column without any
 * text in its cells is left out.
 */
struct text_table {
	const char *const *titles;
	/* number of columns; the first n_left are aligned left, and the others right */
	int n_columns, n_left;
	struct table_row {
		char *cells[TABLE_COLUMNS_MAX];
		int styled;        /* index of the column that is printed in `style`; -1: none */
		const char *style; /* escape sequence, from term.h; NULL: none */
	} * rows;
	size_t n;
};

/* Appends a row with empty cells, and returns it. The pointer is valid until the next call. The
 * table frees the cells, which are heap strings. */
struct table_row *table_add(struct text_table *t);

void table_print(struct buf *out, const struct text_table *t, bool colours);

void table_release(struct text_table *t);

#endif
