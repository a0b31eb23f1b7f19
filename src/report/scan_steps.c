/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "base/str.h"
#include "report/scan_inside.h"
#include "trajectory/export.h"

#include <math.h>
#include <strings.h>

#define SCAN_TEXT_MAX 512
#define POINTS_BYTES_MAX (1L << 20)

struct scan_step *scan_add_step(struct scan *s)
{
	struct scan_step *step;

	s->steps = arena_grow(&s->own, s->steps, s->n_steps, sizeof(*s->steps));
	step = &s->steps[s->n_steps++];
	*step = (struct scan_step){ .kind = 'B', .score = NAN, .cost = NAN, .reward = NAN };
	return step;
}

void scan_add_broken_step(struct scan *s)
{
	scan_add_step(s)->kind = '?';
}

void scan_set_damage(struct scan *s, const struct fh_error *why)
{
	if (!s->row->damage)
		s->row->damage = arena_strdup(s->arena, why->message);
}

const char *scan_text(struct scan *s, const struct pyjson *v)
{
	const char *text = pyjson_string(v);
	auto_buf struct buf clean = BUF_INIT(4 * SCAN_TEXT_MAX);

	if (!text)
		return NULL;
	str_add_utf8(&clean, text, str_utf8_cut(text, v->len, SCAN_TEXT_MAX));
	return arena_strdup(s->arena, buf_str(&clean));
}

double scan_value(const struct pyjson *scores, const char *metric)
{
	double value = NAN;

	if (!metric || !scores || scores->kind != PYJSON_OBJECT)
		return NAN;
	for (const struct pyjson *v = scores->first; v; v = v->next)
		if (strcasecmp(v->key, metric) == 0)
			pyjson_double(v, &value);
	return value;
}

double scan_better(const struct run_row *row, double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) ? b : a;
	return row->maximize ? fmax(a, b) : fmin(a, b);
}

void scan_set_scores(struct scan *s, const struct pyjson *scores)
{
	struct run_row *row = s->row;

	if (!scores || scores->kind != PYJSON_ARRAY)
		return;
	row->best = NAN;
	for (const struct pyjson *v = scores->first; v; v = v->next) {
		row->last = scan_value(v, row->metric);
		row->best = scan_better(row, row->best, row->last);
	}
}

void scan_set_stats(struct scan *s, const struct pyjson *stats)
{
	struct run_row *row = s->row;

	pyjson_double(pyjson_get(stats, "task_cost"), &row->cost);
	pyjson_i64(pyjson_get(stats, "tokens_sent"), &row->tokens_sent);
	pyjson_i64(pyjson_get(stats, "tokens_received"), &row->tokens_received);
	pyjson_i64(pyjson_get(stats, "api_calls"), &row->calls);
	/* Tokens without a price are recorded with a cost of 0, by MLGym too. */
	if (row->cost == 0 && !export_is_free(stats) &&
			(row->tokens_sent > 0 || row->tokens_received > 0))
		row->cost = NAN;
}

void scan_sum_steps(struct scan *s)
{
	struct run_row *row = s->row;
	auto_buf struct buf kinds = BUF_INIT(POINTS_BYTES_MAX), points = BUF_INIT(POINTS_BYTES_MAX);

	row->steps = (int64_t)s->n_steps;
	row->tool_s = row->graded_s = 0;
	row->timeouts = row->refused = row->integrity = 0;
	for (size_t i = 0; i < s->n_steps; i++) {
		const struct scan_step *step = &s->steps[i];

		buf_add_char(&kinds, step->kind);
		row->tool_s += fmax(0, step->duration_s - step->graded_s - step->called_s);
		row->graded_s += step->graded_s;
		row->timeouts += step->timed_out;
		row->refused += step->refused;
		row->integrity += step->tampered;
		if (!isnan(step->reward))
			row->reward = step->reward + (isnan(row->reward) ? 0 : row->reward);
		if (!step->scored || step->is_apart || isnan(step->score))
			continue;
		buf_printf(&points, "%zu %.17g ", i + 1, step->score);
		buf_printf(&points, isnan(step->cost) ? "-\n" : "%.17g\n", step->cost);
	}
	/* Each step of a language model needs one call. Other calls led to no step. */
	if (row->calls > 0)
		row->format_errors = row->calls > row->steps ? row->calls - row->steps : 0;
	row->kinds = arena_strdup(s->arena, buf_str(&kinds));
	row->points = arena_strdup(s->arena, buf_str(&points));
}
