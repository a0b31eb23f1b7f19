/* SPDX-License-Identifier: Apache-2.0 */
#include "grade/csv/metrics.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Metrics are computed as long doubles and rounded at the end. So the order of rows hardly
 * matters. */

#define NUMBER_CHARS_MAX 64
#define LOG_LOSS_CLIP 1e-15L
/* Largest prediction. No metric overflows then, so a refusal depends on predictions alone. */
#define PREDICTION_MAX 1e100

static int metric_add_value(struct metric_values *out, const char *name, long double value,
		struct fh_error *err)
{
	double rounded = (double)value;

	if (!isfinite(rounded))
		return error_say(err, EINVAL, "the predictions are too large to be scored");
	out->values[out->n++] = (struct metric_value){ .name = name, .value = rounded };
	return 0;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static bool metric_to_double(const struct csv_field *field, double *out)
{
	char text[NUMBER_CHARS_MAX + 1];

	if (field->len > NUMBER_CHARS_MAX)
		return false;
	memcpy(text, field->text, field->len);
	text[field->len] = '\0';
	return str_to_double(text, out);
}

struct metric_pair {
	double truth, prediction;
};

/* Reports the error that prediction `i` is not a number. */
static int metric_no_number(const struct scored *s, size_t i, struct fh_error *err)
{
	auto_buf struct buf shown = BUF_INIT(256);

	csv_quote(&shown, &s->rows[i].prediction);
	return error_say(err, EINVAL, "line %zu: %s is not a number (column %s)", s->rows[i].line,
			buf_str(&shown), s->column);
}

static int metric_to_pair(
		const struct scored *s, size_t i, struct metric_pair *out, struct fh_error *err)
{
	if (!metric_to_double(&s->rows[i].truth, &out->truth))
		return error_say(err, EBADMSG, "a value of column %s is not a number", s->column);
	if (!metric_to_double(&s->rows[i].prediction, &out->prediction))
		return metric_no_number(s, i, err);
	if (fabs(out->prediction) > PREDICTION_MAX)
		return error_say(err, EINVAL,
				"line %zu: the number is too large to be scored (column %s)",
				s->rows[i].line, s->column);
	return 0;
}

/* Converts predictions and true values of all rows to numbers: a heap array of s->n pairs. */
static int metric_to_pairs(const struct scored *s, struct metric_pair **out, struct fh_error *err)
{
	auto_free struct metric_pair *pairs = xcalloc(s->n, sizeof(*pairs));

	for (size_t i = 0; i < s->n; i++) {
		int r = metric_to_pair(s, i, &pairs[i], err);

		if (r < 0)
			return r;
	}
	*out = take_ptr(pairs);
	return 0;
}

/* Converts all rows to pairs of numbers: predictions and true values, which must be 0 or 1. */
static int metric_to_binary_pairs(
		const struct scored *s, struct metric_pair **out, struct fh_error *err)
{
	auto_free struct metric_pair *pairs = NULL;
	int r = metric_to_pairs(s, &pairs, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < s->n; i++) {
		if (pairs[i].truth != 0 && pairs[i].truth != 1)
			return error_say(err, EBADMSG, "a value of column %s is neither 0 nor 1",
					s->column);
	}
	*out = take_ptr(pairs);
	return 0;
}

static long double metric_squared_error(const struct metric_pair *pairs, size_t n)
{
	long double sum = 0;

	for (size_t i = 0; i < n; i++) {
		long double d = (long double)pairs[i].truth - pairs[i].prediction;

		sum += d * d;
	}
	return sum;
}

static int metric_rmse(const struct scored *s, struct metric_values *out, struct fh_error *err)
{
	auto_free struct metric_pair *pairs = NULL;
	int r = metric_to_pairs(s, &pairs, err);

	return r < 0 ? r
		     : metric_add_value(out, "rmse",
				       sqrtl(metric_squared_error(pairs, s->n) / s->n), err);
}

static int metric_mae(const struct scored *s, struct metric_values *out, struct fh_error *err)
{
	auto_free struct metric_pair *pairs = NULL;
	long double sum = 0;
	int r = metric_to_pairs(s, &pairs, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < s->n; i++)
		sum += fabsl((long double)pairs[i].truth - pairs[i].prediction);
	return metric_add_value(out, "mae", sum / s->n, err);
}

static long double metric_squared_spread(const struct metric_pair *pairs, size_t n)
{
	long double mean = 0;
	long double sum = 0;

	for (size_t i = 0; i < n; i++)
		mean += (long double)pairs[i].truth / n;
	for (size_t i = 0; i < n; i++)
		sum += (pairs[i].truth - mean) * (pairs[i].truth - mean);
	return sum;
}

static int metric_r2(const struct scored *s, struct metric_values *out, struct fh_error *err)
{
	auto_free struct metric_pair *pairs = NULL;
	long double spread, wrong, r2;
	int r = metric_to_pairs(s, &pairs, err);

	if (r < 0)
		return r;
	wrong = metric_squared_error(pairs, s->n);
	spread = metric_squared_spread(pairs, s->n);
	if (spread > 0)
		r2 = 1 - wrong / spread;
	else
		r2 = wrong > 0 ? 0 : 1;
	r = metric_add_value(out, "r2", r2, err);
	return r < 0 ? r : metric_add_value(out, "rmse", sqrtl(wrong / s->n), err);
}

static int metric_log_loss(const struct scored *s, struct metric_values *out, struct fh_error *err)
{
	auto_free struct metric_pair *pairs = NULL;
	long double sum = 0;
	int r = metric_to_binary_pairs(s, &pairs, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < s->n; i++) {
		long double p = pairs[i].prediction;

		if (p < 0 || p > 1)
			return error_say(err, EINVAL,
					"line %zu: %g is not a probability from 0 to 1 (column %s)",
					s->rows[i].line, pairs[i].prediction, s->column);
		if (pairs[i].truth == 0)
			p = 1 - p;
		sum -= logl(fminl(fmaxl(p, LOG_LOSS_CLIP), 1 - LOG_LOSS_CLIP));
	}
	return metric_add_value(out, "log_loss", sum / s->n, err);
}

static int metric_compare_predictions(const void *a, const void *b)
{
	const struct metric_pair *x = a;
	const struct metric_pair *y = b;

	return (x->prediction > y->prediction) - (x->prediction < y->prediction);
}

/* Computes the metric auc, the area under the ROC curve. It is the share of pairs of a 1 and a 0
 * where the 1 has the higher prediction. Equal predictions count half. */
static int metric_auc(const struct scored *s, struct metric_values *out, struct fh_error *err)
{
	auto_free struct metric_pair *pairs = NULL;
	long double zeros = 0, ones = 0, won = 0;
	int r = metric_to_binary_pairs(s, &pairs, err);

	if (r < 0)
		return r;
	qsort(pairs, s->n, sizeof(*pairs), metric_compare_predictions);
	for (size_t i = 0; i < s->n;) {
		long double tied_zeros = 0, tied_ones = 0;
		double rating = pairs[i].prediction;

		for (; i < s->n && pairs[i].prediction == rating; i++) {
			tied_ones += pairs[i].truth == 1;
			tied_zeros += pairs[i].truth == 0;
		}
		won += tied_ones * (zeros + tied_zeros / 2);
		ones += tied_ones;
		zeros += tied_zeros;
	}
	if (zeros == 0 || ones == 0)
		return error_say(err, EBADMSG, "column %s has one class only", s->column);
	return metric_add_value(out, "auc", won / (zeros * ones), err);
}

/* --- labels ----------------------------------------------------------------------------------- */

/* A class label of a CSV field. Labels are equal if their texts are equal, or if both are numbers
 * of equal value: 1 and 1.0. */
struct label {
	struct csv_field text;
	bool is_number;
	double number;
	size_t row;
	bool is_truth;
};

static struct label label_of(const struct csv_field *field)
{
	struct label label = { .text = *field };

	label.is_number = metric_to_double(field, &label.number);
	return label;
}

/* Order of class labels for qsort(): numbers by value, then texts by their bytes. */
static int label_compare(const void *a, const void *b)
{
	const struct label *x = a;
	const struct label *y = b;
	size_t len = x->text.len < y->text.len ? x->text.len : y->text.len;
	int order;

	if (x->is_number != y->is_number)
		return x->is_number ? -1 : 1;
	if (x->is_number)
		return (x->number > y->number) - (x->number < y->number);
	order = memcmp(x->text.text, y->text.text, len);
	if (order)
		return order;
	return (x->text.len > y->text.len) - (x->text.len < y->text.len);
}

static bool label_equal(const struct csv_field *a, const struct csv_field *b)
{
	struct label x, y;

	if (a->len == b->len && memcmp(a->text, b->text, a->len) == 0)
		return true;
	x = label_of(a);
	y = label_of(b);
	return label_compare(&x, &y) == 0;
}

/* Fails if all true labels are numbers and a predicted label is not: such a prediction can't be
 * right. */
static int metrics_labels_check(const struct scored *s, struct fh_error *err)
{
	size_t worded = s->n; /* index of the first prediction that is not a number */

	for (size_t i = s->n; i-- > 0;) {
		double number;

		if (!metric_to_double(&s->rows[i].truth, &number))
			return 0;
		if (!metric_to_double(&s->rows[i].prediction, &number))
			worded = i;
	}
	return worded < s->n ? metric_no_number(s, worded, err) : 0;
}

static int metric_accuracy(const struct scored *s, struct metric_values *out, struct fh_error *err)
{
	size_t right = 0;
	int r = metrics_labels_check(s, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < s->n; i++)
		right += label_equal(&s->rows[i].truth, &s->rows[i].prediction);
	return metric_add_value(out, "accuracy", (long double)right / s->n, err);
}

struct class_counts {
	size_t truths, predictions, right;
};

/* Returns all class labels, sorted, so that equal labels lie together. */
static struct label *metrics_labels_sorted(const struct scored *s)
{
	struct label *labels = xcalloc(2 * s->n, sizeof(*labels));

	for (size_t i = 0; i < s->n; i++) {
		labels[2 * i] = label_of(&s->rows[i].truth);
		labels[2 * i].is_truth = true;
		labels[2 * i + 1] = label_of(&s->rows[i].prediction);
		labels[2 * i].row = labels[2 * i + 1].row = i;
	}
	qsort(labels, 2 * s->n, sizeof(*labels), label_compare);
	return labels;
}

/* Counts the true and the predicted labels of one class, from labels[i] on. Returns the index of
 * the next class. */
static size_t metrics_labels_count_class(const struct scored *s, const struct label *labels,
		size_t i, struct class_counts *out)
{
	const struct label *first = &labels[i];

	*out = (struct class_counts){ .truths = 0 };
	for (; i < 2 * s->n && label_compare(first, &labels[i]) == 0; i++) {
		const struct scored_row *row = &s->rows[labels[i].row];

		if (!labels[i].is_truth) {
			out->predictions++;
			continue;
		}
		out->truths++;
		out->right += label_equal(&row->truth, &row->prediction);
	}
	return i;
}

static int metric_f1(const struct scored *s, struct metric_values *out, struct fh_error *err)
{
	auto_free struct label *labels = metrics_labels_sorted(s);
	long double sum = 0, greatest = 0;
	size_t classes = 0, true_classes = 0;
	int r = metrics_labels_check(s, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < 2 * s->n;) {
		struct class_counts counts;
		long double f1;

		i = metrics_labels_count_class(s, labels, i, &counts);
		/* This quotient equals F1, the harmonic mean of precision and recall. */
		f1 = counts.right ? 2.0L * counts.right / (counts.truths + counts.predictions) : 0;
		sum += f1;
		classes++;
		if (counts.truths) {
			true_classes++;
			greatest = f1;
		}
	}
	return metric_add_value(out, "f1", true_classes <= 2 ? greatest : sum / classes, err);
}

/* ---------------------------------------------------------------------------------------------- */

static const struct metric metrics[] = {
	{ "accuracy", metric_accuracy, .labels = true },
	{ "f1", metric_f1, .labels = true },
	{ "rmse", metric_rmse },
	{ "r2", metric_r2 },
	{ "mae", metric_mae },
	{ "log_loss", metric_log_loss },
	{ "auc", metric_auc },
	{ "bleu", metric_bleu },
};

int metric_check_range(const struct metric *metric, const struct scored *s,
		const struct score_range *range, struct fh_error *err)
{
	if (range->least == range->most)
		return 0;
	for (size_t i = 0; i < s->n; i++) {
		auto_buf struct buf shown = BUF_INIT(256);
		double number;

		if (metric_to_double(&s->rows[i].prediction, &number) && number >= range->least &&
				number <= range->most &&
				(!metric->labels || number == floor(number)))
			continue;
		csv_quote(&shown, &s->rows[i].prediction);
		return error_say(err, EINVAL,
				metric->labels ? "line %zu: %s is not a class; classes are the whole numbers from %.15g to %.15g (column %s)"
					       : "line %zu: %s is not a number from %.15g to %.15g (column %s)",
				s->rows[i].line, buf_str(&shown), range->least, range->most,
				s->column);
	}
	return 0;
}

const struct metric *metric_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		if (str_eq(metrics[i].name, name))
			return &metrics[i];
	}
	return NULL;
}
