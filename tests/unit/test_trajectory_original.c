/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/mem.h"
#include "base/scope.h"
#include "trajectory/original.h"

#include <string.h>

/* Compares steps that MLGym recorded with the same steps of ours, after translating what scores
 * look like. */

#define THEIRS "It made a valid submission artefact at /x.csv.\\n"
#define OURS "Scored a valid submission artefact at /x.csv.\n"
#define BASE "Baseline Score: {'a': 0.5}"
#define SCORE(n) "Evaluation Score: {'a': " n "}"

static const struct {
	const char *then, *now; /* `then`: MLGym's text, as in JSON; `now`: ours */
	enum original_words words;
	const char *translated_then, *translated_now;
} cases[] = {
	/* Nothing is translated if there is no score, or if both sides have our words. */
	{ "x", "y", ORIGINAL_SAME, "", "" },
	{ "Scored a valid submission artefact at /y.", OURS, ORIGINAL_SAME, "", "" },
	{ "Not scored: a", "Not scored: b\n", ORIGINAL_SAME, "", "" },
	/* A validate. */
	{ THEIRS BASE "\\n" SCORE("1.0"), "out\n" OURS BASE "\n" SCORE("0.75") "\n",
			ORIGINAL_TRANSLATED, OURS BASE "\n" SCORE("1.0"),
			OURS BASE "\n" SCORE("0.75") },
	{ THEIRS SCORE("1.0"), "Not scored: b\n", ORIGINAL_TRANSLATED, OURS SCORE("1.0"),
			"Not scored: b" },
	{ "There is none.", "Not scored: b\n", ORIGINAL_UNKNOWN, "", "" },
	{ "There is none.", OURS SCORE("1.0") "\n", ORIGINAL_SAME, "", "" },
	{ "x\\n" THEIRS SCORE("1.0"), OURS SCORE("1.0") "\n", ORIGINAL_SAME, "", "" },
	/* At a run's end MLGym shows no score, so the final score of `info` is inserted. */
	{ "Exited (submit)", OURS BASE "\n" SCORE("0.75") "\nExited (submit)\n",
			ORIGINAL_TRANSLATED, "\n" SCORE("0.25") "\nExited (submit)",
			"\n" SCORE("0.75") "\nExited (submit)" },
	{ "Exited (a)", "Not scored: b\nc\nExited (b)\n", ORIGINAL_TRANSLATED,
			"\n" SCORE("0.25") "\nExited (a)", "\nExited (b)" },
	{ "out", "out\n" OURS SCORE("0.75") "\nExited (max_steps)\n", ORIGINAL_TRANSLATED,
			"out\n" SCORE("0.25"), "out\n" SCORE("0.75") },
	/* A validate in a run's last step has two scores: its own and the final one. */
	{ THEIRS SCORE("1.0"), OURS SCORE("1.0") "\n" OURS SCORE("0.75") "\nExited (max_steps)\n",
			ORIGINAL_TRANSLATED, OURS SCORE("1.0") "\n" SCORE("0.25"),
			OURS SCORE("1.0") "\n" SCORE("0.75") },
	/* Commands that one side did not run, or that timed out. */
	{ "a\\nIT TIMED OUT.", "a\n(The command was still running after 25 s and was ended.)\n",
			ORIGINAL_UNKNOWN, "", "" },
	{ "a\\nIT TIMED OUT.", "a\n", ORIGINAL_SAME, "", "" },
	{ "sh: line 1: syntax error near `x'",
			"sh: 1: no\n(Nothing was run: this does not parse.)\n", ORIGINAL_UNKNOWN,
			"", "" },
	{ "Malformed.", "Nothing was run: `edit`\n", ORIGINAL_UNKNOWN, "", "" },
	{ "Nothing was run: `edit` Malformed.", "Nothing was run: `edit`\n", ORIGINAL_SAME, "",
			"" },
	{ "", "", ORIGINAL_SAME, "", "" },
};

#define STEP_BEGIN                                                                                 \
	"{\"state\": \"{}\", \"response\": \"\", \"thought\": \"\", \"action\": \"a\", "           \
	"\"execution_time\": 0.1, \"observation\": "
#define STEP(observation) STEP_BEGIN observation "}"

static struct traj *parse(const char *text)
{
	struct traj *t;
	struct fh_error err = FH_ERROR_INIT;

	if (traj_parse("test", text, strlen(text), &t, &err) < 0)
		fail_msg("%s", err.message);
	return t;
}

/* Makes a recorded run of two steps with this observation. The first step has a score if the
 * observation shows one. */
static struct traj *run_with(const char *observation)
{
	const char *more = strstr(observation, "Evaluation") ? ", {\"a\": 1.0}" : "";
	auto_free char *text = xasprintf("{\"environment\": \"e\", \"trajectory\": [%s%s%s], "
					 "\"history\": [], \"info\": {\"score\": "
					 "[{\"a\": 1.0}%s, {\"a\": 0.25}]}}",
			STEP("\"" THEIRS SCORE("1.0") "\"") ", " STEP_BEGIN "\"", observation,
			"\"}", more);

	return parse(text);
}

static void test_what_is_compared(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_buf struct buf then = BUF_INIT(10000), now = BUF_INIT(10000);
		struct traj *t = run_with(cases[i].then);
		enum original_words words = original_translate(t, 1, cases[i].now, &then, &now);

		if (words != cases[i].words)
			fail_msg("'%s' and '%s' give %d", cases[i].then, cases[i].now, words);
		assert_string_equal(buf_str(&then), cases[i].translated_then);
		assert_string_equal(buf_str(&now), cases[i].translated_now);
		traj_free(t);
	}
}

static void test_a_run_without_scores(void **state)
{
	auto_buf struct buf then = BUF_INIT(10000), now = BUF_INIT(10000);
	struct traj *t = parse("{\"environment\": \"e\", \"trajectory\": [" STEP(
			"null") "], "
				"\"history\": [], \"info\": {}}");

	assert_int_equal(original_translate(t, 0, "Not scored: b\nExited (x)\n", &then, &now),
			ORIGINAL_TRANSLATED);
	assert_string_equal(buf_str(&then), buf_str(&now));
	traj_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_compared),
		cmocka_unit_test(test_a_run_without_scores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
