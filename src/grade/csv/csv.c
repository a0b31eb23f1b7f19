/* SPDX-License-Identifier: Apache-2.0 */
#include "grade/csv/csv.h"

#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Limits for error messages about a CSV file: bytes shown of a field, and number of columns
 * listed. */
#define CSV_SHOWN_BYTES 40
#define SHOWN_COLUMNS 8

struct csv_reader {
	char *at, *end;
	size_t line;  /* number of the current line of the CSV file, for messages */
	size_t blank; /* number of the first blank line so far; 0: none */
};

struct csv_record {
	struct csv_field fields[CSV_COLUMNS_MAX];
	size_t n;
	size_t line;
};

void csv_quote(struct buf *out, const struct csv_field *field)
{
	size_t len = field->len < CSV_SHOWN_BYTES ? field->len : CSV_SHOWN_BYTES;
	auto_buf struct buf text = BUF_INIT(4 * CSV_SHOWN_BYTES);

	/* Don't cut the shown field inside of a UTF-8 character. */
	while (len < field->len && len > 0 && ((unsigned char)field->text[len] & 0xc0) == 0x80)
		len--;
	str_add_utf8(&text, field->text, len);
	for (char *c = text.data; c && *c; c++) {
		if (*c == '\n' || *c == '\t')
			*c = ' ';
	}
	buf_add_char(out, '\'');
	str_add_printable(out, buf_str(&text));
	buf_add_str(out, len < field->len ? "...'" : "'");
}

static bool csv_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool csv_at_line_end(const struct csv_reader *r)
{
	return r->at == r->end || *r->at == '\n' || *r->at == '\r';
}

static void csv_skip_line_end(struct csv_reader *r)
{
	if (r->at < r->end && *r->at == '\r')
		r->at++;
	if (r->at < r->end && *r->at == '\n')
		r->at++;
	r->line++;
}

static void csv_skip_blanks(struct csv_reader *r)
{
	while (r->at < r->end && csv_is_blank(*r->at))
		r->at++;
}

/* Reads a quoted CSV field, from its opening quote to the end of the blanks after its closing
 * quote. */
static int csv_read_quoted(struct csv_reader *r, struct csv_field *out, struct fh_error *err)
{
	size_t line = r->line;
	char *from = ++r->at;
	char *to = from;

	for (;; r->at++) {
		if (r->at == r->end)
			return error_say(err, EINVAL, "line %zu: a field in quotes does not end",
					line);
		if (*r->at == '"') {
			if (r->at + 1 == r->end || r->at[1] != '"')
				break;
			r->at++;
		} else if (*r->at == '\n') {
			r->line++;
		}
		*to++ = *r->at;
	}
	r->at++;
	*out = (struct csv_field){ .text = from, .len = (size_t)(to - from) };
	csv_skip_blanks(r);
	if (!csv_at_line_end(r) && *r->at != ',')
		return error_say(err, EINVAL, "line %zu: text follows a closing quote", r->line);
	return 0;
}

static int csv_read_field(struct csv_reader *r, struct csv_field *out, struct fh_error *err)
{
	size_t line = r->line;
	const char *from, *to;

	csv_skip_blanks(r);
	from = r->at;
	if (r->at < r->end && *r->at == '"') {
		int result = csv_read_quoted(r, out, err);

		if (result < 0)
			return result;
	} else {
		while (!csv_at_line_end(r) && *r->at != ',')
			r->at++;
		for (to = r->at; to > from && csv_is_blank(to[-1]); to--)
			;
		*out = (struct csv_field){ .text = from, .len = (size_t)(to - from) };
	}
	if (out->len > CSV_FIELD_BYTES_MAX)
		return error_say(err, EINVAL, "line %zu: a field of more than %d bytes", line,
				CSV_FIELD_BYTES_MAX);
	return 0;
}

/* Reads the next CSV line that isn't blank. Returns 1, 0 at the end of the file, or a negative
 * errno. */
static int csv_read_record(struct csv_reader *r, struct csv_record *out, struct fh_error *err)
{
	for (;; csv_skip_line_end(r)) {
		csv_skip_blanks(r);
		if (r->at == r->end)
			return 0;
		if (!csv_at_line_end(r))
			break;
		if (!r->blank)
			r->blank = r->line;
	}
	out->line = r->line;
	for (out->n = 0;;) {
		int result;

		if (out->n == CSV_COLUMNS_MAX)
			return error_say(err, EINVAL, "line %zu: more than %d fields", out->line,
					CSV_COLUMNS_MAX);
		result = csv_read_field(r, &out->fields[out->n++], err);
		if (result < 0)
			return result;
		if (csv_at_line_end(r))
			break;
		r->at++; /* skip the comma */
	}
	csv_skip_line_end(r);
	return 1;
}

static int csv_say_no_column(
		const struct csv_record *header, const char *name, struct fh_error *err)
{
	auto_buf struct buf names = BUF_INIT(1024);
	size_t shown = header->n < SHOWN_COLUMNS ? header->n : SHOWN_COLUMNS;

	for (size_t i = 0; i < shown; i++) {
		if (i)
			buf_add_str(&names, ", ");
		csv_quote(&names, &header->fields[i]);
	}
	if (shown < header->n)
		buf_add_str(&names, ", ...");
	return error_say(err, EINVAL, "line %zu: no column '%s' among %s", header->line, name,
			buf_str(&names));
}

static int csv_find_column(const struct csv_record *header, const char *name, size_t *out,
		struct fh_error *err)
{
	size_t len = strlen(name);
	size_t found = header->n;

	for (size_t i = 0; i < header->n; i++) {
		const struct csv_field *field = &header->fields[i];

		if (field->len != len || memcmp(field->text, name, len) != 0)
			continue;
		if (found < header->n)
			return error_say(err, EINVAL, "line %zu: two columns '%s'", header->line,
					name);
		found = i;
	}
	if (found == header->n)
		return csv_say_no_column(header, name, err);
	*out = found;
	return 0;
}

static int csv_check_bytes(const char *data, size_t n, struct fh_error *err)
{
	const char *nul = memchr(data, '\0', n);
	size_t line = 1;

	if (n > CSV_FILE_BYTES_MAX)
		return error_say(err, EINVAL, "more than %u bytes", CSV_FILE_BYTES_MAX);
	if (!nul)
		return 0;
	for (const char *c = data; c < nul; c++)
		line += *c == '\n';
	return error_say(err, EINVAL, "line %zu: a NUL byte: the file must be text in UTF-8", line);
}

static int csv_read_rows(struct csv_reader *r, const struct csv_columns *columns, size_t max_rows,
		struct csv *csv, struct fh_error *err)
{
	struct csv_record record;
	size_t n_columns, target;
	size_t id = 0;
	int found = csv_read_record(r, &record, err);

	if (found == 0)
		return error_say(err, EINVAL, "empty: the first line must name the columns");
	if (found < 0 || (columns->id && csv_find_column(&record, columns->id, &id, err) < 0) ||
			csv_find_column(&record, columns->target, &target, err) < 0)
		return -EINVAL;
	n_columns = record.n;
	r->blank = 0; /* blank lines before the header miss no row */
	while (csv->n < max_rows && (found = csv_read_record(r, &record, err)) == 1) {
		if (record.n != n_columns)
			return error_say(err, EINVAL,
					"line %zu: the number of fields is %zu, in the header %zu%s",
					record.line, record.n, n_columns,
					record.n < n_columns ? ""
							     : "; a text with a comma must "
							       "stand in double quotes");
		csv->rows = xgrow(csv->rows, csv->n, sizeof(*csv->rows));
		csv->rows[csv->n++] = (struct csv_row){ .id = record.fields[id],
			.target = record.fields[target],
			.line = record.line };
	}
	csv->blank = r->blank;
	return found < 0 ? found : 0;
}

int csv_read(char *data, size_t n, const struct csv_columns *columns, size_t max_rows,
		struct csv *out, struct fh_error *err)
{
	struct csv_reader reader = { .at = data, .end = data + n, .line = 1 };
	struct csv csv = { .rows = NULL };
	int r = csv_check_bytes(data, n, err);

	if (r < 0)
		return r;
	if (n >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
		reader.at += 3;
	r = csv_read_rows(&reader, columns, max_rows, &csv, err);
	if (r < 0) {
		csv_release(&csv);
		return r;
	}
	*out = csv;
	return 0;
}

void csv_release(struct csv *csv)
{
	free(csv->rows);
	*csv = (struct csv){ .rows = NULL };
}
