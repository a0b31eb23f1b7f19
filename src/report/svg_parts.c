/* SPDX-License-Identifier: Apache-2.0 */
#include "report/svg_inside.h"

#include "base/scope.h"

#include <math.h>
#include <string.h>

#define SVG_NAME_MAX 40 /* characters of a name */
#define SVG_LETTER 7.2  /* width of a character */

void svg_add_text(struct buf *out, const char *text)
{
	auto_buf struct buf safe = BUF_INIT(65536);

	str_add_printable(&safe, text);
	for (const char *c = buf_str(&safe); *c; c++) {
		switch (*c) {
		case '&':
			buf_add_str(out, "&amp;");
			break;
		case '<':
			buf_add_str(out, "&lt;");
			break;
		case '>':
			buf_add_str(out, "&gt;");
			break;
		case '"':
			buf_add_str(out, "&quot;");
			break;
		default:
			buf_add_char(out, *c);
		}
	}
}

void svg_add_name(struct buf *out, const char *name)
{
	size_t n = str_utf8_cut(name, strlen(name), SVG_NAME_MAX);
	auto_buf struct buf cut = BUF_INIT(256);

	buf_add(&cut, name, n);
	svg_add_text(out, buf_str(&cut));
	buf_add_str(out, name[n] ? "..." : "");
}

int svg_name_width(const char *name)
{
	size_t n = strlen(name);

	return (int)(SVG_LETTER * (double)(n < SVG_NAME_MAX ? n : SVG_NAME_MAX + 3));
}

void svg_label(struct buf *out, double x, double y, const char *anchor, const char *text)
{
	buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	svg_add_name(out, text);
	buf_add_str(out, "</text>\n");
}

double svg_x(const struct chart_axes *a, double x)
{
	return SVG_LEFT + (x - a->x_low) / (a->x_high - a->x_low) * PLOT_WIDTH;
}

double svg_y(const struct chart_axes *a, double y)
{
	double at = (y - a->y_low) / (a->y_high - a->y_low);

	return HEIGHT - BOTTOM - fmax(at, 0) * (HEIGHT - TOP - BOTTOM);
}

/* Rounding may leave a tiny number at 0, which becomes 0. */
void svg_add_tick(struct buf *out, const struct chart_ticks *ticks, double value)
{
	buf_printf(out, "%.6g</text>\n", fabs(value) < ticks->distance / 2 ? 0.0 : value);
}

const char *svg_colour(size_t index)
{
	/* The page's style gives them values that suit its background. */
	static const char *const colours[] = { "var(--c0)", "var(--c1)", "var(--c2)", "var(--c3)",
		"var(--c4)", "var(--c5)", "var(--c6)", "var(--c7)" };

	return colours[index % ARRAY_SIZE(colours)];
}

/* A letter for each line, so that marks and legend can be matched without colour. */
static char svg_mark(size_t i)
{
	static const char marks[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

	return marks[i % (sizeof(marks) - 1)];
}

void svg_add_mark(struct buf *out, size_t i, double x, double y)
{
	buf_printf(out, "<text class=\"mark\" x=\"%.1f\" y=\"%.1f\" fill=\"%s\">%c</text>", x,
			y + 4, svg_colour(i), svg_mark(i));
}

void svg_add_band(struct buf *out, const struct chart_axes *a, const struct chart_line *line,
		size_t index)
{
	char command = 'M';

	if (!line->low || !line->high)
		return;
	buf_printf(out, "<path class=\"band\" fill=\"%s\" d=\"", svg_colour(index));
	for (size_t i = 0; i < line->n; i++)
		if (isfinite(line->low[i]) && line->x[i] <= a->x_high) {
			buf_printf(out, "%c%.1f %.1f", command, svg_x(a, line->x[i]),
					svg_y(a, line->low[i]));
			command = 'L';
		}
	for (size_t i = line->n; command == 'L' && i-- > 0;)
		if (isfinite(line->high[i]) && line->x[i] <= a->x_high)
			buf_printf(out, "L%.1f %.1f", svg_x(a, line->x[i]),
					svg_y(a, line->high[i]));
	buf_add_str(out, "\"/>\n");
}
