/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_TABLE_H
#define ACI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Data files as rows of cells: CSV with any of the usual separators, and JSON lines. Files are read
 * as streams, so that they may be larger than memory. A row has a cap.
 */
#define TABLE_COLUMNS_MAX 4096
#define TABLE_ROW_BYTES_MAX (4 << 20)
#define TABLE_HEAD_BYTES 4096

struct data_table {
	FILE *file; /* at the end of the head */
	const char *path;
	/* The first bytes, kept for a second look: a pipe can't be rewound. */
	char head[TABLE_HEAD_BYTES];
	size_t head_n, head_at;
	bool json; /* each line is a row, whatever quotes it has */
	char separator;
	char **names; /* names of the n columns */
	size_t n;
	char *row; /* the current row; cells of CSV point into it */
	size_t size;
	const char **cells; /* cells of the current row; NULL: the row lacks it */
	size_t line;
	bool more_columns; /* there are more than TABLE_COLUMNS_MAX, which are left out */
	size_t extra_cells,
			missing_cells; /* rows that have more, or fewer, cells than the header */
};

/* Reads the header. False, with a sentence on stdout, also for an empty or a compressed file. */
bool table_open(const char *path, struct data_table *out);
void table_close(struct data_table *t);

/* 1 with the next row, 0 at the end, -1 with a sentence on stdout. For JSON, a key's first row adds
 * its column. */
int table_next(struct data_table *t);

/* Returns the index of a column; n if there is none. */
size_t table_column(const struct data_table *t, const char *name);

/* A cell is missing if it is empty or a usual word for nothing: NA, nan, null, None. Numbers are
 * finite. A cell is infinite, and no number, if it says so (inf) or is too large (1e400). */
bool cell_is_missing(const char *cell);
bool cell_is_number(const char *cell, double *out);
bool cell_is_infinite(const char *cell);

/* Prints "1 row", "2 rows". */
void print_count(uint64_t n, const char *noun);

#endif
