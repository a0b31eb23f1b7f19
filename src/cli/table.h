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
	int n_columns, n_left; /* the first n_left columns are aligned left, the others right */
	struct table_row {
		char *cells[TABLE_COLUMNS_MAX];
		int styled;        /* column that is printed in `style` */
		const char *style; /* escape sequence of term.h; NULL: none */
	} * rows;
	size_t n;
};

/* Appends a row with empty cells. The pointer is valid until the next call. Cells are heap. */
struct table_row *table_add(struct text_table *t);

void table_print(struct buf *out, const struct text_table *t, bool colours);

void table_release(struct text_table *t);

#endif
