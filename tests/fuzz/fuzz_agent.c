/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/history.h"
#include "agent/parser.h"
#include "agent/pytext.h"
#include "agent/template.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/multiline.h"
#include "trajectory/compare.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Fuzzes the functions that handle an agent's texts. Takes the input as a reply, a template, an
 * observation and an action. A parser either refuses the reply or gives an action and a thought. No
 * result may grow far beyond the input.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define TEXT_BYTES_MAX (1 << 20)

static const char *const parsers[] = { "ActionParser", "ThoughtActionParser",
	"MLGymThoughtActionParser", "XMLThoughtActionParser", "EditFormat", "Identity",
	"JsonParser", "ToolCallParser", "TolerantParser" };

static const char *const processors[] = { "DefaultHistoryProcessor", "Last2Observations",
	"ClosedWindowHistoryProcessor" };

static const struct command_argument open_arguments[] = {
	{ "path", "string", "", true },
	{ "line", "integer", "", false },
};
static const struct command_argument edit_arguments[] = {
	{ "a", "integer", "", true },
	{ "text", "string", "", true },
};
static const struct agent_command items[] = {
	{ .name = "open",
			.signature = "open <path> [<line>]",
			.arguments = open_arguments,
			.n_arguments = ARRAY_SIZE(open_arguments) },
	{ .name = "edit",
			.signature = "edit <a>:<a>\n<text>\nend_of_edit",
			.end_name = "end_of_edit",
			.arguments = edit_arguments,
			.n_arguments = ARRAY_SIZE(edit_arguments) },
};
static const struct commands commands = { items, ARRAY_SIZE(items) };

static void parse_all(const char *text)
{
	for (size_t i = 0; i < 2 * ARRAY_SIZE(parsers); i++) {
		auto_arena struct arena a = ARENA_INIT;
		struct chat_use use = { "id", items[i % 2].name, text };
		struct chat_reply reply = { .content = text, .uses = &use, .n_uses = 1 };
		struct parsed parsed = { 0 };

		if (output_parse(output_parser_find(parsers[i / 2], NULL), &a, &reply, &commands,
				    &parsed, NULL) < 0)
			continue;
		if (!parsed.action || !parsed.thought ||
				strlen(parsed.action) > 8 * strlen(text) + 64)
			abort();
	}
}

static void render(const char *text)
{
	auto_arena struct arena a = ARENA_INIT;
	auto_buf struct buf out = BUF_INIT(TEXT_BYTES_MAX);
	struct fields fields = { .arena = &a };
	struct node at = { .file = "f", .line = 1 };

	fields_set(&fields, "a", "value");
	fields_set(&fields, "observation", text);
	template_render(&out, &(struct template){ text, &at }, &fields, NULL);
}

static void shorten(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(processors); i++) {
		auto_arena struct arena a = ARENA_INIT;
		struct history h = { .arena = &a };
		struct chat_message *out;

		for (int j = 0; j < 4; j++)
			history_add(&h,
					&(struct history_item){
							.message = { .role = CHAT_USER,
									.content = text } });
		out = history_shown(&h, history_processor_find(processors[i], NULL),
				&(struct history_args){ 0 }, &a);
		if (!str_eq(out[3].content, text))
			abort();
	}
}

/* Quoting a multi-line command twice must give the same text as quoting it once. */
static void quote(const char *text)
{
	static const struct multiline all[] = { { "edit", "end_of_edit" }, { "put", "x" } };
	auto_free char *once = multiline_quote(text, all, ARRAY_SIZE(all));
	auto_free char *twice = once ? multiline_quote(once, all, 1) : NULL;

	if (once && strlen(once) > 4 * strlen(text) + 64)
		abort();
	if (twice && strlen(twice) > 4 * strlen(once) + 64)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_buf struct buf diff = BUF_INIT(TEXT_BYTES_MAX);
	auto_free char *text = n < 65536 ? strndup((const char *)data, n) : NULL;
	struct compare_text shown = { text, compare_time("2026-11-21T09:30:00.000Z") };

	if (!text)
		return 0;
	parse_all(text);
	render(text);
	shorten(text);
	quote(text);
	if (compare_texts(shown, shown) != COMPARE_EQUAL)
		abort();
	compare_diff(&diff, shown, (struct compare_text){ "other\n", 0 }, 10);
	(void)compare_time(text);
	if (str_utf8_invalid(text, strlen(text)) < 0)
		(void)pytext_count_lines(text);
	return 0;
}
