/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/figure.h"

#include "base/mem.h"
#include "cli/interrupt.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void samples_add(struct samples *s, double value)
{
	s->values = xgrow(s->values, s->n, sizeof(*s->values));
	s->values[s->n++] = value;
}

struct figure *bench_figure(struct bench *b, const char *unit, const char *format, ...)
{
	struct figure *f = &b->figures[b->n_figures];
	va_list ap;

	if (b->n_figures == BENCH_FIGURES_MAX)
		abort();
	b->n_figures++;
	f->unit = unit;
	va_start(ap, format);
	vsnprintf(f->name, sizeof(f->name), format, ap);
	va_end(ap);
	return f;
}

int bench_batch(const struct bench *b)
{
	return (b->n + BENCH_ROUNDS - 1) / BENCH_ROUNDS;
}

int bench_go_on(struct fh_error *err)
{
	return interrupt_wanted() ? error_say(err, EINTR, "stopped") : 0;
}
