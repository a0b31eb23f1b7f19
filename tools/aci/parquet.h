/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_PARQUET_H
#define ACI_PARQUET_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Parquet files (https://github.com/apache/parquet-format): a footer that tells columns and where they lie, in
 * groups of rows (parquet_footer.c), and of each column in each group a chunk: pages (parquet_pages.c) of values
 * (parquet_values.c) that stand for texts (parquet_text.c). All of a file is a stranger's word.
 */
enum parquet_type {
	PARQUET_BOOLEAN,
	PARQUET_INT32,
	PARQUET_INT64,
	PARQUET_INT96,
	PARQUET_FLOAT,
	PARQUET_DOUBLE,
	PARQUET_BYTES,
	PARQUET_FIXED, /* bytes, always as many */
	PARQUET_TYPE_N
};

/* What values of a type mean. */
enum parquet_kind {
	PARQUET_PLAIN,
	PARQUET_TEXT,
	PARQUET_DECIMAL,
	PARQUET_DATE,
	PARQUET_TIME,
	PARQUET_TIMESTAMP,
	PARQUET_UNSIGNED,
	PARQUET_HALF, /* a number of two bytes */
	PARQUET_UUID
};

struct parquet_column {
	char *name; /* with those of the structs around it: "place.city" */
	int type;
	enum parquet_kind kind;
	int digits;      /* after the point: of a decimal, or of a time's seconds */
	size_t width;    /* bytes of a PARQUET_FIXED */
	uint32_t levels; /* around it and of it, that can be missing */
	bool repeated;   /* of lists: several in a row, which are not read here */
};

/* Of one column in one group of rows. */
struct parquet_chunk {
	int64_t at, bytes, values;
	int codec;
};

struct parquet {
	int fd;
	int64_t bytes, rows;
	struct parquet_column *columns;
	size_t n, n_groups;
	struct parquet_chunk *chunks; /* n of the first group, n of the second, ... */
	bool encrypted;
};

#define PARQUET_COLUMNS_MAX 4096

/* Reads the footer. False: it is no whole Parquet file. */
bool parquet_open(const char *path, struct parquet *out);
void parquet_close(struct parquet *p);

/* The same from a footer that was read; a part of parquet_open(). */
bool parquet_read_footer(const unsigned char *footer, size_t n, struct parquet *p);

/* A cell of a column: its text, cut where it is very long; NULL if it is missing. False: no more of them. */
typedef bool parquet_visit(void *user, const char *cell);

/* All cells of a column, in order. NULL, or why they (or those that are left) can't be read. */
const char *parquet_read_column(
		const struct parquet *p, size_t column, parquet_visit *visit, void *user);

/* True for a column whose cells are words, whatever they look like. */
bool parquet_is_text(const struct parquet_column *c);
const char *parquet_type_name(const struct parquet_column *c);

#endif
