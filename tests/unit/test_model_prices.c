/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/mem.h"
#include "base/scope.h"
#include "model/prices.h"

#include <errno.h>
#include <math.h>

/* Prices of models: the built-in table, a user's own table that comes first, and invalid tables. */

static char folder[FOLDER_MAX];
static struct fh_error error;

static int open_with(const char *text, struct prices **out)
{
	auto_free char *path = xasprintf("%s/prices.json", folder);
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	return prices_open(path, out, &error);
}

static void test_found(void **state)
{
	static const struct {
		const char *vendor, *name;
		double input; /* price of input tokens; negative: not found */
	} cases[] = {
		{ "openai", "gpt-4o", 2.5 },
		{ "openai", "gpt-4o-2024-08-06", 2.5 },
		{ "openai", "gpt-4o-mini-2024-07-18", .15 },
		{ "anthropic", "claude-3-5-sonnet-20241022", 3 },
		{ "anthropic", "claude-3-5-sonnet-latest", 3 },
		{ "anthropic", "claude-3-5-sonnet@20240620", 3 },
		{ "anthropic", "claude-sonnet-4-0", 3 },
		{ "anthropic", "claude-opus-4-0", 15 },
		{ "openai", "gpt-3.5-turbo-0125", .5 },
		{ "openai", "gpt-3.5-turbo-0613", 1.5 },
		{ "openai", "gpt-3.5-turbo-16k-0613", 3 },
		{ "openai", "gpt-4-0613", 30 },
		{ "openai", "gpt-4o-2024-05-13", 5 },
		{ "mistral", "mistral-large-2411", 2 },
		{ "xai", "grok-4-0709", 3 },
		{ "openai", "gpt-4-06130", -1 },
		{ "openrouter", "anthropic/claude-3-opus-20240229", 15 },
		{ "gemini", "gemini-2.0-flash", .1 },
		{ "openai", "gemini-2.0-flash", -1 },
		{ "openai", "gpt-4o-20", -1 },
		{ "openai", "-2024-08-06", -1 },
		{ "openai", "", -1 },
		{ "openai", "gpt-4oo", -1 },
	};
	struct prices *p;

	assert_done(prices_open(NULL, &p, &error));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct price *price = prices_find(p, cases[i].vendor, cases[i].name);

		if (!price != (cases[i].input < 0) || (price && price->input != cases[i].input))
			fail_msg("%s/%s", cases[i].vendor, cases[i].name);
	}
	prices_close(p);
}

static void test_user_s_own(void **state)
{
	struct prices *p;

	assert_done(open_with(
			"{\"gpt-4o\": {\"input\": 7, \"output\": 8},\n\"mine\": {\"input\": 1, "
			"\"output\": 2, \"cached_input\": 0, \"cache_write\": 4, "
			"\"context\": 99}}",
			&p));
	assert_true(prices_find(p, "openai", "gpt-4o-2024-08-06")->input == 7);
	assert_true(prices_find(p, "openai", "gpt-4o-mini")->input == .15);
	assert_int_equal(prices_find(p, "openai", "mine")->context, 99);
	assert_true(fabs(price_of(prices_find(p, "x", "mine"), 1000, 500, 100, 10) -
				    (400 * 1 + 500 * 0 + 100 * 4 + 10 * 2) / 1e6) < 1e-12);
	/* If a table has no prices for cached tokens, they cost as much as other input tokens. */
	assert_true(fabs(price_of(prices_find(p, "x", "gpt-4o"), 1000, 500, 100, 10) -
				    (1000 * 7 + 10 * 8) / 1e6) < 1e-12);
	prices_close(p);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "[1]", "prices.json:1:1: expected an object" },
		{ "{\"m\": {\"input\": 1}}", "output" },
		{ "{\"m\": {\"input\": -1, \"output\": 1}}", "prices.json:1:" },
		{ "{\"m\": {\"input\": 1, \"output\": \"much\"}}", "prices.json:1:" },
		{ "{\"m\":\n {\"input\": 1, \"output\": 1, \"outpt\": 1}}", "prices.json:2:" },
		{ "{\"m\": 3}", "prices.json:1:" },
		{ "{", "prices.json:" },
	};
	struct prices *p;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(open_with(cases[i].text, &p), -EINVAL);
		assert_has(error.message, cases[i].why);
	}
	assert_true(prices_open("/nowhere/prices.json", &p, &error) < 0);
}

static int set_up(void **state)
{
	return folder_make(folder);
}

static int tear_down(void **state)
{
	return folder_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_user_s_own),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
