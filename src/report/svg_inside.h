/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_SVG_INSIDE_H
#define REPORT_SVG_INSIDE_H

#include "report/svg.h"

/* Parts of pictures, in svg_parts.c. */

#define PLOT_WIDTH 560 /* width of the axes; names of lines are right of them */
#define HEIGHT 380
#define SVG_LEFT 72 /* the axis' title and labels of ticks fit beside each other */
#define TOP 15
#define BOTTOM 45

double svg_x(const struct chart_axes *a, double x);
double svg_y(const struct chart_axes *a, double y);

/* Adds a name, which is cut if it is long. */
void svg_add_name(struct buf *out, const char *name);
void svg_label(struct buf *out, double x, double y, const char *anchor, const char *text);

/* Room for a name. */
int svg_name_width(const char *name);

/* Ends a tick's element with its number. */
void svg_add_tick(struct buf *out, const struct chart_ticks *ticks, double value);

/* Colour of a line. */
const char *svg_colour(size_t index);

/* Adds the letter of a line. */
void svg_add_mark(struct buf *out, size_t index, double x, double y);

/* Adds the band of a line, if it has one. */
void svg_add_band(struct buf *out, const struct chart_axes *a, const struct chart_line *line,
		size_t index);

/*
 * Many bands would hide each other. Then the picture has none, and each line has a panel below. A
 * panel shows the line with its band, and the other lines behind it, on the same axes.
 */
struct svg_panels {
	size_t n; /* 0: the bands are few, so the picture has them */
	int columns, column_px;
	int top;    /* height of the picture above */
	int bottom; /* height of the picture with its panels */
};

/* `width` is the room right of SVG_LEFT, and `height` the height of the picture above. */
struct svg_panels svg_panels_of(const struct report_table *t, int width, int height);

/* Needs the elements "<id of the table>-lines" and "<id of the table>-line-<index>". */
void svg_add_panels(struct buf *out, const struct report_table *t, const struct chart_axes *a,
		const struct svg_panels *panels);

#endif
