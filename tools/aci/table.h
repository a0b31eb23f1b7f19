/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_TABLE_H
#define ACI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Data files as rows of cells: CSV with any usual separator, and JSON lines. Files are read as
 * streams, so that they may be larger than memory. The length of a row is limited.
 */

#define ACI_TABLE_COLUMNS_MAX 4096
#define TABLE_ROW_BYTES_MAX (4 << 20)
#define TABLE_HEAD_BYTES 4096

struct data_table {
	FILE *file; /* the open file; bytes after those in `head` are read from it */
	const char *path;
	/* The first bytes of the file. They are kept for a second look, because a pipe can't be
	 * rewound. */
	char head[TABLE_HEAD_BYTES];
	size_t head_n, head_at;
	bool json; /* the file has JSON lines: a quote does not continue a row on the next line */
	char separator;
	char **names; /* names of the columns, n of them */
	size_t n;
	char *row; /* text of the current row; cells of CSV point into this text */
	size_t size;
	/* cells of the current row, one per column; NULL: the row has no such cell */
	char **cells;
	size_t line;
	/* true: the file has more than ACI_TABLE_COLUMNS_MAX columns; the others are ignored */
	bool more_columns;
	size_t extra_cells,
			/* counts of rows with more cells, or fewer, than the header */
			missing_cells;
};

/* True if the file begins as a Parquet file, which table_open() can't read. */
bool table_is_parquet(const char *path);
/* Opens a file and reads its header. False if that fails, or if the file is empty or compressed;
 * prints a sentence on stdout. */
bool table_open(const char *path, struct data_table *out);
void table_close(struct data_table *t);

/* Reads the next row. Returns 1, 0 at the end of the file, or -1 after printing a sentence on
 * stdout. In JSON, a new key adds a column. */
int table_next(struct data_table *t);

/* Returns the index of the column `name`; n if there is no such column. */
size_t table_column(const struct data_table *t, const char *name);

/* Types of a cell. A missing cell is empty or a usual word for a missing value: NA, nan, null,
 * None. A number is finite. An infinite cell is a word (inf) or too large for a double (1e400). */
bool cell_is_missing(const char *cell);
bool cell_is_number(const char *cell, double *out);
bool cell_is_infinite(const char *cell);

/* Prints a number and a noun: "1 row", "2 rows". */
void print_count(uint64_t n, const char *noun);

#endif
