/* SPDX-License-Identifier: Apache-2.0 */
#include "report/svg_inside.h"

#define BANDS_MOST 4       /* bands that one picture has */
#define PANEL_SCALE 0.36   /* size of a panel's axes as a share of the picture's */
#define PANEL_WIDTH 202    /* PLOT_WIDTH in this scale, and a part of a pixel */
#define PANEL_HEIGHT 116   /* the height of the axes too */
#define PANEL_TICKS 3      /* most distances between ticks */
#define PANEL_HEAD 24      /* room for the name above a panel */
#define PANEL_GAP 16       /* between two panels */
#define PANELS_TITLE 40    /* room for the sentence above all panels */
#define PANEL_LETTER_PX 16 /* room for a line's letter before its name */

struct svg_panels svg_panels_of(const struct report_table *t, int width, int height)
{
	const struct chart *f = t->chart;
	struct svg_panels p = { .column_px = PANEL_WIDTH, .top = height, .bottom = height };
	size_t bands = 0;
	int rows;

	for (size_t i = 0; i < f->n_lines; i++) {
		int name_px = PANEL_LETTER_PX + svg_name_width(f->lines[i].name);

		bands += f->lines[i].low && f->lines[i].high;
		p.column_px = name_px > p.column_px ? name_px : p.column_px;
	}
	if (bands <= BANDS_MOST)
		return p;
	p.n = f->n_lines;
	p.column_px += PANEL_GAP;
	p.columns = width / p.column_px > 1 ? width / p.column_px : 1;
	rows = ((int)p.n + p.columns - 1) / p.columns;
	p.bottom += PANELS_TITLE + rows * (PANEL_HEAD + PANEL_HEIGHT + PANEL_GAP);
	return p;
}

/* Defines the bands and the frame, which the panels use. */
static void panels_define(struct buf *out, const struct report_table *t, const struct chart_axes *a,
		const struct chart_ticks *ticks)
{
	buf_printf(out, "<defs><g id=\"%s-frame\">", t->id);
	for (int i = 0; i < ticks->n; i++)
		buf_printf(out, "<path class=\"grid\" d=\"M%d %.1fh%d\"/>", SVG_LEFT,
				svg_y(a, ticks->first + i * ticks->distance), PLOT_WIDTH);
	buf_add_str(out, "</g>\n");
	for (size_t i = 0; i < t->chart->n_lines; i++) {
		buf_printf(out, "<g id=\"%s-band-%zu\">", t->id, i);
		svg_add_band(out, a, &t->chart->lines[i], i);
		buf_add_str(out, "</g>\n");
	}
	buf_add_str(out, "</defs>\n");
}

/* Writes the ticks left of a panel. */
static void panels_add_ticks(struct buf *out, const struct chart_axes *a,
		const struct chart_ticks *ticks, int top)
{
	for (int i = 0; i < ticks->n; i++) {
		double value = ticks->first + i * ticks->distance;

		buf_printf(out, "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
				SVG_LEFT - 6, top + PANEL_SCALE * (svg_y(a, value) - TOP) + 4);
		svg_add_tick(out, ticks, value);
	}
}

void svg_add_panels(struct buf *out, const struct report_table *t, const struct chart_axes *a,
		const struct svg_panels *panels)
{
	struct chart_ticks ticks = chart_ticks_of(a->y_low, a->y_high, PANEL_TICKS);

	if (!panels->n)
		return;
	panels_define(out, t, a, &ticks);
	buf_printf(out, "<text x=\"%d\" y=\"%d\">Each line with its band, on the axes above</text>\n",
			SVG_LEFT, panels->top + 24);
	for (size_t i = 0; i < panels->n; i++) {
		int row = (int)i / panels->columns, column = (int)i % panels->columns;
		int left = SVG_LEFT + column * panels->column_px;
		int top = panels->top + PANELS_TITLE + PANEL_HEAD +
				row * (PANEL_HEAD + PANEL_HEIGHT + PANEL_GAP);

		svg_add_mark(out, i, left + 6, top - 14);
		svg_label(out, left + PANEL_LETTER_PX, top - 10, "start", t->chart->lines[i].name);
		if (column == 0)
			panels_add_ticks(out, a, &ticks, top);
		buf_printf(out, "<g class=\"panel\" transform=\"translate(%.1f %.1f) scale(%g)\">",
				left - PANEL_SCALE * SVG_LEFT, top - PANEL_SCALE * TOP,
				PANEL_SCALE);
		buf_printf(out, "<use href=\"#%s-frame\"/>", t->id);
		buf_printf(out, "<use class=\"faint\" href=\"#%s-lines\"/>", t->id);
		buf_printf(out, "<use href=\"#%s-band-%zu\"/>", t->id, i);
		buf_printf(out, "<use href=\"#%s-line-%zu\"/></g>\n", t->id, i);
	}
}
