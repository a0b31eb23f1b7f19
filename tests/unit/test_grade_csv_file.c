/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "grade/csv/csv.h"
#include "grade/csv/metrics.h"
#include "grade/csv/score.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* Reads submissions and matches their rows to the answers. Checks the errors for those that can't
 * be matched. */

static const char answers[] = "id,y\na,1\nb,0\nc,1\n";

struct report {
	int code;
	char text[2048];
};

static void score_bytes(const char *submission, size_t n, const char *truth, const char *id,
		const char *metric, struct report *out)
{
	auto_free char *ours = malloc(n + 1);
	auto_free char *theirs = strdup(truth);
	auto_buf struct buf text = BUF_INIT(sizeof(out->text) - 1);
	struct metric_values values = { .n = 0 };
	struct fh_error err = FH_ERROR_INIT;

	memcpy(ours, submission, n);
	out->code = score_csv(
			&(struct score_request){
					.columns = { .id = id, .target = "y" },
					.metric = metric_find(metric),
					.submission = ours,
					.submission_bytes = n,
					.answers = theirs,
					.answers_bytes = strlen(theirs),
			},
			&values, &err);
	if (out->code < 0)
		score_print_error(&text, "s.csv", &err);
	else
		score_print_values(&text, &values);
	snprintf(out->text, sizeof(out->text), "%s", buf_str(&text));
}

static void assert_report(const char *submission, const char *metric, const char *expected)
{
	struct report report;

	score_bytes(submission, strlen(submission), answers, "id", metric, &report);
	assert_string_equal(report.text, expected);
}

#define ALL_RIGHT "{\"accuracy\": 1.0}\n"

static void test_forms_of_the_same_file(void **state)
{
	static const char *const files[] = {
		"id,y\na,1\nb,0\nc,1\n",
		"id,y\na,1\nb,0\nc,1",
		"id,y\nc,1\na,1\nb,0\n",
		"id,y\r\na,1\r\nb,0\r\nc,1\r\n",
		"id,y\ra,1\rb,0\rc,1\r",
		"\xef\xbb\xbfid,y\na,1\nb,0\nc,1\n",
		"\n\nid,y\n\na,1\n  \nb,0\nc,1\n\n\n",
		"y,id\n1,a\n0,b\n1,c\n",
		"id,other,y,\na,,1,\nb,x,0,\nc,\"1,2\",1,\n",
		" id , y\t\na , 1\n b,0 \nc,1\n",
		"\"id\",\"y\"\n\"a\",\"1\" \n\"b\", \"0\"\nc,1\n",
		"id,y\na,1.0\nb,0e5\nc,+1\n",
		"id,y,z\na,1,\"two\nlines\"\nb,0,\"a \"\"quote\"\"\"\nc,1,\"\r\n\"\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		assert_report(files[i], "accuracy", ALL_RIGHT);
}

static void test_ids_are_compared_as_text(void **state)
{
	struct report report;
	const char truth[] = "id,y\n1,x\n01,y\n\"a,\"\"b\",z\n";
	const char file[] = "id,y\n\"a,\"\"b\",z\n01,y\n1,x\n";

	score_bytes(file, strlen(file), truth, "id", "accuracy", &report);
	assert_string_equal(report.text, ALL_RIGHT);
}

static void test_faults(void **state)
{
	static const struct {
		const char *file, *message;
	} cases[] = {
		{ "", "s.csv: empty: the first line must name the columns" },
		{ " \n\n", "s.csv: empty: the first line must name the columns" },
		{ "id,x\na,1\n", "s.csv line 1: no column 'y' among 'id', 'x'" },
		{ "\nID,y\n", "s.csv line 2: no column 'id' among 'ID', 'y'" },
		{ "id,y,id\n", "s.csv line 1: two columns 'id'" },
		{ "a,b,c,d,e,f,g,h,i\n",
				"s.csv line 1: no column 'id' among 'a', 'b', 'c', 'd', "
				"'e', 'f', 'g', 'h', ..." },
		{ "id,y\na\n", "s.csv line 2: the number of fields is 1, in the header 2" },
		{ "id,y\na,1,\n",
				"s.csv line 2: the number of fields is 3, in the header 2; a text with a comma must stand in double quotes" },
		{ "id,y\nx,1\n", "s.csv line 2: id 'x' is none of the ids to predict" },
		{ "id,y\na,1\nb,1\na,1\n", "s.csv line 4: id 'a' is in line 2 too" },
		{ "id,y\na,1\nb,0\nc,1\nd,1\n",
				"s.csv line 5: id 'd' is none of the ids to predict" },
		{ "id,y\nb,1\n", "s.csv: 2 of 3 ids are missing, the first is id 'a'" },
		{ "id,y\n", "s.csv: 3 of 3 ids are missing, the first is id 'a'" },
		{ "id,y\na,1\nb,\nc,1\n", "s.csv line 3: column y is empty" },
		{ "id,y\na,1\nb,\"\"\nc,1\n", "s.csv line 3: column y is empty" },
		{ "id,y\na,1\nb,0\nc,\"1\n", "s.csv line 4: a field in quotes does not end" },
		{ "id,y\na,\"\n\n1\"x\n", "s.csv line 4: text follows a closing quote" },
		{ "id,y\nb,x\n", "s.csv: 2 of 3 ids are missing, the first is id 'a'" },
		{ "id,y\na,1\nb,yes\nc,1\n", "s.csv line 3: 'yes' is not a number (column y)" },
		{ "id,y\na,1\nb,nan\nc,1\n", "s.csv line 3: 'nan' is not a number (column y)" },
		{ "id,y\na,1\nb,inf\nc,1\n", "s.csv line 3: 'inf' is not a number (column y)" },
		{ "id,y\na,1\nb,0x1\nc,1\n", "s.csv line 3: '0x1' is not a number (column y)" },
		{ "id,y\na,1\nb,1e999\nc,1\n", "s.csv line 3: '1e999' is not a number (column y)" },
		{ "id,y\na,1\nb,\"1,5\"\nc,1\n", "s.csv line 3: '1,5' is not a number (column y)" },
		/* An error message cuts a long id between two characters, and shows no control
		 * characters. */
		{ "id,y\na,\"\xff\x1b[2J\"\n",
				"s.csv: 2 of 3 ids are missing, the first is id 'b'" },
		{ "id,y\n\"\xff\x1b[2J\r\n\\\",1\n",
				"s.csv line 2: id '\\\\xff\\\\x1b[2J\\\\x0d \\\\' is none of the ids to predict" },
		{ "id,y\n1234567890123456789012345678901234567890x,1\n",
				"s.csv line 2: id '1234567890123456789012345678901234567890...' is none "
				"of the ids to predict" },
		{ "id,y\n123456789012345678901234567890123456789\xc3\xa9,1\n",
				"s.csv line 2: id '123456789012345678901234567890123456789...' is none of "
				"the ids to predict" },
		{ "id,y\n\"\"\"\",1\n", "s.csv line 2: id '\\\"' is none of the ids to predict" },
	};
	char expected[512];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(expected, sizeof(expected), "{\"error\": \"%s\"}\n", cases[i].message);
		assert_report(cases[i].file, "rmse", expected);
	}
}

static void test_rows_in_order(void **state)
{
	static const struct {
		const char *file, *report;
	} cases[] = {
		{ "y\n1\n0\n1\n", ALL_RIGHT },
		{ "id,y\nc,1\na,0\nb,1\n", ALL_RIGHT },
		{ "x,y\n,1\n,0\n,0\n", "{\"accuracy\": 0.6666666666666666}\n" },
		{ "id\na\n", "{\"error\": \"s.csv line 1: no column 'y' among 'id'\"}\n" },
		{ "y\n1\n0\n", "{\"error\": \"s.csv: 1 of 3 rows are missing\"}\n" },
		{ "\ny\n1\n\n0\n",
				"{\"error\": \"s.csv: 1 of 3 rows are missing: line 4 is blank\"}\n" },
		{ "y\n1\n0\n1\n1\n1\n",
				"{\"error\": \"s.csv line 5: more than the 3 rows to predict\"}\n" },
		{ "x,y\na,1\nb,\nc,1\n", "{\"error\": \"s.csv line 3: column y is empty\"}\n" },
	};
	struct report report;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		score_bytes(cases[i].file, strlen(cases[i].file), "y\n1\n0\n1\n", NULL, "accuracy",
				&report);
		assert_string_equal(report.text, cases[i].report);
	}
}

static void test_nul_byte(void **state)
{
	static const char file[] = "id,y\na,1\nb,\0\nc,1\n";
	struct report report;

	score_bytes(file, sizeof(file) - 1, answers, "id", "accuracy", &report);
	assert_string_equal(report.text,
			"{\"error\": \"s.csv line 3: a NUL byte: the file must be text in UTF-8\"}\n");
}

/* Scores a long file: `head`, then n times `unit`, then `tail`. */
static void assert_long(const char *head, const char *unit, size_t n, const char *tail,
		const char *expected)
{
	auto_buf struct buf file = BUF_INIT(SIZE_MAX / 4);
	struct report report;

	buf_add_str(&file, head);
	for (size_t i = 0; i < n; i++)
		buf_add_str(&file, unit);
	buf_add_str(&file, tail);
	score_bytes(file.data, file.len, answers, "id", "accuracy", &report);
	assert_string_equal(report.text, expected);
}

static void test_caps(void **state)
{
	assert_long("id,y,z\na,1,", "x", 65536, "\nb,0,\nc,1,\n", ALL_RIGHT);
	assert_long("id,y,z\na,1,", "x", 65537, "\nb,0,\nc,1,\n",
			"{\"error\": \"s.csv line 2: a field of more than 65536 bytes\"}\n");
	assert_long("id,y,z\na,1,\"", "\"\"", 65537, "\"\nb,0,\nc,1,\n",
			"{\"error\": \"s.csv line 2: a field of more than 65536 bytes\"}\n");
	assert_long("id,y", ",", 1023, "\n",
			"{\"error\": \"s.csv line 1: more than 1024 fields\"}\n");
	assert_long("", "x", (64 << 20) + 1, "",
			"{\"error\": \"s.csv: more than 67108864 bytes\"}\n");
}

/* If a submission has more rows than the answers, reading stops at the first wrong row. */
static void test_too_many_rows(void **state)
{
	assert_long("id,y\nb,1\nc,1\na,1\n", "c,1\n", 1000000, "broken",
			"{\"error\": \"s.csv line 5: id 'c' is in line 3 too\"}\n");
}

static void test_faults_of_the_answers_are_not_the_agents(void **state)
{
	static const struct {
		const char *truth, *metric;
	} cases[] = {
		{ "", "accuracy" },
		{ "id,y\n", "accuracy" },
		{ "id,z\na,1\n", "accuracy" },
		{ "id,y\na,1\na,1\n", "accuracy" },
		{ "id,y\na,x\n", "rmse" },
		{ "id,y\na,2\n", "auc" },
		{ "id,y\na,1\n", "auc" },
		{ "id,y\na,0.5\n", "log_loss" },
	};
	struct report report;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		score_bytes("id,y\na,1\n", 9, cases[i].truth, "id", cases[i].metric, &report);
		assert_int_equal(report.code, -EBADMSG);
	}
}

/* --- halves ---------------------------------------------------------------------------------- */

#define HALVED_ROWS 101

/* Adds HALVED_ROWS rows, whose answers are all 1. Row `only` gets the prediction `right`, the
 * others `other`. If `only` is -1, all rows get `right`. */
static void add_rows(
		struct buf *out, int only, const char *right, const char *other, bool backwards)
{
	buf_add_str(out, "id,y\n");
	for (int i = 0; i < HALVED_ROWS; i++) {
		int id = backwards ? HALVED_ROWS - 1 - i : i;

		buf_printf(out, "%d,%s\n", id, only < 0 || only == id ? right : other);
	}
}

static int score_part_of(const char *truth, int only, const char *right, const char *other,
		bool backwards, enum score_part part, double *out)
{
	auto_buf struct buf ours = BUF_INIT(65536);
	auto_free char *theirs = strdup(truth);
	struct metric_values values = { .n = 0 };
	int r;

	add_rows(&ours, only, right, other, backwards);
	r = score_csv(&(struct score_request){ .columns = { .id = "id", .target = "y" },
				      .metric = metric_find("accuracy"),
				      .part = part,
				      .submission = ours.data,
				      .submission_bytes = ours.len,
				      .answers = theirs,
				      .answers_bytes = strlen(theirs) },
			&values, NULL);
	*out = values.values[0].value;
	return r;
}

/* Each row counts in one half only, the validated or the final one. The order of the predictions
 * does not matter. */
static void test_a_row_counts_in_one_half(void **state)
{
	auto_buf struct buf truth = BUF_INIT(65536);
	const int half = HALVED_ROWS / 2;
	int n_validate = 0, n_final = 0, n_moved = 0;
	double all, validate, final, backwards;

	add_rows(&truth, -1, "1", "", false);
	for (int i = 0; i < HALVED_ROWS; i++) {
		score_part_of(buf_str(&truth), i, "1", "0", false, PART_ALL, &all);
		score_part_of(buf_str(&truth), i, "1", "0", false, PART_VALIDATE, &validate);
		score_part_of(buf_str(&truth), i, "1", "0", false, PART_FINAL, &final);
		score_part_of(buf_str(&truth), i, "1", "0", true, PART_FINAL, &backwards);
		assert_true(all == 1.0 / HALVED_ROWS);
		assert_true((validate == 0) != (final == 0));
		assert_true(final == backwards);
		n_validate += validate == 1.0 / half;
		n_final += final == 1.0 / (HALVED_ROWS - half);
		n_moved += (validate > 0) != (i < half);
	}
	assert_int_equal(n_validate, HALVED_ROWS / 2);
	assert_int_equal(n_final, HALVED_ROWS - HALVED_ROWS / 2);
	assert_in_range(n_moved, 20, 80); /* random: about 50 of 101 expected */
}

static void test_halves_depend_on_the_answers(void **state)
{
	auto_buf struct buf truth = BUF_INIT(65536), other = BUF_INIT(65536);
	double ours, theirs;
	int differ = 0;

	add_rows(&truth, -1, "1", "", false);
	add_rows(&other, 7, "2", "1", false);
	for (int i = 0; i < HALVED_ROWS; i++) {
		score_part_of(buf_str(&truth), i, "1", "0", false, PART_FINAL, &ours);
		score_part_of(buf_str(&other), i, "1", "0", false, PART_FINAL, &theirs);
		differ += (ours > 0) != (theirs > 0);
	}
	assert_in_range(differ, 20, 80);
}

/* A validate finds a bad prediction in any row, also in rows that only the final score counts. */
static void test_a_validate_checks_all_rows(void **state)
{
	auto_buf struct buf truth = BUF_INIT(65536);
	double value;

	add_rows(&truth, -1, "1", "", false);
	for (int i = 0; i < HALVED_ROWS; i++)
		assert_int_equal(score_part_of(buf_str(&truth), i, "x", "0", false, PART_VALIDATE,
						 &value),
				-EINVAL);
}

static void test_a_single_row_has_no_halves(void **state)
{
	char ours[] = "id,y\na,1\n", theirs[] = "id,y\na,1\n";
	struct metric_values values = { .n = 0 };
	struct fh_error err = FH_ERROR_INIT;

	assert_int_equal(
			score_csv(&(struct score_request){ .columns = { .id = "id", .target = "y" },
						  .metric = metric_find("accuracy"),
						  .part = PART_FINAL,
						  .submission = ours,
						  .submission_bytes = strlen(ours),
						  .answers = theirs,
						  .answers_bytes = strlen(theirs) },
					&values, &err),
			-EBADMSG);
	assert_string_equal(err.message,
			"a single row can't be split into a part to validate and a final part");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms_of_the_same_file),
		cmocka_unit_test(test_ids_are_compared_as_text),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_rows_in_order),
		cmocka_unit_test(test_nul_byte),
		cmocka_unit_test(test_caps),
		cmocka_unit_test(test_too_many_rows),
		cmocka_unit_test(test_faults_of_the_answers_are_not_the_agents),
		cmocka_unit_test(test_a_row_counts_in_one_half),
		cmocka_unit_test(test_halves_depend_on_the_answers),
		cmocka_unit_test(test_a_validate_checks_all_rows),
		cmocka_unit_test(test_a_single_row_has_no_halves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
