/* SPDX-License-Identifier: Apache-2.0 */
#include "aci.h"
#include "table.h"

#include "base/mem.h"
#include "base/scope.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* plot: draws points from two columns of a table as text. */

#define POINTS_MAX 1000000
#define COLUMNS 72
#define ROWS 20

struct point {
	double x, y;
};

struct points {
	struct point *items;
	size_t n;
	struct point min, max;
	/* number of rows that are not drawn: they lack a number in x or y, or come after POINTS_MAX
	 * points */
	size_t left_out;
};

static void plot_add(struct points *p, double x, double y)
{
	if (p->n == POINTS_MAX) {
		p->left_out++;
		return;
	}
	p->items = xgrow(p->items, p->n, sizeof(*p->items));
	p->min = p->n ? (struct point){ fmin(p->min.x, x), fmin(p->min.y, y) }
		      : (struct point){ x, y };
	p->max = p->n ? (struct point){ fmax(p->max.x, x), fmax(p->max.y, y) }
		      : (struct point){ x, y };
	p->items[p->n++] = (struct point){ x, y };
}

static bool plot_find_column(const struct data_table *t, const char *name, size_t *out)
{
	*out = table_column(t, name);
	if (*out < t->n)
		return true;
	printf("%s has no column '%s'; `describe %s` shows what there is.\n", t->path, name,
			t->path);
	return false;
}

static void plot_add_row(const struct data_table *t, size_t x, size_t y, struct points *out)
{
	struct point p;

	if (t->cells[x] && t->cells[y] && cell_is_number(t->cells[x], &p.x) &&
			cell_is_number(t->cells[y], &p.y))
		plot_add(out, p.x, p.y);
	else
		out->left_out++;
}

/* Adds the points of all rows. Returns 0, or -1 after printing a sentence. */
static int plot_add_table(
		struct data_table *t, const char *x_name, const char *y_name, struct points *out)
{
	size_t x, y;
	int r;

	if (t->json) { /* JSON lines have no header: read a row to learn the columns */
		r = table_next(t);
		if (r <= 0)
			return r;
	}
	if (!plot_find_column(t, x_name, &x) || !plot_find_column(t, y_name, &y))
		return -1;
	if (t->json)
		plot_add_row(t, x, y, out);
	while ((r = table_next(t)) > 0)
		plot_add_row(t, x, y, out);
	return r;
}

static bool plot_read_points(
		const char *path, const char *x_name, const char *y_name, struct points *out)
{
	struct data_table t;
	int r;

	if (table_is_parquet(path)) {
		printf("%s is a Parquet file, which plot can't read: convert it to CSV.\n", path);
		return false;
	}
	if (!table_open(path, &t))
		return false;
	r = plot_add_table(&t, x_name, y_name, out);
	table_close(&t);
	if (r < 0)
		return false;
	if (!out->n)
		printf("No row of %s has a number in both columns.\n", path);
	return out->n;
}

/* Maps a value between min and max to a number from 0 to 1. */
static double plot_place(double v, double min, double max)
{
	/* Halve first: max - min may be too large for a double. */
	double half = max / 2 - min / 2;

	return half > 0 ? (v / 2 - min / 2) / half : 0.5;
}

/* --- drawing ---------------------------------------------------------------------------------- */

static void plot_draw(const struct points *p, const char *x_name, const char *y_name)
{
	static char cells[ROWS][COLUMNS + 1];

	for (size_t row = 0; row < ROWS; row++)
		memset(cells[row], ' ', COLUMNS);
	for (size_t i = 0; i < p->n; i++) {
		size_t column = (size_t)lround(
				plot_place(p->items[i].x, p->min.x, p->max.x) * (COLUMNS - 1));
		size_t row = (size_t)lround(
				(1 - plot_place(p->items[i].y, p->min.y, p->max.y)) * (ROWS - 1));
		char *cell = &cells[row][column];

		*cell = *cell == ' ' ? '.' : *cell == '.' ? 'o' : '@';
	}
	printf("%s\n", y_name);
	for (size_t row = 0; row < ROWS; row++) {
		if (row == 0 || row == ROWS - 1)
			printf("%10.4g |%s\n", row ? p->min.y : p->max.y, cells[row]);
		else
			printf("%10s |%s\n", "", cells[row]);
	}
	printf("%10s +", "");
	for (int i = 0; i < COLUMNS; i++)
		putchar('-');
	printf("\n%12s%-*.4g%.4g  %s\n", "", COLUMNS - 8, p->min.x, p->max.x, x_name);
}

static int plot_run(int argc, char **argv)
{
	struct points p = { 0 };
	bool drawn;

	if (argc != 4)
		return aci_usage(&aci_plot, NULL);
	drawn = plot_read_points(argv[1], argv[2], argv[3], &p);
	if (drawn) {
		plot_draw(&p, argv[2], argv[3]);
		print_count(p.n, "point");
		if (p.left_out) {
			fputs(", ", stdout);
			print_count(p.left_out, "row");
			fputs(" left out", stdout);
		}
		putchar('\n');
	}
	free(p.items);
	return drawn ? 0 : 1;
}

const struct aci_command aci_plot = { "plot", "plot <path> <x> <y>", plot_run };
