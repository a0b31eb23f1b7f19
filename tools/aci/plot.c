/* SPDX-License-Identifier: Apache-2.0 */
#include "aci.h"
#include "png.h"
#include "table.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* plot: two columns against each other, as points, in a picture and in text. */

#define POINTS_MAX 1000000
#define TEXT_COLUMNS 72
#define TEXT_ROWS 20
#define WIDTH 720
#define HEIGHT 480
#define LEFT 70
#define BOTTOM 40
#define MARGIN 20
#define TICKS 5

struct point {
	double x, y;
};

struct points {
	struct point *items;
	size_t n, size;
	struct point min, max;
	size_t left_out; /* rows without two numbers */
};

static void add(struct points *p, double x, double y)
{
	if (p->n == POINTS_MAX) {
		p->left_out++;
		return;
	}
	if (p->n == p->size) {
		p->size = p->size ? 2 * p->size : 1024;
		p->items = xrealloc(p->items, p->size, sizeof(*p->items));
	}
	p->min = p->n ? (struct point){ fmin(p->min.x, x), fmin(p->min.y, y) }
		      : (struct point){ x, y };
	p->max = p->n ? (struct point){ fmax(p->max.x, x), fmax(p->max.y, y) }
		      : (struct point){ x, y };
	p->items[p->n++] = (struct point){ x, y };
}

static bool find_column(const struct table *t, const char *name, size_t *out)
{
	*out = table_column(t, name);
	if (*out < t->n)
		return true;
	printf("%s has no column '%s'; `describe %s` shows what there is.\n", t->path, name,
			t->path);
	return false;
}

static bool read_points(
		const char *path, const char *x_name, const char *y_name, struct points *out)
{
	struct table t;
	size_t x, y;
	int r = 1;

	if (!table_open(path, &t))
		return false;
	if (t.json)
		r = table_next(&t); /* its columns show in its rows */
	if (r > 0 && (!find_column(&t, x_name, &x) || !find_column(&t, y_name, &y)))
		r = -1;
	for (bool first = t.json; r > 0; first = false) {
		struct point p;

		if (!first && (r = table_next(&t)) <= 0)
			break;
		if (t.cells[x] && t.cells[y] && cell_is_number(t.cells[x], &p.x) &&
				cell_is_number(t.cells[y], &p.y))
			add(out, p.x, p.y);
		else
			out->left_out++;
	}
	table_close(&t);
	if (r == 0 && !out->n)
		printf("No row of %s has a number in both columns.\n", path);
	return r == 0 && out->n;
}

/* Where a value lies, from 0 to 1. */
static double place(double v, double min, double max)
{
	/* The whole may be too large for a double. */
	double half = max / 2 - min / 2;

	return half > 0 ? (v / 2 - min / 2) / half : 0.5;
}

/* --- as text ---------------------------------------------------------------------------------------------- */

static void draw_text(const struct points *p, const char *x_name, const char *y_name)
{
	static char cells[TEXT_ROWS][TEXT_COLUMNS + 1];

	for (size_t row = 0; row < TEXT_ROWS; row++)
		memset(cells[row], ' ', TEXT_COLUMNS);
	for (size_t i = 0; i < p->n; i++) {
		size_t column = (size_t)lround(
				place(p->items[i].x, p->min.x, p->max.x) * (TEXT_COLUMNS - 1));
		size_t row = (size_t)lround(
				(1 - place(p->items[i].y, p->min.y, p->max.y)) * (TEXT_ROWS - 1));
		char *cell = &cells[row][column];

		*cell = *cell == ' ' ? '.' : *cell == '.' ? 'o' : '@';
	}
	printf("%s\n", y_name);
	for (size_t row = 0; row < TEXT_ROWS; row++) {
		if (row == 0 || row == TEXT_ROWS - 1)
			printf("%10.4g |%s\n", row ? p->min.y : p->max.y, cells[row]);
		else
			printf("%10s |%s\n", "", cells[row]);
	}
	printf("%10s +", "");
	for (int i = 0; i < TEXT_COLUMNS; i++)
		putchar('-');
	printf("\n%12s%-*.4g%.4g  %s\n", "", TEXT_COLUMNS - 8, p->min.x, p->max.x, x_name);
}

/* --- as a picture ------------------------------------------------------------------------------------------ */

static void draw_axes(struct picture *pic, const struct points *p)
{
	picture_line(pic, LEFT, HEIGHT - BOTTOM, WIDTH - MARGIN, HEIGHT - BOTTOM);
	picture_line(pic, LEFT, MARGIN, LEFT, HEIGHT - BOTTOM);
	for (int i = 0; i <= TICKS; i++) {
		double part = (double)i / TICKS;
		int x = LEFT + (int)(part * (WIDTH - MARGIN - LEFT));
		int y = HEIGHT - BOTTOM - (int)(part * (HEIGHT - BOTTOM - MARGIN));
		char text[32];

		picture_line(pic, x, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 5);
		picture_line(pic, LEFT - 5, y, LEFT, y);
		snprintf(text, sizeof(text), "%.4g", (1 - part) * p->min.x + part * p->max.x);
		picture_text(pic, x - 4 * (int)strlen(text) / 2, HEIGHT - BOTTOM + 10, text);
		snprintf(text, sizeof(text), "%.4g", (1 - part) * p->min.y + part * p->max.y);
		picture_text(pic, LEFT - 10 - 4 * (int)strlen(text), y - 2, text);
	}
}

static bool draw_picture(const struct points *p, const char *path)
{
	struct picture *pic = picture_new(WIDTH, HEIGHT);
	bool done;

	draw_axes(pic, p);
	for (size_t i = 0; i < p->n; i++) {
		int x = LEFT +
				(int)(place(p->items[i].x, p->min.x, p->max.x) *
						(WIDTH - MARGIN - LEFT - 1));
		int y = HEIGHT - BOTTOM -
				(int)(place(p->items[i].y, p->min.y, p->max.y) *
						(HEIGHT - BOTTOM - MARGIN - 1));

		picture_dot(pic, x, y);
	}
	done = picture_write(pic, path);
	picture_free(pic);
	return done;
}

/* By whatever path. */
static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int run_plot(int argc, char **argv)
{
	const char *path = argc > 4 ? argv[4] : "plot.png";
	struct points p = { 0 };
	int r = 1;

	if (argc < 4 || argc > 5) {
		printf("Usage: %s\n", aci_plot.help);
		return 1;
	}
	if (is_same_file(argv[1], path)) {
		printf("%s is the data itself: the picture needs another name.\n", path);
		return 1;
	}
	if (read_points(argv[1], argv[2], argv[3], &p)) {
		draw_text(&p, argv[2], argv[3]);
		print_count(p.n, "point");
		if (p.left_out) {
			fputs(", ", stdout);
			print_count(p.left_out, "row");
			fputs(" left out", stdout);
		}
		r = draw_picture(&p, path) ? 0 : 1;
		printf(r ? "; %s could not be written\n" : "; the picture is %s\n", path);
	}
	free(p.items);
	return r;
}

const struct aci_command aci_plot = { "plot", "plot <path> <x> <y> [<output>]", run_plot };
