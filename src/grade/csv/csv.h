/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_CSV_CSV_H
#define GRADE_CSV_CSV_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>

#define CSV_FILE_BYTES_MAX (64U << 20)
#define CSV_FIELD_BYTES_MAX 65536
#define CSV_COLUMNS_MAX 1024
#define CSV_ROWS_MAX 10000000

/* A field of a CSV file: bytes of the file's text, without any NUL inside and not
 * NUL-terminated. */
struct csv_field {
	const char *text;
	size_t len;
};

struct csv_row {
	/* the two fields of a CSV row that count; `id` is undefined if csv_columns.id is NULL */
	struct csv_field id, target;
	size_t line; /* number of the line in the file where the row begins, counted from 1 */
};

/*
 * Two columns of a CSV file: the one that identifies a row and the one that is scored. If the name
 * of the first column is NULL, a row's number identifies the row.
 *
 * Commas separate fields. A field in double quotes may hold commas, line ends, and quotes, which
 * are doubled. Blanks around a field are dropped. Lines end with LF, CRLF or CR. Empty lines and a
 * byte order mark are skipped. The first line names the columns.
 */
struct csv {
	struct csv_row *rows;
	size_t n;
	size_t blank; /* number of the first blank line behind the header; 0: none */
};

struct csv_columns {
	const char *id, *target;
};

/*
 * Parses n bytes of CSV in place. Doubled quotes become single ones in `data`, and the rows point
 * into `data`. Stops after max_rows rows. -EINVAL: the data is not valid CSV. The message may begin
 * with "line N: ". It quotes only the data, no other file.
 */
int csv_read(char *data, size_t n, const struct csv_columns *columns, size_t max_rows,
		struct csv *out, struct fh_error *err);
void csv_release(struct csv *csv);

/* Appends a CSV field in single quotes to an error message. The field is cut, and unprintable bytes
 * are escaped. */
void csv_quote(struct buf *out, const struct csv_field *field);

#endif
