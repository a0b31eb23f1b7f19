/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "agent/history.h"
#include "agent/pytext.h"
#include "agent/template.h"
#include "base/scope.h"
#include "base/str.h"

#include <string.h>

/* Builds a model's prompt: fills templates, and selects the messages kept of a long
 * conversation. */

static struct fh_error error;

static struct fields make_fields(struct arena *a)
{
	struct fields f = { .arena = a };

	fields_set(&f, "name", "Ada");
	fields_set(&f, "WINDOW", "10");
	fields_set(&f, "WINDOW", "1000");
	fields_set_number(&f, "step", -3);
	return f;
}

static const struct {
	const char *text, *out;
} rendered[] = {
	{ "", "" },
	{ "{name}: {WINDOW} {step}", "Ada: 1000 -3" },
	{ "{{name}} {{{name}}}", "{name} {Ada}" },
	{ "a\n{name}\n", "a\nAda\n" },
};

static void test_fields(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	struct fields f = make_fields(&a);

	for (size_t i = 0; i < ARRAY_SIZE(rendered); i++) {
		auto_buf struct buf out = BUF_INIT(1000);

		assert_done(template_render(
				&out, &(struct template){ rendered[i].text }, &f, &error));
		assert_string_equal(buf_str(&out), rendered[i].out);
	}
}

static const struct {
	const char *text, *message;
	bool block;
} refused[] = {
	{ "a\nb {nam}\n", "f.yaml:7: unknown field {nam}; did you mean {name}?", true },
	{ "b {nam}", "f.yaml:6: unknown field {nam}; did you mean {name}?", true },
	{ "a\n{nam}", "f.yaml:5: unknown field {nam}; did you mean {name}?" },
	{ "{zebra}", "f.yaml:5: unknown field {zebra} (write a literal brace twice: {{)" },
	{ "{}", "f.yaml:5: expected a field like {name}" },
	{ "{name!r}", "f.yaml:5: expected a field like {name}" },
	{ "{name", "f.yaml:5: expected a field like {name}" },
	{ "a } b", "f.yaml:5: a } that ends no field" },
};

static void test_unknown_fields(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	struct fields f = make_fields(&a);

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct node node = { .file = "f.yaml", .line = 5, .block = refused[i].block };
		auto_buf struct buf out = BUF_INIT(1000);

		assert_true(template_render(&out, &(struct template){ refused[i].text, &node }, &f,
					    &error) < 0);
		if (!str_starts(error.message, refused[i].message))
			fail_msg("'%s', not '%s'", error.message, refused[i].message);
	}
}

/* A template may use names that only the agent's state gives. They are empty until there is a
 * state. */
static void test_fields_of_a_state(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	struct fields f = make_fields(&a);
	struct node node = { .file = "f.yaml", .line = 5 };
	struct template t = { "{name}: {gpus}.", &node };
	auto_buf struct buf before = BUF_INIT(100), lacking = BUF_INIT(100), out = BUF_INIT(100);

	f.state = FIELDS_AWAIT_STATE;
	assert_done(template_render(&before, &t, &f, &error));
	assert_string_equal(buf_str(&before), "Ada: .");
	f.state = FIELDS_HAVE_STATE;
	assert_true(template_render(&lacking, &t, &f, &error) < 0);
	assert_non_null(strstr(error.message,
			"f.yaml:5: unknown field {gpus}, and the JSON object that state_command "));
	fields_set(&f, "gpus", "2");
	assert_done(template_render(&out, &t, &f, &error));
	assert_string_equal(buf_str(&out), "Ada: 2.");
}

/* --- history ---------------------------------------------------------------------------------- */

static void say(struct history *h, enum chat_role role, const char *text, bool is_demo)
{
	history_add(h,
			&(struct history_item){ .message = { .role = role, .content = text },
					.is_demo = is_demo });
}

static void make_history(struct history *h)
{
	say(h, CHAT_SYSTEM, "s", false);
	say(h, CHAT_USER, "[File: /demo (3 lines total)]\n1:a\n", true);
	say(h, CHAT_USER, "task", false);
	say(h, CHAT_ASSISTANT, "one", false);
	say(h, CHAT_USER, "x\n[File: /a b.py (3 lines total)]\n(0 more lines above)\n1:a\n2:b\nend",
			false);
	say(h, CHAT_ASSISTANT, "two", false);
	say(h, CHAT_TOOL, "[File: /c.py (1 lines total)]\n1:c\n", false);
	say(h, CHAT_USER, "3: no window\n", false);
	say(h, CHAT_USER, "[File: /a b.py (3 lines total)]\n1:A\n2:B\n3:C", false);
}

struct shown_case {
	const char *processor;
	int n;
	size_t changed; /* index of the only message that is changed */
	const char *content;
};

static const struct shown_case shown[] = {
	{ "DefaultHistoryProcessor", 0, 0, "s" },
	{ "Last100Observations", 0, 0, "s" },
	{ "LastNObservations", 3, 4, "(6 lines of earlier output are left out)" },
	{ "ClosedWindowHistoryProcessor", 0, 4,
			"x\n[File: /a b.py (3 lines total)]\n(0 more lines above)\n"
			"(2 lines of an older view are left out)\nend" },
};

static void test_history(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	struct history h = { .arena = &a };

	make_history(&h);
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		const struct history_processor *p =
				history_processor_find(shown[i].processor, &error);
		struct chat_message *out;

		assert_non_null(p);
		out = history_shown(&h, p, &(struct history_args){ shown[i].n }, &a);
		for (size_t j = 0; j < h.n; j++)
			assert_string_equal(out[j].content,
					j == shown[i].changed ? shown[i].content
							      : h.items[j].message.content);
	}
}

static void test_last_two(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	struct history h = { .arena = &a };
	const struct history_processor *p = history_processor_find("Last2Observations", &error);
	struct chat_message *out;

	make_history(&h);
	out = history_shown(&h, p, &(struct history_args){ 0 }, &a);
	assert_string_equal(out[2].content, "task");
	assert_string_equal(out[6].content, "(2 lines of earlier output are left out)");
	assert_string_equal(out[7].content, "3: no window\n");
	assert_null(history_processor_find("Last5Observation", &error));
	assert_string_equal(error.message,
			"no history processor 'Last5Observation'; did you mean "
			"'Last5Observations'?");
}

static void test_hints_stay(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	struct history h = { .arena = &a };
	struct history_item hint = { .message = { .role = CHAT_USER, .content = "hint" },
		.is_hint = true };
	const struct history_processor *p = history_processor_find("Last2Observations", &error);
	const char *const kept[] = { "task", "(1 lines of earlier output are left out)", "hint",
		"two", "three" };
	struct chat_message *out;

	say(&h, CHAT_USER, "task", false);
	say(&h, CHAT_USER, "one", false);
	history_add(&h, &hint);
	say(&h, CHAT_USER, "two", false);
	say(&h, CHAT_USER, "three", false);
	out = history_shown(&h, p, &(struct history_args){ 0 }, &a);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		assert_string_equal(out[i].content, kept[i]);
}

/* --- Python's text ---------------------------------------------------------------------------- */

static void test_text(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	auto_buf struct buf quoted = BUF_INIT(100);
	size_t n;

	assert_string_equal(pytext_strip(&a, " \xe2\x80\x89 a b\xc2\x85\n", 11), "a b");
	assert_int_equal(pytext_count_lines(""), 0);
	assert_int_equal(pytext_count_lines("a\r\nb\rc\n"), 3);
	assert_int_equal(pytext_count_lines("\n\xe2\x80\xa8x\fy"), 4);
	assert_memory_equal(pytext_first_word("\n two words", &n), "two", 3);
	assert_int_equal(n, 3);
	pytext_add_quoted(&quoted, "a'b");
	assert_string_equal(buf_str(&quoted), "'a'\"'\"'b'");
	buf_clear(&quoted);
	pytext_add_quoted(&quoted, "");
	assert_string_equal(buf_str(&quoted), "''");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_unknown_fields),
		cmocka_unit_test(test_fields_of_a_state),
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_last_two),
		cmocka_unit_test(test_hints_stay),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
