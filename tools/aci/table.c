/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- rows of bytes --------------------------------------------------------------------------------------- */

/* A line, or several while a quote is open; its newline is gone. */
static int read_row(struct table *t)
{
	size_t n = 0;
	bool quoted = false;
	int c;

	while ((c = getc_unlocked(t->file)) != EOF) {
		if (n + 2 > t->size) {
			if (t->size == TABLE_ROW_BYTES_MAX) {
				printf("%s:%zu: a row has more than %d bytes.\n", t->path,
						t->line + 1, TABLE_ROW_BYTES_MAX);
				return -1;
			}
			t->size = t->size ? 2 * t->size : 4096;
			t->row = xrealloc(t->row, t->size, 1);
		}
		if (c == '"' && !t->json)
			quoted = !quoted;
		if (c == '\n')
			t->line++;
		if (c == '\n' && !quoted)
			break;
		t->row[n++] = c ? (char)c : ' ';
	}
	if (c == EOF && !n)
		return 0;
	t->line += c == EOF; /* the last one may lack its newline */
	if (n && t->row[n - 1] == '\r')
		n--;
	if (!t->row)
		t->row = xcalloc(t->size = 4096, 1);
	t->row[n] = '\0';
	return 1;
}

/* --- CSV --------------------------------------------------------------------------------------------------- */

/* Ends the cell that begins at `at`, without its quotes; what follows it, NULL if it was the last. */
static char *end_cell(char *at, char separator, const char **out)
{
	char *to = at, *end;

	*out = at;
	if (*at != '"') {
		end = strchr(at, separator);
		if (!end)
			return NULL;
		*end = '\0';
		return end + 1;
	}
	for (at++; *at; at++) {
		if (at[0] == '"' && at[1] != '"')
			break;
		at += at[0] == '"';
		*to++ = *at;
	}
	end = *at ? strchr(at, separator) : NULL;
	*to = '\0';
	return end ? end + 1 : NULL;
}

static size_t split(struct table *t)
{
	size_t n = 0;
	char *at = t->row;

	while (at && n < TABLE_COLUMNS_MAX)
		at = end_cell(at, t->separator, &t->cells[n++]);
	t->more_columns |= at != NULL;
	return n;
}

static char best_separator(const char *header)
{
	char best = ',';
	size_t most = 0;

	for (const char *s = ",;\t|"; *s; s++) {
		size_t n = 0;

		for (const char *c = header; *c; c++)
			n += *c == *s;
		if (n > most) {
			most = n;
			best = *s;
		}
	}
	return best;
}

static bool read_header(struct table *t)
{
	static const char bom[] = "\xef\xbb\xbf";
	int r = read_row(t);

	if (r <= 0) {
		if (r == 0 && ferror(t->file))
			printf("%s could not be read; is it a file?\n", t->path);
		else if (r == 0)
			printf("%s is empty.\n", t->path);
		return false;
	}
	if (str_starts(t->row, bom))
		memmove(t->row, t->row + strlen(bom), strlen(t->row) - strlen(bom) + 1);
	t->separator = best_separator(t->row);
	t->n = split(t);
	for (size_t i = 0; i < t->n; i++)
		t->names[i] = xstrdup(t->cells[i]);
	return true;
}

static int next_csv(struct table *t)
{
	size_t n;
	int r;

	do {
		r = read_row(t);
		if (r <= 0)
			return r;
	} while (!*t->row && t->n > 1); /* an empty line is no row */
	memset(t->cells, 0, t->n * sizeof(*t->cells));
	n = split(t);
	t->extra_cells += n > t->n;
	t->missing_cells += n < t->n;
	return 1;
}

/* --- JSON lines -------------------------------------------------------------------------------------------- */

static size_t column_for(struct table *t, const char *key)
{
	size_t i = table_column(t, key);

	if (i < t->n)
		return i;
	if (t->n == TABLE_COLUMNS_MAX)
		t->more_columns = true;
	else
		t->names[t->n++] = xstrdup(key);
	return i;
}

static void free_cells(struct table *t)
{
	for (size_t i = 0; t->json && i < t->n; i++) {
		free((void *)(uintptr_t)t->cells[i]);
		t->cells[i] = NULL;
	}
}

static char *json_cell(const json_t *value)
{
	auto_buf struct buf text = BUF_INIT(TABLE_ROW_BYTES_MAX);

	if (json_is_null(value))
		return xstrdup("");
	if (json_is_string(value))
		return xstrdup(json_string_value(value));
	json_add(&text, value, false);
	return xstrdup(buf_str(&text));
}

static int next_json(struct table *t)
{
	auto_json json_t *object = NULL;
	struct fh_error err;
	const char *key;
	json_t *value;
	int r;

	do {
		r = read_row(t);
		if (r <= 0)
			return r;
	} while (!t->row[strspn(t->row, " \t\r")]);
	if (json_parse(t->path, t->row, strlen(t->row), &object, &err) < 0 ||
			!json_is_object(object)) {
		printf("%s:%zu: not a JSON object.\n", t->path, t->line);
		return -1;
	}
	free_cells(t);
	json_object_foreach(object, key, value) {
		size_t i = column_for(t, key);

		if (i < TABLE_COLUMNS_MAX && !t->cells[i])
			t->cells[i] = json_cell(value);
	}
	return 1;
}

/* -------------------------------------------------------------------------------------------------------- */

bool table_open(const char *path, struct table *out)
{
	int first;

	*out = (struct table){ .path = path, .file = fopen(path, "re") };
	if (!out->file) {
		printf("%s: %s\n", path, strerror(errno));
		return false;
	}
	out->names = xcalloc(TABLE_COLUMNS_MAX, sizeof(*out->names));
	out->cells = xcalloc(TABLE_COLUMNS_MAX, sizeof(*out->cells));
	first = getc(out->file);
	ungetc(first, out->file);
	out->json = first == '{';
	if (!out->json && !read_header(out)) {
		table_close(out);
		return false;
	}
	return true;
}

void table_close(struct table *t)
{
	if (t->cells)
		free_cells(t);
	for (size_t i = 0; i < t->n; i++)
		free(t->names[i]);
	free(t->names);
	free(t->cells);
	free(t->row);
	if (t->file)
		fclose(t->file);
	*t = (struct table){ 0 };
}

int table_next(struct table *t)
{
	return t->json ? next_json(t) : next_csv(t);
}

size_t table_column(const struct table *t, const char *name)
{
	size_t i = 0;

	while (i < t->n && !str_eq(t->names[i], name))
		i++;
	return i;
}

bool cell_is_missing(const char *cell)
{
	static const char *const words[] = { "", "NA", "N/A", "null", "None", "?" };

	for (size_t i = 0; cell && i < ARRAY_SIZE(words); i++)
		if (str_eq(cell, words[i]))
			return true;
	return !cell || strcasecmp(cell + strspn(cell, "+-"), "nan") == 0;
}

bool cell_is_number(const char *cell, double *out)
{
	return str_to_double(cell, out);
}

bool cell_is_infinite(const char *cell)
{
	const char *word = cell + (*cell == '+' || *cell == '-');

	return strcasecmp(word, "inf") == 0 || strcasecmp(word, "infinity") == 0;
}

void print_count(uint64_t n, const char *noun)
{
	printf("%" PRIu64 " %s%s", n, noun, n == 1 ? "" : "s");
}
