/* SPDX-License-Identifier: Apache-2.0 */
#include "report/svg_inside.h"

#include "base/mem.h"
#include "base/scope.h"

#include <math.h>
#include <string.h>

#define SVG_TICKS 8   /* most distances between ticks */
#define SVG_LEGEND 62 /* from the axes to the names */
#define SVG_MARK 13   /* least distance of letters that do not overlap */
#define SVG_APART 40  /* enough distance between two letters on lines */
#define SVG_CLEAR 12  /* enough distance between a letter and other lines */
#define SVG_TRIES 64  /* places of a line that are tried for its letter */
#define SVG_RINGS 12  /* rings of places around a point that are tried for its letter */

/* Room for the names of a table's rows, and a gap. */
static int svg_rows_width(const struct report_table *t)
{
	int width = 0;

	for (size_t row = 0; row < t->n_rows; row++) {
		int w = svg_name_width(t->cells[row * t->n_columns].text);

		width = w > width ? w : width;
	}
	return width + 20;
}

static void svg_begin(struct buf *out, const struct report_table *t, int width, int height)
{
	/* Text of 12 units is never less than 9 pixels high. */
	buf_printf(out,
			"<svg viewBox=\"0 0 %d %d\" style=\"min-width:%dpx\" role=\"img\" "
			"aria-label=\"",
			width, height, width * 3 / 4);
	svg_add_text(out, t->title);
	buf_add_str(out, "\">\n");
}

/* --- axes ------------------------------------------------------------------------------------- */

static void svg_frame(struct buf *out, const struct chart *f, const struct chart_axes *a)
{
	struct chart_ticks x = chart_ticks_of(a->x_low, a->x_high, SVG_TICKS);
	struct chart_ticks y = chart_ticks_of(a->y_low, a->y_high, SVG_TICKS);

	for (int i = 0; i < y.n; i++) {
		double value = y.first + i * y.distance, at = svg_y(a, value);

		buf_printf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", SVG_LEFT, at,
				SVG_LEFT + PLOT_WIDTH);
		buf_printf(out, "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
				SVG_LEFT - 6, at + 4);
		svg_add_tick(out, &y, value);
	}
	for (int i = 0; i < x.n; i++) {
		double value = x.first + i * x.distance;

		buf_printf(out, "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">",
				svg_x(a, value), HEIGHT - BOTTOM + 16);
		svg_add_tick(out, &x, value);
	}
	svg_label(out, SVG_LEFT + PLOT_WIDTH / 2.0, HEIGHT - 8, "middle", f->x_title);
	buf_printf(out, "<text transform=\"translate(14 %d) rotate(-90)\" text-anchor=\"middle\">",
			HEIGHT / 2);
	svg_add_text(out, f->y_title);
	buf_add_str(out, "</text>\n");
}

/* --- dashes ----------------------------------------------------------------------- */

static const char *const dashes[] = { "", "7 3", "2 3", "10 3 2 3", "14 4", "4 4", "1 5" };
static bool svg_is_inside(const struct chart_axes *a, double x, double y)
{
	return x <= a->x_high && y >= a->y_low;
}

/* --- places of letters ------------------------------------------------------------------------ */

struct svg_place {
	double x, y;
};

/* Positions of the letters that were drawn so far, so that the next one lies apart. */
struct svg_letters {
	struct svg_place *items;
	size_t n;
};

/* Distance to the nearest letter, but at most `most`. */
static double svg_room(const struct svg_letters *letters, double x, double y, double most)
{
	for (size_t i = 0; i < letters->n; i++)
		most = fmin(most, hypot(x - letters->items[i].x, y - letters->items[i].y));
	return most;
}

/* Writes a letter at a place. If another one is there, it goes to the nearest free place, and a
 * line leads to it. */
static void svg_add_letter(
		struct buf *out, size_t index, double x, double y, struct svg_letters *letters)
{
	double free_x = x, free_y = y;

	for (int i = 8; svg_room(letters, free_x, free_y, SVG_MARK) < SVG_MARK &&
			i < 8 * SVG_RINGS + 8;
			i++) {
		int ring = i / 8;

		free_x = x + SVG_MARK * ring * cos(i * M_PI / 4);
		free_y = y - SVG_MARK * ring * sin(i * M_PI / 4);
		if (free_x < SVG_LEFT || free_x > SVG_LEFT + PLOT_WIDTH || free_y < TOP ||
				free_y > HEIGHT - BOTTOM) {
			free_x = x;
			free_y = y;
		}
	}
	if (free_x != x || free_y != y)
		buf_printf(out,
				"<path class=\"leader\" d=\"M%.1f %.1fL%.1f %.1f\"/>"
				"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>",
				x, y, free_x, free_y, x, y, svg_colour(index));
	letters->items[letters->n++] = (struct svg_place){ free_x, free_y };
	svg_add_mark(out, index, free_x, free_y);
}

/* Rates a point of a line as the place of its letter. The best is far from other letters and lines,
 * and from the ends of the picture. */
static double svg_rate(const struct chart *f, const struct chart_axes *a, size_t index,
		size_t point, const struct svg_letters *letters)
{
	const struct chart_line *line = &f->lines[index];
	double x = svg_x(a, line->x[point]), y = svg_y(a, line->y[point]), clear = SVG_CLEAR;
	double edge = fmin(x - SVG_LEFT, SVG_LEFT + PLOT_WIDTH - x);

	for (size_t i = 0; i < f->n_lines; i++)
		if (i != index && f->lines[i].x == line->x && isfinite(f->lines[i].y[point]))
			clear = fmin(clear, fabs(y - svg_y(a, f->lines[i].y[point])));
	return svg_room(letters, x, y, SVG_APART) + clear + fmin(edge, SVG_MARK);
}

/* Writes the letter of a line at the point of it that is best. */
static void svg_add_line_letter(struct buf *out, const struct chart *f, const struct chart_axes *a,
		size_t index, struct svg_letters *letters)
{
	const struct chart_line *line = &f->lines[index];
	double best = -1;
	size_t chosen = 0;

	for (size_t i = 0; i < line->n; i += 1 + line->n / SVG_TRIES) {
		double rate;

		if (!isfinite(line->y[i]) || !svg_is_inside(a, line->x[i], line->y[i]))
			continue;
		rate = svg_rate(f, a, index, i, letters);
		if (rate <= best)
			continue;
		best = rate;
		chosen = i;
	}
	if (best >= 0)
		svg_add_letter(out, index, svg_x(a, line->x[chosen]), svg_y(a, line->y[chosen]),
				letters);
}

/* --- lines and points ------------------------------------------------------------------------- */

/* Draws a triangle at the edge that is next to a point outside, and points to it. */
static void svg_add_outside(
		struct buf *out, const struct chart_axes *a, double x, double y, const char *colour)
{
	bool is_right = x > a->x_high;

	if (!isfinite(x) || !isfinite(y) || svg_is_inside(a, x, y))
		return;
	buf_printf(out, "<path class=\"outside\" fill=\"%s\" d=\"M%.1f %.1f%s\"/>", colour,
			svg_x(a, fmin(x, a->x_high)), svg_y(a, y),
			is_right ? "l-9 -5v10z" : "l-5 -9h10z");
}

static void svg_add_line(struct buf *out, const struct chart_axes *a, const struct chart_line *line,
		size_t index, const char *table)
{
	const char *colour = svg_colour(index);
	double before = NAN;

	buf_printf(out,
			"<path class=\"line\" id=\"%s-line-%zu\" stroke=\"%s\" stroke-dasharray=\"%s\" "
			"d=\"",
			table, index, colour, dashes[index % ARRAY_SIZE(dashes)]);
	for (size_t i = 0; i < line->n; i++) {
		double x = svg_x(a, line->x[i]), y = svg_y(a, line->y[i]);

		/* Write only the corners of a step line. */
		if (!isfinite(y) || line->x[i] > a->x_high ||
				(line->steps && y == before && i + 1 < line->n))
			continue;
		if (line->steps && !isnan(before))
			buf_printf(out, "H%.1fV%.1f", x, y);
		else
			buf_printf(out, "%c%.1f %.1f", isnan(before) ? 'M' : 'L', x, y);
		before = y;
	}
	buf_add_str(out, "\"/>\n");
	for (size_t i = 0; i < line->n; i++)
		svg_add_outside(out, a, line->x[i], line->y[i], colour);
}

static void svg_add_point(struct buf *out, const struct chart_axes *a,
		const struct chart_line *line, size_t index, struct svg_letters *letters)
{
	double x = line->x[0], y = line->y[0];

	if (!isfinite(x) || !isfinite(y))
		return;
	svg_add_outside(out, a, x, y, svg_colour(index));
	svg_add_letter(out, index, svg_x(a, fmin(x, a->x_high)) - (x > a->x_high ? 16 : 0),
			svg_y(a, y) - (y < a->y_low ? 16 : 0), letters);
}

/* Names the lines, right of the axes. */
static void svg_legend(struct buf *out, const struct chart *f)
{
	for (size_t i = 0; i < f->n_lines; i++) {
		double y = TOP + 10 + 18.0 * (double)i;

		if (f->kind == CHART_LINES)
			buf_printf(out,
					"<path class=\"line\" stroke=\"%s\" stroke-dasharray=\"%s\" "
					"d=\"M%d %.1fh28\"/>",
					svg_colour(i), dashes[i % ARRAY_SIZE(dashes)],
					SVG_LEFT + PLOT_WIDTH + 12, y);
		svg_add_mark(out, i, SVG_LEFT + PLOT_WIDTH + 50, y);
		svg_label(out, SVG_LEFT + PLOT_WIDTH + SVG_LEGEND, y + 4, "start",
				f->lines[i].name);
	}
}

static void svg_lines(struct buf *out, const struct report_table *t)
{
	const struct chart *f = t->chart;
	struct chart_axes a = chart_axes_of(f);
	auto_free struct svg_place *places = xcalloc(f->n_lines + 1, sizeof(*places));
	struct svg_letters letters = { .items = places };
	struct svg_panels panels;
	int height = HEIGHT, names = 0;

	for (size_t i = 0; i < f->n_lines; i++)
		if (svg_name_width(f->lines[i].name) > names)
			names = svg_name_width(f->lines[i].name);
	if ((int)f->n_lines * 18 + TOP + 10 > height)
		height = (int)f->n_lines * 18 + TOP + 10;
	panels = svg_panels_of(t, PLOT_WIDTH + SVG_LEGEND + names, height);
	svg_begin(out, t, SVG_LEFT + PLOT_WIDTH + SVG_LEGEND + names, panels.bottom);
	svg_frame(out, f, &a);
	buf_printf(out, "<g id=\"%s-lines\">\n", t->id);
	for (size_t i = 0; i < f->n_lines; i++) {
		const struct chart_line *line = &f->lines[i];

		if (f->kind == CHART_LINES && !panels.n)
			svg_add_band(out, &a, line, i);
		if (f->kind == CHART_LINES)
			svg_add_line(out, &a, line, i, t->id);
		else if (line->n)
			svg_add_point(out, &a, line, i, &letters);
	}
	buf_add_str(out, "</g>\n");
	svg_legend(out, f);
	/* Letters are above all lines. */
	for (size_t i = 0; f->kind == CHART_LINES && i < f->n_lines; i++)
		svg_add_line_letter(out, f, &a, i, &letters);
	svg_add_panels(out, t, &a, &panels);
	buf_add_str(out, "</svg>\n");
}

/* --- heat map and bars ------------------------------------------------------------------------ */

static void svg_heat(struct buf *out, const struct report_table *t)
{
	const int row_px = 22, column_px = 78;
	size_t columns = t->n_columns - 1;
	int names_px = svg_rows_width(t), heads = 0, head_px;

	for (size_t c = 0; c < columns; c++)
		if (svg_name_width(t->columns[c + 1]) > heads)
			heads = svg_name_width(t->columns[c + 1]);
	/* The heads of columns are turned by 35 degrees. */
	head_px = 20 + heads * 6 / 10;
	svg_begin(out, t, names_px + (int)columns * column_px + heads * 8 / 10,
			head_px + (int)t->n_rows * row_px);
	for (size_t c = 0; c < columns; c++) {
		buf_printf(out, "<text transform=\"translate(%d %d) rotate(-35)\">",
				names_px + (int)c * column_px + 20, head_px - 8);
		svg_add_name(out, t->columns[c + 1]);
		buf_add_str(out, "</text>\n");
	}
	for (size_t row = 0; row < t->n_rows; row++) {
		const struct cell *cells = t->cells + row * t->n_columns;
		int y = head_px + (int)row * row_px;

		svg_label(out, names_px - 8, y + 15, "end", cells[0].text);
		for (size_t c = 0; c < columns; c++) {
			double shade = t->chart->shades[row * columns + c];
			int x = names_px + (int)c * column_px;

			if (!isnan(shade))
				buf_printf(out,
						"<rect class=\"heat\" x=\"%d\" y=\"%d\" width=\"%d\" "
						"height=\"%d\" fill-opacity=\"%.2f\"/>",
						x, y, column_px - 2, row_px - 2,
						fmin(fmax(shade, 0), 1));
			if (isfinite(cells[c + 1].value))
				buf_printf(out,
						"<text x=\"%d\" y=\"%d\" "
						"text-anchor=\"middle\">%.4g</text>",
						x + column_px / 2, y + 15, cells[c + 1].value);
			buf_add_char(out, '\n');
		}
	}
	buf_add_str(out, "</svg>\n");
}

static void svg_bars(struct buf *out, const struct report_table *t)
{
	const int row_px = 20, bars_px = 560, values_px = 70;
	int names_px = svg_rows_width(t);
	double most = 0;

	for (size_t row = 0; row < t->n_rows; row++)
		most = fmax(most, t->cells[row * t->n_columns + t->chart->bar_column].value);
	svg_begin(out, t, names_px + bars_px + values_px, (int)t->n_rows * row_px + 6);
	for (size_t row = 0; most > 0 && row < t->n_rows; row++) {
		const struct cell *cells = t->cells + row * t->n_columns;
		double value = cells[t->chart->bar_column].value;
		double width = bars_px * fmax(value, 0) / most;
		int y = (int)row * row_px;

		svg_label(out, names_px - 8, y + 14, "end", cells[0].text);
		buf_printf(out, "<rect class=\"bar\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
				names_px, y + 2, width, row_px - 5);
		svg_label(out, names_px + width + 6, y + 14, "start",
				cells[t->chart->bar_column].text);
	}
	buf_add_str(out, "</svg>\n");
}

void svg_write(struct buf *out, const struct report_table *t)
{
	switch (t->chart->kind) {
	case CHART_LINES:
	case CHART_POINTS:
		svg_lines(out, t);
		break;
	case CHART_HEAT:
		svg_heat(out, t);
		break;
	case CHART_BARS:
		svg_bars(out, t);
		break;
	}
}
