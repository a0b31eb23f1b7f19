/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "grade/csv/metrics.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

/*
 * Compares each metric with values that were computed by hand, by scikit-learn 1.9.1 or by
 * sacrebleu 2.6.0. Only bleu needs sacrebleu, without its tokenizer and smoothing.
 */

#define ROWS_MAX 8

struct row {
	const char *truth, *prediction;
};

struct scoring {
	const char *metric;
	struct row rows[ROWS_MAX];
	double expected;
};

static int score(const char *metric, const struct row *rows, struct metric_values *out,
		struct fh_error *err)
{
	struct scored_row scored[ROWS_MAX];
	size_t n = 0;

	for (; n < ROWS_MAX && rows[n].truth; n++)
		scored[n] = (struct scored_row){
			.truth = { rows[n].truth, strlen(rows[n].truth) },
			.prediction = { rows[n].prediction, strlen(rows[n].prediction) },
			.line = n + 2,
		};
	*out = (struct metric_values){ .n = 0 };
	return metric_find(metric)->score(
			&(struct scored){ .rows = scored, .n = n, .column = "y" }, out, err);
}

static const struct scoring scorings[] = {
	{ "accuracy", { { "a", "a" }, { "b", "c" }, { "1", "1.0" }, { "x", "X" } }, 0.5 },
	{ "accuracy", { { "1", "2" } }, 0 },
	{ "f1", { { "0", "1" }, { "1", "1" }, { "1", "0" }, { "0", "0" }, { "1", "1" } },
			0.6666666666666666 },
	/* With two classes, f1 is that of the greater one: "yes" of "no" and "yes". Other
	 * predictions count like "no". */
	{ "f1", { { "no", "yes" }, { "yes", "yes" }, { "yes", "?" }, { "no", "no" } }, 0.5 },
	{ "f1", { { "9", "9" }, { "10", "9" }, { "10", "10" } }, 0.6666666666666666 },
	{ "f1", { { "1", "0" }, { "0", "1" } }, 0 },
	{ "f1",
			{ { "0", "0" }, { "1", "2" }, { "2", "1" }, { "0", "0" }, { "1", "0" },
					{ "2", "1" } },
			0.26666666666666666 },
	/* In the mean of f1 over classes, a class that is predicted but never true counts as 0. */
	{ "f1", { { "a", "a" }, { "b", "d" }, { "c", "c" }, { "c", "b" } }, 0.41666666666666663 },
	{ "rmse", { { "3", "2.5" }, { "-0.5", "0.0" }, { "2", "2" }, { "7", "8" } },
			0.6123724356957945 },
	{ "mae", { { "3", "2.5" }, { "-0.5", "0.0" }, { "2", "2" }, { "7", "8" } }, 0.5 },
	{ "r2", { { "3", "2.5" }, { "-0.5", "0.0" }, { "2", "2" }, { "7", "8" } },
			0.9486081370449679 },
	{ "r2", { { "1", "2" }, { "2", "2" }, { "3", "2" } }, 0 },
	{ "r2", { { "5", "5" }, { "5", "5" } }, 1 },
	{ "r2", { { "5", "5" }, { "5", "4" } }, 0 },
	{ "log_loss", { { "1", "0.9" }, { "0", "0.1" }, { "0", "0.2" }, { "1", "0.65" } },
			0.21616187468057912 },
	/* -ln(1e-15) */
	{ "log_loss", { { "1", "0" } }, 34.538776394910684 },
	{ "log_loss", { { "0", "1" } }, 34.538776394910684 },
	{ "auc", { { "0", "0.1" }, { "0", "0.4" }, { "1", "0.35" }, { "1", "0.8" } }, 0.75 },
	{ "auc", { { "0", "0.5" }, { "1", "0.5" }, { "0", "0.2" }, { "1", "0.5" }, { "1", "0.9" } },
			0.8333333333333333 },
	{ "auc", { { "0", "-7" }, { "1", "1e30" } }, 1 },
	{ "auc", { { "1", "3" }, { "0", "3" } }, 0.5 },
	{ "bleu", { { "the cat sat on a mat", "the cat sat on the mat" } }, 0.537284965911771 },
	{ "bleu",
			{ { "the cat sat on a mat ||| there the cat sat on the mat",
					  "the cat sat on the mat" },
					{ "a dog runs in the big park now ||| the dog runs in the park",
							"a dog runs in the park now" } },
			0.9342759554564007 },
	{ "bleu", { { "one two three four", "one two three four" } }, 1 },
	/* bleu splits words at a no-break space, an ideographic space and a next line, but not at a
	 * zero-width space. */
	{ "bleu",
			{ { "one two three four",
					"one\u00a0two\u3000three\xc2\x85"
					"four" } },
			1 },
	{ "bleu", { { "one two three four five", "one two three four\u200b five" } }, 0 },
	/* bleu is 0 for three words, which have no 4-gram, and for words in another case. */
	{ "bleu", { { "one two three", "one two three" } }, 0 },
	{ "bleu", { { "one two three four", "One Two Three Four" } }, 0 },
	/* bleu of a correct but short text is its penalty alone: exp(1 - 8/4). */
	{ "bleu", { { "a b c d e f g h", "a b c d" } }, 0.36787944117144233 },
	/* Repeated n-grams count only as often as in the reference, so the precisions are 4/7, 3/6,
	 * 2/5 and 1/4. */
	{ "bleu", { { "a b c d", "a b c d d d d" } }, 0.4111336169005197 },
};

static void test_values(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(scorings); i++) {
		const struct scoring *s = &scorings[i];
		struct fh_error err = FH_ERROR_INIT;
		struct metric_values values;

		assert_int_equal(score(s->metric, s->rows, &values, &err), 0);
		assert_string_equal(values.values[0].name, s->metric);
		if (fabs(values.values[0].value - s->expected) > 1e-15 * fmax(1, s->expected))
			fail_msg("%s, case %zu: %.17g is not %.17g", s->metric, i,
					values.values[0].value, s->expected);
	}
}

static void test_r2_has_rmse_beside_it(void **state)
{
	static const struct row rows[ROWS_MAX] = { { "1", "1" }, { "2", "4" } };
	struct metric_values values;

	assert_int_equal(score("r2", rows, &values, NULL), 0);
	assert_int_equal(values.n, 2);
	assert_string_equal(values.values[1].name, "rmse");
	assert_true(fabs(values.values[1].value - 1.4142135623730951) < 1e-15);
}

static void test_faults_are_the_predictions_and_name_their_line(void **state)
{
	static const struct {
		const char *metric;
		struct row rows[ROWS_MAX];
		const char *message;
	} cases[] = {
		{ "mae", { { "1", "1" }, { "2", "two" } },
				"line 3: 'two' is not a number (column y)" },
		/* A word as prediction is an error, unless the true labels are words too. */
		{ "accuracy", { { "1", "1" }, { "2", "two" }, { "3", "nan" } },
				"line 3: 'two' is not a number (column y)" },
		{ "f1", { { "1", "1" }, { "2", "nan" } },
				"line 3: 'nan' is not a number (column y)" },
		{ "log_loss", { { "1", "1.5" } },
				"line 2: 1.5 is not a probability from 0 to 1 (column y)" },
		{ "log_loss", { { "1", "-0.1" } },
				"line 2: -0.1 is not a probability from 0 to 1 (column y)" },
		{ "r2", { { "1", "1e308" }, { "2", "1" } },
				"line 2: the number is too large to be scored (column y)" },
		{ "bleu", { { "a caf\u00e9", "a caf\u00e9" }, { "a caf\u00e9", "a caf\xe9" } },
				"line 3: 'a caf\\xe9' is not valid UTF-8: write the file in this encoding (column y)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fh_error err = FH_ERROR_INIT;
		struct metric_values values;

		assert_int_equal(score(cases[i].metric, cases[i].rows, &values, &err), -EINVAL);
		assert_string_equal(err.message, cases[i].message);
	}
}

static void test_unknown_metric(void **state)
{
	assert_null(metric_find("Accuracy"));
	assert_null(metric_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_r2_has_rmse_beside_it),
		cmocka_unit_test(test_faults_are_the_predictions_and_name_their_line),
		cmocka_unit_test(test_unknown_metric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
