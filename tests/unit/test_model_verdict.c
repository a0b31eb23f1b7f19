/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/scope.h"
#include "model/verdict.h"

/* Decides after a failed request whether to send it again, and how long to pause before. */

static void test_answers(void **state)
{
	static const struct {
		int status;
		const char *body;
		enum verdict verdict;
		const char *sentence, *location;
	} cases[] = {
		{ 500, "", VERDICT_AGAIN, "HTTP 500: an empty answer" },
		{ 529, "{}", VERDICT_AGAIN, "HTTP 529: an error without a message" },
		{ 429, "{\"error\":\"slow down\"}", VERDICT_AGAIN, "HTTP 429: slow down" },
		{ 425, "early", VERDICT_AGAIN, "HTTP 425: early" },
		{ 301, "", VERDICT_OVER, "HTTP 301: an empty answer" },
		{ 308, "<html>Moved", VERDICT_OVER,
				"HTTP 308: the server redirects to https://b/\\x1b/v1: if that is right, give "
				"it by --url",
				"https://b/\x1b/v1" },
		{ 403, "{\"detail\":\"no\"}", VERDICT_OVER, "HTTP 403: no" },
		{ 400, "{\"message\":\"bare\"}", VERDICT_OVER, "HTTP 400: bare" },
		{ 400, "{\"error\":{\"message\":\"Input is too long for the model\"}}",
				VERDICT_TOO_LONG, "HTTP 400: Input is too long for the model" },
		{ 413, "{\"error\":{\"type\":\"request_too_large\",\"message\":\"m\"}}",
				VERDICT_TOO_LONG, "HTTP 413: m" },
		{ 422, "{\"error\":{\"message\":\"exceeds the context size\"}}", VERDICT_TOO_LONG,
				"HTTP 422: exceeds the context size" },
		/* A server may say "too many tokens" also when it limits the rate of requests. */
		{ 429, "{\"error\":{\"message\":\"too many tokens per minute\"}}", VERDICT_AGAIN,
				"HTTP 429: too many tokens per minute" },
		{ 400, "\x1b[2J\xff\n\t<html>", VERDICT_OVER, "HTTP 400: \\x1b[2J\\xff  <html>" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_buf struct buf why = BUF_INIT(4096);

		const struct verdict_answer answer = { cases[i].status, cases[i].body,
			strlen(cases[i].body), cases[i].location };

		assert_int_equal(verdict_of_answer(&answer, NULL, &why), cases[i].verdict);
		assert_string_equal(buf_str(&why), cases[i].sentence);
	}
}

static void test_long_sentences_are_cut(void **state)
{
	static char body[100000];
	auto_buf struct buf why = BUF_INIT(sizeof(body));

	const struct verdict_answer answer = {
		.status = 500, .body = body, .n_body = sizeof(body)
	};

	memset(body, 'x', sizeof(body));
	assert_int_equal(verdict_of_answer(&answer, NULL, &why), VERDICT_AGAIN);
	assert_true(why.len <= VERDICT_SENTENCE_MAX + 32);
}

/* An error message that may quote an API key shows no part of the key, wherever the
 * message is cut. */
static void test_a_key_is_not_said(void **state)
{
	static const char key[] = "sk-0123456789abcdef";

	for (int before = 0; before <= VERDICT_SENTENCE_MAX; before++) {
		auto_buf struct buf text = BUF_INIT(4096), bare = BUF_INIT(4096),
				    stream = BUF_INIT(4096), redirect = BUF_INIT(4096);
		auto_json json_t *error = NULL;

		for (int i = 0; i < before; i++)
			buf_add_char(&text, 'x');
		buf_add_str(&text, key);
		error = json_pack("{ss}", "message", buf_str(&text));
		verdict_of_answer(&(struct verdict_answer){ .status = 401,
						  .body = buf_str(&text),
						  .n_body = text.len },
				key, &bare);
		verdict_of_answer(&(struct verdict_answer){ .status = 301,
						  .location = buf_str(&text) },
				key, &redirect);
		verdict_of_error(200, error, key, &stream);
		assert_null(strstr(buf_str(&bare), "sk-"));
		assert_null(strstr(buf_str(&redirect), "sk-"));
		assert_null(strstr(buf_str(&stream), "sk-"));
	}
}

/* Random pauses before another try lie within bounds, and reach both halves of the range. */
static void test_pauses(void **state)
{
	static const struct {
		int tries;
		int64_t asked_ms, least, most;
	} cases[] = {
		{ 1, -1, 0, 500 },
		{ 2, -1, 0, 1000 },
		{ 5, -1, 0, 8000 },
		{ 8, -1, 0, 60000 },
		{ 1000, -1, 0, 60000 },
		{ 1, 5000, 5000, 5500 },
		{ 9, 5000, 5000, 5500 },
		{ 1, 1000000, 120000, 132000 },
	};
	uint64_t random = 7;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int64_t middle = (cases[i].least + cases[i].most) / 2;
		int lower = 0, upper = 0;

		for (int n = 0; n < 100; n++) {
			int64_t ms = verdict_pause_ms(cases[i].tries, cases[i].asked_ms, &random);

			assert_in_range(ms, cases[i].least, cases[i].most);
			lower += ms < middle;
			upper += ms >= middle;
		}
		assert_true(lower > 20 && upper > 20);
	}
	assert_int_equal(verdict_pause_ms(3, 0, &random), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_long_sentences_are_cut),
		cmocka_unit_test(test_a_key_is_not_said),
		cmocka_unit_test(test_pauses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
