/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_TABLE_H
#define ACI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Data files as rows of cells: CSV with any of the usual separators, and JSON lines. Read as a stream, so that
 * a file may be larger than the memory; a row has a cap.
 */
#define TABLE_COLUMNS_MAX 4096
#define TABLE_ROW_BYTES_MAX (4 << 20)
#define TABLE_HEAD_BYTES 4096

struct table {
	FILE *file; /* what comes after the head */
	const char *path;
	/* The first bytes, which are looked at before they are read: a file may be a pipe. */
	char head[TABLE_HEAD_BYTES];
	size_t head_n, head_at;
	bool json; /* a row is a line, whatever quotes it has */
	char separator;
	char **names; /* of the n columns */
	size_t n;
	char *row; /* of this row; cells point into it */
	size_t size;
	const char **cells; /* of the row that was read; NULL: the row is short of it */
	size_t line;
	bool more_columns; /* than TABLE_COLUMNS_MAX: those are left out */
	size_t extra_cells,
			missing_cells; /* rows that have more, or fewer, cells than the header */
};

/* Reads the header. False, with a sentence on stdout, of what has no columns (compressed, empty) too. */
bool table_open(const char *path, struct table *out);
void table_close(struct table *t);

/* 1 with the next row, 0 at the end, -1 with a sentence on stdout. JSON: a column is made when its key is first
 * seen. */
int table_next(struct table *t);

/* The index of a column; n if there is none. */
size_t table_column(const struct table *t, const char *name);

/* A cell is missing when it is empty or one of the usual words for nothing: NA, nan, null, None. Numbers are finite;
 * one that is too large for a double (1e400), or what a program writes for it (inf, -Infinity), is infinite, and
 * neither text nor to be drawn. */
bool cell_is_missing(const char *cell);
bool cell_is_number(const char *cell, double *out);
bool cell_is_infinite(const char *cell);

/* "1 row", "2 rows". */
void print_count(uint64_t n, const char *noun);

#endif
