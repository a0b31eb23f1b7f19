/* SPDX-License-Identifier: Apache-2.0 */
#include "task_scratch.h"

#include "model/model.h"

/* Models whose actions are known beforehand: a list, a file or a task's baseline. Also specs and
 * files that are refused. */

static struct fh_error error;

static int open_model(struct scratch *s, const char *spec, struct model **out)
{
	return model_open(&(struct model_request){ .spec = spec,
					  .places = &s->places,
					  .task = "t",
					  .in_fd = -1,
					  .out_fd = -1,
					  .stop_fd = -1 },
			out, &error);
}

/* Opens a model by its spec, and expects its label and actions, until it has submitted twice. */
static void assert_says(
		struct scratch *s, const char *spec, const char *label, const char *const *actions)
{
	struct fh_step step = { .observation = "" };
	struct model_turn turn;
	struct model *m;

	assert_done(open_model(s, spec, &m));
	assert_string_equal(model_label(m), label);
	assert_false(model_is_interactive(m));
	for (; *actions; actions++) {
		assert_done(model_next(m, &step, &turn, &error));
		assert_string_equal(turn.action, *actions);
		assert_null(turn.thought);
	}
	for (int i = 0; i < 2; i++) {
		assert_done(model_next(m, &step, &turn, &error));
		assert_string_equal(turn.action, "submit");
	}
	model_close(m);
}

static void test_actions(void **state)
{
	put_task(HEAD SCRIPT BASE);
	put("games.v2.jsonl", "\"ls\"\n\n  \t\r\n\"a\\n\\u00e9\\ud83d\\ude00\"\n \"last\" ");
	assert_says(*state, "actions:games.v2.jsonl", "actions-games",
			(const char *[]){ "ls", "a\né😀", "last", NULL });
	put("empty", "");
	assert_says(*state, "actions:empty", "actions-empty", (const char *[]){ NULL });
}

static void test_a_task_s_own(void **state)
{
	put_task(HEAD SCRIPT "baseline: python3 a.py\ndemo: demo.jsonl\n");
	put("tasks/t/demo.jsonl", "\"ls\"\n\"validate\"\n");
	assert_says(*state, "baseline", "baseline", (const char *[]){ "python3 a.py", NULL });
	assert_says(*state, "demo", "demo", (const char *[]){ "ls", "validate", NULL });
}

static void test_refused(void **state)
{
	static const struct {
		const char *spec, *file, *why;
	} cases[] = {
		{ "gpt", NULL, "no model 'gpt'; there are: baseline, solution, demo, actions:FILE, replay:" },
		{ "base", NULL, "no model 'base'" },
		{ "opnai:x", NULL, "no model 'opnai:x'; did you mean 'openai:x'?" },
		{ "openia", NULL, "no model 'openia'; did you mean 'openai:NAME'?" },
		{ "baselin", NULL, "no model 'baselin'; did you mean 'baseline'?" },
		{ "", NULL, "no model ''" },
		{ "demo:x", NULL, "the model 'demo' takes nothing after ':'" },
		{ "demo", NULL, "has no demonstration" },
		{ "baseline", NULL, "has no baseline" },
		{ "actions:", NULL, "" },
		{ "actions:nowhere", NULL, "nowhere" },
		{ "actions:f", "\"ls\"\n7\n", "f:2:1: expected an action" },
		{ "actions:f", "\"ls\" \"cat\"\n", "f:1:6:" },
		{ "actions:f", "\"ls\n", "f:1:" },
		{ "actions:f", "\n[\"ls\"]\n", "f:2:1: expected an action" },
		{ "actions:f", "\"a\\u0000b\"\n", "f:1:1: an action can't hold a NUL" },
		{ "actions:f", "\"\\ud83d\"\n", "f:1:1: half of a surrogate pair" },
	};

	put_task(HEAD SCRIPT "baseline_scores: {Score: 1}\n");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct model *m = NULL;

		if (cases[i].file)
			put("f", cases[i].file);
		if (open_model(*state, cases[i].spec, &m) >= 0)
			fail_msg("'%s' %zu was taken", cases[i].spec, i);
		assert_has(error.message, cases[i].why);
		assert_null(m);
	}
	model_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_actions, make_scratch, remove_scratch),
		cmocka_unit_test_setup_teardown(test_a_task_s_own, make_scratch, remove_scratch),
		cmocka_unit_test_setup_teardown(test_refused, make_scratch, remove_scratch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
