/* SPDX-License-Identifier: Apache-2.0 */
#include "grade/score.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "python/repr.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

void score_release(struct score *s)
{
	arena_release(&s->arena);
	*s = (struct score){ 0 };
}

static void score_add(struct score *s, const struct fh_metric *metric)
{
	s->metrics = arena_grow(&s->arena, s->metrics, s->n, sizeof(*s->metrics));
	s->metrics[s->n] = *metric;
	s->metrics[s->n++].name = arena_strdup(&s->arena, metric->name);
}

void score_copy(struct score *to, const struct fh_metric *metrics, size_t n)
{
	struct score copy = { 0 };

	for (size_t i = 0; i < n; i++)
		score_add(&copy, &metrics[i]);
	score_release(to);
	*to = copy;
}

const double *score_find(const struct score *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->metrics[i].name, name) == 0)
			return &s->metrics[i].value;
	/* A metric's name may differ in case: published baselines have 'Accuracy', a task
	 * 'accuracy'. */
	for (size_t i = 0; i < s->n; i++)
		if (strcasecmp(s->metrics[i].name, name) == 0)
			return &s->metrics[i].value;
	return NULL;
}

#define INTEGER_DIGITS 19 /* most decimal digits of an integer of 64 bits */

static int score_add_metric(
		struct score *s, const char *name, const json_t *value, struct fh_error *err)
{
	size_t n = strlen(name), printable = 0;

	while (name[printable] >= ' ' && name[printable] <= '~')
		printable++;
	if (!n || n > SCORE_NAME_BYTES || printable < n)
		return error_say(
				err, EPROTO, "a metric's name is empty, too long or not printable");
	if (!json_is_number(value) || !isfinite(json_number_value(value)))
		return error_say(err, EPROTO, "metric '%s' is not a finite number", name);
	if (s->n == SCORE_METRICS_MAX)
		return error_say(err, EPROTO, "more than %d metrics", SCORE_METRICS_MAX);
	score_add(s,
			&(struct fh_metric){
					.name = name,
					.value = json_number_value(value),
					.whole = json_is_integer(value),
			});
	return 0;
}

int score_increase(struct score *s, const char *name, double by, struct fh_error *err)
{
	auto_json json_t *number = json_real(by);

	for (size_t i = 0; i < s->n; i++) {
		struct fh_metric *metric = &s->metrics[i];

		if (!str_eq(metric->name, name))
			continue;
		metric->value += by;
		metric->whole = false;
		return isfinite(metric->value)
				? 0
				: error_say(err, EPROTO, "metric '%s' is not a finite number",
						  name);
	}
	return score_add_metric(s, name, number, err);
}

/* Copies JSON text, with ".0" after each integer that may not fit into 64 bits. Such an integer is
 * then parsed as a real number. */
static void score_round_integers(const char *text, size_t n, struct buf *out)
{
	bool quoted = false, is_integer = true;
	size_t digits = 0;

	for (size_t i = 0; i < n; i++) {
		bool is_digit = text[i] >= '0' && text[i] <= '9';
		bool is_real = text[i] && strchr(".eE", text[i]);

		if (digits >= INTEGER_DIGITS && !is_digit && !is_real)
			buf_add_str(out, ".0");
		if (quoted && text[i] == '\\' && i + 1 < n)
			buf_add_char(out, text[i++]);
		else if (text[i] == '"')
			quoted = !quoted;
		is_integer = is_digit ? is_integer : !is_real;
		digits = !quoted && is_digit && is_integer ? digits + 1 : 0;
		buf_add_char(out, text[i]);
	}
}

/* Parses a result as Python does, where integers may have any size. Integers beyond 64 bits become
 * real numbers. */
static int score_parse(const char *text, size_t n, json_t **out, struct fh_error *err)
{
	auto_buf struct buf rounded = BUF_INIT(2 * n + 1);

	if (json_parse("result", text, n, out, NULL) == 0)
		return 0;
	score_round_integers(text, n, &rounded);
	return json_parse("result", buf_str(&rounded), rounded.len, out, err);
}

int score_read(const char *text, size_t n, struct score_reading *out, struct fh_error *err)
{
	struct score_reading reading = { 0 };
	auto_json json_t *object = NULL;
	const char *name, *rejection = NULL;
	json_t *value;
	int r;

	r = score_parse(text, n, &object, err);
	if (r < 0)
		return r;
	if (!json_is_object(object))
		return error_say(err, EPROTO, "it is not a JSON object");
	r = json_get_str(object, "error", JSON_OPTIONAL, &rejection, err);
	if (r < 0)
		return r;
	if (rejection) {
		r = json_get_bool(object, "integrity", JSON_OPTIONAL, &reading.tampering, err);
		if (r < 0)
			return r;
		reading.rejection = xstrndup(rejection,
				str_utf8_cut(rejection, strlen(rejection), SCORE_REJECTION_BYTES));
		*out = reading;
		return 0;
	}
	json_object_foreach(object, name, value) {
		r = score_add_metric(&reading.score, name, value, err);
		if (r < 0) {
			score_release(&reading.score);
			return r;
		}
	}
	*out = reading;
	return 0;
}

/* Scores whose relative difference is below this are equal: summing numbers in another order may
 * change that much. */
#define ROUNDING 1e-9

int score_compare(double value, double other, bool maximize)
{
	double difference = value - other;

	if (!(fabs(difference) > ROUNDING * fmax(fabs(value), fabs(other))))
		return 0;
	return (difference > 0) == maximize ? 1 : -1;
}

json_t *score_json(const struct fh_metric *metric)
{
	bool fits = fabs(metric->value) < 0x1p63;

	return metric->whole && fits ? json_integer((json_int_t)metric->value)
				     : json_real(metric->value);
}

static json_t *score_to_object(const struct score *s)
{
	json_t *object = json_object();

	for (size_t i = 0; i < s->n; i++)
		json_object_set_new(object, s->metrics[i].name, score_json(&s->metrics[i]));
	return object;
}

void score_add_repr(struct buf *out, const struct score *s)
{
	auto_json json_t *object = score_to_object(s);

	repr_add_json(out, object);
}

void score_add_json(struct buf *out, const struct score *s)
{
	auto_json json_t *object = score_to_object(s);

	json_add(out, object, true);
}
