/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table.h"

#include "base/scope.h"

#include <math.h>

#define CHART_Y_LOW -1.0    /* lowest value in a picture */
#define CHART_ROUNDING 1e-9 /* tolerance for rounding, so that a tick at the edge counts */

static void chart_widen(double *low, double *high, const double *values, size_t n, double least)
{
	for (size_t i = 0; values && i < n; i++)
		if (isfinite(values[i]) && values[i] >= least) {
			*low = fmin(*low, values[i]);
			*high = fmax(*high, values[i]);
		}
}

/* Ranges of all x, and of the y that are at least `least`. */
static struct chart_axes chart_range(const struct chart *f, double least)
{
	struct chart_axes a = { 0 };

	for (size_t i = 0; i < f->n_lines; i++) {
		const struct chart_line *line = &f->lines[i];

		chart_widen(&a.x_low, &a.x_high, line->x, line->n, -HUGE_VAL);
		chart_widen(&a.y_low, &a.y_high, line->y, line->n, least);
		chart_widen(&a.y_low, &a.y_high, line->low, line->n, least);
		chart_widen(&a.y_low, &a.y_high, line->high, line->n, least);
	}
	return a;
}

struct chart_axes chart_axes_of(const struct chart *f)
{
	struct chart_axes a = chart_range(f, CHART_Y_LOW);

	if (f->x_high > 0)
		a.x_high = f->x_high;
	if (!(a.x_high > a.x_low))
		a.x_high = a.x_low + 1;
	if (!(a.y_high > a.y_low))
		a.y_high = a.y_low + 1;
	return a;
}

struct chart_ticks chart_ticks_of(double low, double high, int most)
{
	static const double steps[] = { 1, 2, 5, 10 };
	double least = (high - low) / most, power = pow(10, floor(log10(least)));
	double first, last;
	size_t i = 0;

	if (!isfinite(least) || !(power > 0))
		return (struct chart_ticks){ 0 };
	while (i + 1 < ARRAY_SIZE(steps) && steps[i] * power < least * (1 - CHART_ROUNDING))
		i++;
	first = ceil(low / (steps[i] * power) - CHART_ROUNDING);
	last = floor(high / (steps[i] * power) + CHART_ROUNDING);
	return (struct chart_ticks){ .first = first * steps[i] * power,
		.distance = steps[i] * power,
		.n = (int)(last - first) + 1 };
}

const char *chart_outside(struct arena *a, const struct chart *f)
{
	struct chart_axes all = chart_range(f, -HUGE_VAL), axes = chart_axes_of(f);
	size_t n = 0, right = 0, below = 0;
	const char *text = NULL;

	for (size_t i = 0; i < f->n_lines; i++)
		for (size_t k = 0; k < f->lines[i].n; k++) {
			const struct chart_line *line = &f->lines[i];
			bool is_right = line->x[k] > axes.x_high;

			n++;
			right += is_right;
			below += !is_right &&
					(line->y[k] < axes.y_low ||
							(line->low && line->low[k] < axes.y_low));
		}
	if (right)
		text = arena_printf(a,
				"%zu of %zu points lie right of the picture; the furthest is at %.4g.",
				right, n, all.x_high);
	if (below)
		text = arena_printf(a,
				"%s%s%zu of %zu points or their bands reach below the picture, "
				"down to %.4g.",
				text ? text : "", text ? " " : "", below, n, all.y_low);
	return text;
}
