/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- rows of bytes ---------------------------------------------------------------------------- */

static int table_next_byte(struct data_table *t)
{
	return t->head_at < t->head_n ? (unsigned char)t->head[t->head_at++]
				      : getc_unlocked(t->file);
}

/* Reads a row without its last newline. A row has several lines if a quoted cell contains
 * newlines. */
static int table_read_row(struct data_table *t)
{
	size_t n = 0;
	bool quoted = false;
	int c;

	while ((c = table_next_byte(t)) != EOF) {
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
	t->line += c == EOF; /* count the last line, even without a newline */
	if (n && t->row[n - 1] == '\r')
		n--;
	if (!t->row)
		t->row = xcalloc(t->size = 4096, 1);
	t->row[n] = '\0';
	return 1;
}

/* --- CSV -------------------------------------------------------------------------------------- */

/* Terminates the cell at `at` and removes its quotes. Returns the start of the next cell; NULL: the
 * cell was the last. */
static char *table_end_cell(char *at, char separator, char **out)
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

static size_t table_split(struct data_table *t)
{
	size_t n = 0;
	char *at = t->row;

	while (at && n < ACI_TABLE_COLUMNS_MAX)
		at = table_end_cell(at, t->separator, &t->cells[n++]);
	t->more_columns |= at != NULL;
	return n;
}

static char table_best_separator(const char *header)
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

/* True if the line begins a JSON array, which may span several lines. */
static bool table_is_array(const char *line)
{
	static const char *const blanks = " \t\r";
	auto_json json_t *value = NULL;
	const char *inside = line + strspn(line, blanks) + 1;

	inside += strspn(inside, blanks);
	if (!*inside || *inside == '{')
		return true;
	return json_parse("", line, strlen(line), &value, NULL) == 0 && json_is_array(value);
}

static bool table_read_header(struct data_table *t, bool maybe_array)
{
	int r;

	t->json = maybe_array;
	r = table_read_row(t);
	t->json = false;
	if (r > 0 && maybe_array && table_is_array(t->row)) {
		printf("%s has JSON arrays, not JSON lines of objects: it has no columns with names.\n",
				t->path);
		return false;
	}
	if (r == 0)
		printf(ferror(t->file) ? "%s could not be read; is it a file?\n" : "%s is empty.\n",
				t->path);
	if (r <= 0)
		return false;
	t->separator = table_best_separator(t->row);
	t->n = table_split(t);
	for (size_t i = 0; i < t->n; i++)
		t->names[i] = xstrdup(t->cells[i]);
	return true;
}

static int table_next_csv(struct data_table *t)
{
	size_t n;
	int r;

	do {
		r = table_read_row(t);
		if (r <= 0)
			return r;
	} while (!*t->row && t->n > 1); /* skip empty lines */
	memset(t->cells, 0, t->n * sizeof(*t->cells));
	n = table_split(t);
	t->extra_cells += n > t->n;
	t->missing_cells += n < t->n;
	return 1;
}

/* --- JSON lines ------------------------------------------------------------------------------- */

static size_t table_column_for(struct data_table *t, const char *key)
{
	size_t i = table_column(t, key);

	if (i < t->n)
		return i;
	if (t->n == ACI_TABLE_COLUMNS_MAX)
		t->more_columns = true;
	else
		t->names[t->n++] = xstrdup(key);
	return i;
}

static void table_free_cells(struct data_table *t)
{
	for (size_t i = 0; t->json && i < t->n; i++) {
		free(t->cells[i]);
		t->cells[i] = NULL;
	}
}

static char *table_json_cell(json_t *value)
{
	auto_buf struct buf text = BUF_INIT(TABLE_ROW_BYTES_MAX);

	if (json_is_null(value))
		return xstrdup("");
	if (json_is_string(value))
		return xstrdup(json_string_value(value));
	json_add(&text, value, false);
	return xstrdup(buf_str(&text));
}

static int table_next_json(struct data_table *t)
{
	auto_json json_t *object = NULL;
	struct fh_error err;
	const char *key;
	json_t *value;
	int r;

	do {
		r = table_read_row(t);
		if (r <= 0)
			return r;
	} while (!t->row[strspn(t->row, " \t\r")]);
	if (json_parse(t->path, t->row, strlen(t->row), &object, &err) < 0 ||
			!json_is_object(object)) {
		printf("%s:%zu: not a JSON object.\n", t->path, t->line);
		return -1;
	}
	table_free_cells(t);
	json_object_foreach(object, key, value) {
		size_t i = table_column_for(t, key);

		if (i < ACI_TABLE_COLUMNS_MAX && !t->cells[i])
			t->cells[i] = table_json_cell(value);
	}
	return 1;
}

/* --- formats ---------------------------------------------------------------------------------- */

static bool table_fill_head(struct data_table *t)
{
	t->head_at = 0;
	t->head_n = fread(t->head, 1, sizeof(t->head), t->file);
	return t->head_n;
}

/* Returns the name of the file's compression; NULL: not compressed, or by an unknown program. */
static const char *table_compressed_by(const struct data_table *t)
{
	static const struct {
		const char *name, *magic;
		size_t at, n;
	} kinds[] = {
		{ "gzip", "\x1f\x8b", 0, 2 }, { "zip", "PK\3\4", 0, 4 },
		{ "xz", "\xfd\x37zXZ\0", 0, 6 }, { "zstd", "\x28\xb5\x2f\xfd", 0, 4 },
		{ "bzip2", "1AY&SY", 4, 6 }, /* at offset 4, after "BZh" and the level */
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (t->head_n >= kinds[i].at + kinds[i].n &&
				memcmp(t->head + kinds[i].at, kinds[i].magic, kinds[i].n) == 0)
			return kinds[i].name;
	return NULL;
}

/* Skips white space, and returns the first other byte, which tells JSON from CSV. 0: the file has
 * no other byte. */
static char table_first_byte(struct data_table *t)
{
	size_t at = t->head_at;

	do {
		for (; at < t->head_n; at++) {
			if (!strchr(" \t\r\n", t->head[at]) || !t->head[at])
				return t->head[at];
			if (t->head[at] == '\n') {
				t->line++;
				t->head_at = at + 1;
			}
		}
		at = 0;
	} while (table_fill_head(t));
	return '\0';
}

static bool table_read_start(struct data_table *t)
{
	static const char bom[] = "\xef\xbb\xbf";
	const char *packed;
	char first;

	table_fill_head(t);
	packed = table_compressed_by(t);
	if (packed) {
		printf("%s is compressed (%s): unpack it first.\n", t->path, packed);
		return false;
	}
	if (t->head_n >= strlen(bom) && memcmp(t->head, bom, strlen(bom)) == 0)
		t->head_at = strlen(bom);
	first = table_first_byte(t);
	t->json = first == '{';
	return t->json || table_read_header(t, first == '[');
}

bool table_is_parquet(const char *path)
{
	char magic[4] = "";
	FILE *file = fopen(path, "re");
	bool is = file && fread(magic, 1, 4, file) == 4 && memcmp(magic, "PAR1", 4) == 0;

	if (file)
		fclose(file);
	return is;
}

bool table_open(const char *path, struct data_table *out)
{
	*out = (struct data_table){ .path = path, .file = fopen(path, "re") };
	if (!out->file) {
		printf("%s: %s\n", path, strerror(errno));
		return false;
	}
	out->names = xcalloc(ACI_TABLE_COLUMNS_MAX, sizeof(*out->names));
	out->cells = xcalloc(ACI_TABLE_COLUMNS_MAX, sizeof(*out->cells));
	if (!table_read_start(out)) {
		table_close(out);
		return false;
	}
	return true;
}

void table_close(struct data_table *t)
{
	if (t->cells)
		table_free_cells(t);
	for (size_t i = 0; i < t->n; i++)
		free(t->names[i]);
	free(t->names);
	free(t->cells);
	free(t->row);
	if (t->file)
		fclose(t->file);
	*t = (struct data_table){ 0 };
}

int table_next(struct data_table *t)
{
	return t->json ? table_next_json(t) : table_next_csv(t);
}

size_t table_column(const struct data_table *t, const char *name)
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
	char *end;

	if (strcasecmp(word, "inf") == 0 || strcasecmp(word, "infinity") == 0)
		return true;
	/* Detects numbers that are too large, such as 1e400. strtod() would accept hexadecimal,
	 * too. */
	return !cell[strspn(cell, "0123456789.eE+-")] && isinf(strtod(cell, &end)) && !*end;
}

void print_count(uint64_t n, const char *noun)
{
	printf("%" PRIu64 " %s%s", n, noun, n == 1 ? "" : "s");
}
