/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/scope.h"
#include "cli/options.h"

#include <errno.h>

/* Parses command lines, with a table of options that has one of every kind. */

struct values {
	bool loud;
	const char *name;
	int lines;
	uint64_t seed;
	double temperature, seconds;
	int64_t size;
	int colour;
	struct texts tasks, binds;
	bool seed_given, colour_given;
};

#define FIELD(f) offsetof(struct values, f)

static const char *const colours[] = { "red", "green", NULL };

static const struct cmd_option options[] = {
	{ "loud", 'l', OPTION_FLAG, FIELD(loud), NULL, "say more" },
	{ "name", 0, OPTION_TEXT, FIELD(name), "NAME", "whose" },
	{ "lines", 'n', OPTION_INT, FIELD(lines), "N", "how many", .preset = "10", .min = 1,
			.max = 99 },
	{ "seed", 0, OPTION_UINT64, FIELD(seed), "N", "what is random",
			.given = FIELD(seed_given) },
	{ "random_seed", 0, OPTION_UINT64, FIELD(seed), "N" },
	{ "temperature", 0, OPTION_NUMBER, FIELD(temperature), "T", "how random" },
	{ "time-out", 0, OPTION_SECONDS, FIELD(seconds), "TIME", "how long" },
	{ "size", 0, OPTION_BYTES, FIELD(size), "SIZE", "how large" },
	{ "colour", 0, OPTION_CHOICE, FIELD(colour), "red|green", "which", .preset = "green",
			.choices = colours, .given = FIELD(colour_given) },
	{ "task", 0, OPTION_LIST, FIELD(tasks), "T,...", "which" },
	{ "bind", 0, OPTION_REPEAT, FIELD(binds), "PATH", "what" },
	{ "old", 0, OPTION_NOTED, 0, "X", NULL, .why = "it is always so" },
	{ "gone", 0, OPTION_REFUSED, 0, NULL, NULL, .why = "is not there any more" },
	{},
};

static const struct command plain = {
	.name = "plain",
	.options = options,
	.options_size = sizeof(struct values),
};
static const struct command takes_two = {
	.name = "two",
	.arguments = "FROM TO",
	.min_args = 1,
	.max_args = 2,
	.options = options,
	.options_size = sizeof(struct values),
};
static const struct command execs = {
	.name = "exec",
	.arguments = "PROGRAM",
	.min_args = 1,
	.max_args = 100,
	.args_end_options = true,
	.options = options,
	.options_size = sizeof(struct values),
};

#define WORDS_MAX 16

static struct arena arena;
static struct buf notes;
static struct parsed_options parsed;
static const struct values *values;
static struct fh_error error;

static int setup(void **state)
{
	arena = (struct arena)ARENA_INIT;
	buf_init(&notes, 4096);
	return 0;
}

static int teardown(void **state)
{
	arena_release(&arena);
	buf_release(&notes);
	return 0;
}

/* Parses a command line, divided into words at spaces. "_" stands for an empty word. */
static int parse(const struct command *command, const char *line)
{
	char *text = arena_strdup(&arena, line), *rest;
	const char **words = arena_array(&arena, WORDS_MAX, sizeof(*words));
	size_t n = 0;
	int r;

	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		words[n++] = strcmp(word, "_") == 0 ? "" : word;
	buf_clear(&notes);
	parsed = (struct parsed_options){ 0 };
	r = options_parse(command, words, n, &arena, &notes, &parsed, &error);
	values = parsed.values;
	return r;
}

static void test_presets(void **state)
{
	assert_done(parse(&plain, ""));
	assert_int_equal(values->lines, 10);
	assert_int_equal(values->colour, 1);
	assert_false(values->seed_given || values->colour_given);
	assert_true(!values->loud && !values->name && !values->tasks.n && !parsed.help);
	for (size_t i = 0; options[i].kind; i++)
		assert_false(parsed.given[i]);
}

static void test_kinds(void **state)
{
	assert_done(parse(&plain,
			"--loud --name x=y --lines 7 --seed 18446744073709551615 "
			"--temperature 0.5 --time-out 2.5s --size 2K --colour=red"));
	assert_true(values->loud && values->lines == 7 && values->seed == UINT64_MAX);
	assert_string_equal(values->name, "x=y");
	assert_true(values->temperature == 0.5 && values->seconds == 2.5);
	assert_true(values->size == 2048 && values->colour == 0);
	assert_true(parsed.given[0] && parsed.given[2] && !parsed.given[9]);
	assert_true(values->seed_given && values->colour_given);
	assert_done(parse(&plain, "--random_seed 1")); /* option names accept "_" for "-" */
	assert_true(values->seed_given && !values->colour_given);
	assert_done(parse(&plain, "--task a,b --bind x,y --task=c --bind z w --task d e --json"));
	assert_int_equal(values->tasks.n, 5);
	assert_string_equal(values->tasks.items[4], "e");
	assert_int_equal(values->binds.n, 3);
	assert_string_equal(values->binds.items[0], "x,y");
	assert_string_equal(values->binds.items[2], "w");
	assert_true(parsed.json);
}

/* Other spellings of options, and the values that they give. */
static void test_spellings(void **state)
{
	static const struct {
		const char *line;
		bool loud;
		int lines;
		double seconds;
	} cases[] = {
		{ "-l -n 5", true, 5, 0 },
		{ "-n5", false, 5, 0 },
		{ "--time_out 3", false, 10, 3 },
		{ "--time-o=3", false, 10, 3 },
		{ "--loud=false", false, 10, 0 },
		{ "--loud True", true, 10, 0 },
		{ "--loud --loud=no", false, 10, 0 },
		{ "--lines 3 --lines 4", false, 4, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (parse(&plain, cases[i].line) < 0)
			fail_msg("%s: %s", cases[i].line, error.message);
		if (values->loud != cases[i].loud || values->lines != cases[i].lines ||
				values->seconds != cases[i].seconds)
			fail_msg("%s: %d %d %g", cases[i].line, values->loud, values->lines,
					values->seconds);
	}
}

static void test_arguments(void **state)
{
	assert_done(parse(&takes_two, "a --loud True"));
	assert_int_equal(parsed.n_args, 2); /* a flag takes no argument as its value */
	assert_done(parse(&takes_two, "--task x,y a -- --loud"));
	assert_int_equal(parsed.n_args, 2);
	assert_string_equal(parsed.args[1], "--loud");
	assert_false(values->loud);
	assert_int_equal(values->tasks.n, 2);
	assert_done(parse(&execs, "--loud ls -l --name x"));
	assert_true(values->loud && !values->name);
	assert_int_equal(parsed.n_args, 4);
	assert_string_equal(parsed.args[1], "-l");
}

static void test_taken_and_told(void **state)
{
	assert_done(parse(&plain, "--old 3 --loud"));
	assert_string_equal(buf_str(&notes), "fumehood: --old has no effect: it is always so\n");
	assert_true(values->loud);
}

static void test_refused(void **state)
{
	static const struct {
		const struct command *command;
		const char *line, *why;
	} cases[] = {
		{ &plain, "--lodu", "unknown option --lodu; did you mean --loud?" },
		{ &plain, "--xyzzy", "unknown option --xyzzy" },
		{ &plain, "-x", "unknown option -x" },
		{ &plain, "--t 3", "option --t is ambiguous: --temperature or --time-out?" },
		{ &plain, "--=3", "lacks the name of an option" },
		{ &plain, "--lines", "--lines wants a value (N)" },
		{ &plain, "--lines --loud", "--lines wants a value (N)" },
		{ &plain, "--lines 100", "--lines wants a whole number from 1 to 99, not '100'" },
		{ &plain, "--lines 4x", "--lines wants a whole number" },
		{ &plain, "--seed -1", "--seed wants" },
		{ &plain, "--seed 18446744073709551616", "--seed wants" },
		{ &plain, "--temperature nan", "--temperature wants a number, not 'nan'" },
		{ &plain, "--time-out soon", "--time-out wants a time such as" },
		{ &plain, "--time-out 0.0004",
				"--time-out wants a time such as 25, 2.5s, 300ms or 5m; the shortest is 1ms" },
		{ &plain, "--size 5Q", "--size wants a size such as" },
		{ &plain, "--colour blue", "--colour wants one of red, green, not 'blue'" },
		{ &plain, "--task a,,b", "--task has an empty value in its list" },
		{ &plain, "--loud=maybe", "--loud wants no value, or true or false, not 'maybe'" },
		{ &plain, "--gone", "--gone is not there any more" },
		{ &plain, "word", "unexpected argument 'word'" },
		{ &takes_two, "", "the argument FROM TO is missing" },
		{ &takes_two, "a b c", "unexpected argument 'c'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (parse(cases[i].command, cases[i].line) >= 0)
			fail_msg("'%s' was taken", cases[i].line);
		assert_int_equal(error.code, -EINVAL);
		assert_has(error.message, cases[i].why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_presets, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kinds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_spellings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_arguments, setup, teardown),
		cmocka_unit_test_setup_teardown(test_taken_and_told, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
