/* SPDX-License-Identifier: Apache-2.0 */
#include "aci.h"
#include "parquet_program.h"
#include "table.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <strings.h>
#include <unistd.h>

/*
 * describe: summarises the columns of a data file, which it reads row by row. For long files,
 * quartiles and commonest values come from a random sample of the rows. The sample is a reservoir
 * (Vitter, Random Sampling with a Reservoir, 1985), the same at each call for one file. The agent's
 * Python reads Parquet files.
 */

#define SAMPLE_MAX 20000
#define FEW_COLUMNS 100
#define SHOWN_VALUES 5
#define DESCRIBE_SHOWN_BYTES 24
#define NAME_BYTES 80
#define DESCRIBE_KEPT_BYTES 256
#define RANDOM_START 88172645463325252ULL

struct column {
	size_t missing, seen;
	size_t numbers, integers, infinite, truths, dates;
	double min, max, sum;
	char **sample;
	size_t n_sample;
};

/* --- reading ---------------------------------------------------------------------------------- */

/* Random numbers by xorshift64 (Marsaglia, 2003). */
static uint64_t describe_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static bool describe_cell_is_truth(const char *cell)
{
	return strcasecmp(cell, "true") == 0 || strcasecmp(cell, "false") == 0;
}

/* True for a date such as 2026-11-21, with or without a time after the date. */
static bool describe_cell_is_date(const char *cell)
{
	static const char form[] = "dddd-dd-dd";

	for (size_t i = 0; form[i]; i++)
		if (form[i] == 'd' ? !isdigit((unsigned char)cell[i]) : cell[i] != form[i])
			return false;
	return !cell[10] || cell[10] == ' ' || cell[10] == 'T';
}

/* Copies the start of a cell, which may have megabytes. Cells with equal starts count as equal. */
static char *describe_cell_copy(const char *cell)
{
	return xstrndup(cell, strnlen(cell, DESCRIBE_KEPT_BYTES));
}

static void column_sample(struct column *c, const char *cell, size_t most, uint64_t *state)
{
	size_t at;

	if (!c->sample)
		c->sample = xcalloc(most, sizeof(*c->sample));
	if (c->n_sample < most) {
		c->sample[c->n_sample++] = describe_cell_copy(cell);
		return;
	}
	at = describe_random(state) % c->seen;
	if (at >= most)
		return;
	free(c->sample[at]);
	c->sample[at] = describe_cell_copy(cell);
}

/* Adds a cell to the statistics of a column. NULL: the cell is missing. */
static void column_look(struct column *c, const char *cell, size_t most, uint64_t *state)
{
	double v;

	if (!cell) {
		c->missing++;
		return;
	}
	c->seen++;
	if (cell_is_number(cell, &v)) {
		c->min = c->numbers ? fmin(c->min, v) : v;
		c->max = c->numbers ? fmax(c->max, v) : v;
		c->sum += v;
		c->numbers++;
		c->integers += floor(v) == v && !strpbrk(cell, ".eE");
	}
	c->infinite += cell_is_infinite(cell);
	c->truths += describe_cell_is_truth(cell);
	c->dates += describe_cell_is_date(cell);
	column_sample(c, cell, most, state);
}

/* --- printing --------------------------------------------------------------------------------- */

/* True if all cells of the column are numbers. */
static bool column_has_numbers(const struct column *c)
{
	return c->seen && c->numbers + c->infinite == c->seen;
}

static const char *column_type(const struct column *c)
{
	if (!c->seen)
		return "empty";
	if (c->integers == c->seen)
		return "integer";
	if (column_has_numbers(c))
		return "number";
	if (c->truths == c->seen)
		return "boolean";
	return c->dates == c->seen ? "date" : "text";
}

static int describe_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int describe_by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns the q-quantile of n sorted values. Interpolates between the two nearest values, as NumPy
 * does by default. */
static double describe_quantile(const double *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t below = (size_t)at;

	if (below + 1 >= n)
		return sorted[n - 1];
	at -= (double)below;
	/* Don't subtract the two values: the difference may be too large for a double. */
	return (1 - at) * sorted[below] + at * sorted[below + 1];
}

/* Prints statistics of the column's finite numbers. */
static void column_tell_numbers(const struct column *c)
{
	double *values = xcalloc(c->n_sample + 1, sizeof(*values));
	/* Print all digits of whole numbers, which may be ids or times. */
	int digits = c->integers == c->numbers ? 15 : 6;
	size_t n = 0;

	for (size_t i = 0; i < c->n_sample; i++)
		n += cell_is_number(c->sample[i], &values[n]);
	qsort(values, n, sizeof(*values), describe_by_value);
	if (c->numbers)
		printf("min %.*g, ", digits, c->min);
	if (n)
		printf("quartiles %.*g, %.*g, %.*g, ", digits, describe_quantile(values, n, 0.25),
				digits, describe_quantile(values, n, 0.5), digits,
				describe_quantile(values, n, 0.75));
	if (c->numbers)
		printf("max %.*g, mean %g", digits, c->max, c->sum / (double)c->numbers);
	if (c->infinite)
		printf("%s%zu infinite", c->numbers ? ", " : "", c->infinite);
	free(values);
}

struct frequent {
	const char *text;
	size_t n;
};

static int describe_by_count(const void *a, const void *b)
{
	const struct frequent *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return strcmp(x->text, y->text);
}

/* Prints the start of a text: whole characters only. Characters that would move the cursor are
 * printed as \xNN. */
static void describe_print_cut(const char *text, size_t most)
{
	auto_buf struct buf shown = BUF_INIT(4096);
	size_t n = strlen(text), cut = n > most ? most : n;
	ssize_t bad = str_utf8_invalid(text, n);
	auto_free char *start = NULL;

	if (bad < 0 || (size_t)bad >= most)
		cut = str_utf8_cut(text, bad < 0 ? n : (size_t)bad, most);
	start = xstrndup(text, cut);
	str_add_printable(&shown, start);
	fputs(buf_str(&shown), stdout);
	if (cut < n)
		fputs("...", stdout);
}

static void column_tell_texts(struct column *c)
{
	struct frequent *texts = xcalloc(c->n_sample, sizeof(*texts));
	size_t n = 0;

	qsort(c->sample, c->n_sample, sizeof(*c->sample), describe_by_text);
	for (size_t i = 0; i < c->n_sample; i++) {
		if (!n || !str_eq(texts[n - 1].text, c->sample[i]))
			texts[n++].text = c->sample[i];
		texts[n - 1].n++;
	}
	qsort(texts, n, sizeof(*texts), describe_by_count);
	printf("%zu different%s:", n, c->n_sample < c->seen ? " in a sample" : "");
	for (size_t i = 0; i < n && i < SHOWN_VALUES; i++) {
		printf("%s '", i ? "," : "");
		describe_print_cut(texts[i].text, DESCRIBE_SHOWN_BYTES);
		printf("' x%zu", texts[i].n);
	}
	free(texts);
}

static void column_tell(const char *name, struct column *c)
{
	describe_print_cut(name, NAME_BYTES);
	printf(": %s, %zu missing%s", column_type(c), c->missing, c->seen ? "; " : "");
	if (column_has_numbers(c))
		column_tell_numbers(c);
	else if (c->seen)
		column_tell_texts(c);
	putchar('\n');
}

/* --- the command ------------------------------------------------------------------------------ */

static int describe_table(struct data_table *t)
{
	struct column *columns = xcalloc(ACI_TABLE_COLUMNS_MAX, sizeof(*columns));
	uint64_t state = RANDOM_START;
	/* Sample fewer rows of files with many columns, and of JSON files, whose later rows may add
	 * columns. */
	size_t rows = 0, most = t->json || t->n > FEW_COLUMNS ? SAMPLE_MAX / 10 : SAMPLE_MAX;
	int r;

	while ((r = table_next(t)) > 0) {
		rows++;
		for (size_t i = 0; i < t->n; i++) {
			const char *cell = t->cells[i];

			column_look(&columns[i], cell_is_missing(cell) ? NULL : cell, most, &state);
		}
	}
	printf("%s: ", t->path);
	print_count(rows, "row");
	fputs(", ", stdout);
	print_count(t->n, "column");
	printf(" (%s)\n",
			t->json                                ? "JSON lines"
					: t->separator == '\t' ? "separated by tabs"
							       : "CSV");
	if (rows > most)
		printf("Quartiles and commonest values are those of %zu rows, drawn evenly.\n",
				most);
	for (size_t i = 0; i < t->n; i++) {
		/* If a key first appears in a later row, its cells are missing in all rows
		 * before. */
		columns[i].missing = rows - columns[i].seen;
		column_tell(t->names[i], &columns[i]);
	}
	if (t->extra_cells || t->missing_cells)
		printf("Rows with more cells than the header: %zu, with fewer: %zu.\n",
				t->extra_cells, t->missing_cells);
	if (t->more_columns)
		printf("There are more columns than %d: these are left out.\n",
				ACI_TABLE_COLUMNS_MAX);
	for (size_t i = 0; i < t->n; i++) {
		for (size_t j = 0; j < columns[i].n_sample; j++)
			free(columns[i].sample[j]);
		free(columns[i].sample);
	}
	free(columns);
	return r < 0 ? 1 : 0;
}

/* Replaces this process by the python3 that the agent would run, with parquet.py. Returns only if
 * the file is not a Parquet file, or if there is no python3. */
static bool describe_parquet(const char *path)
{
	if (!table_is_parquet(path))
		return false;
	fflush(stdout);
	execlp("python3", "python3", "-c", parquet_program, path, (char *)NULL);
	printf("%s is a Parquet file, which needs python3 and pyarrow.\n", path);
	return true;
}

static int describe_run(int argc, char **argv)
{
	struct data_table t;
	struct stat st;
	int r;

	if (argc != 2)
		return aci_usage(&aci_describe, NULL);
	/* Refuse a pipe, because the file is opened twice. */
	if (stat(argv[1], &st) == 0 && !S_ISREG(st.st_mode)) {
		printf("%s is not a regular file.\n", argv[1]);
		return 1;
	}
	if (describe_parquet(argv[1]) || !table_open(argv[1], &t))
		return 1;
	r = describe_table(&t);
	table_close(&t);
	return r;
}

const struct aci_command aci_describe = { "describe", "describe <path>", describe_run };
