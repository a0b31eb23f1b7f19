/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "agent/parser.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <string.h>
#include <time.h>

/* Replies of a model, and the thought and action that each parser gets from them. Fences are read
 * exactly as in MLGym. */

static const struct command_argument open_arguments[] = {
	{ "path", "string", "", true },
	{ "line_number", "integer", "", false },
};

static const struct command_argument edit_arguments[] = {
	{ "start", "integer", "", true },
	{ "end", "integer", "", true },
	{ "text", "string", "", true },
};

static const struct command_argument put_arguments[] = {
	{ "name", "", "", true },
	{ "ratio", "number", "", true },
	{ "new", "boolean", "", true },
	{ "text", "string", "", true },
};

/* Arguments with Python's names of types, and with a name that is not a type. */
static const struct command_argument named_arguments[] = {
	{ "whole", "int", "", false },
	{ "ratio", "float", "", false },
	{ "new", "bool", "", false },
	{ "text", "str", "", false },
	{ "any", "filename", "", false },
};

static const struct agent_command items[] = {
	{ .name = "open",
			.signature = "open <path> [<line_number>]",
			.arguments = open_arguments,
			.n_arguments = 2 },
	{ .name = "edit",
			.signature = "edit <start>:<end>\n<text>\nend_of_edit",
			.end_name = "end_of_edit",
			.arguments = edit_arguments,
			.n_arguments = 3 },
	{ .name = "put",
			.signature = "put <name> [<ratio>] [<new>]\n<text>\ndone",
			.end_name = "done",
			.arguments = put_arguments,
			.n_arguments = 4 },
	{ .name = "named",
			.signature = "named [<whole>] [<ratio>] [<new>] [<text>] [<any>]",
			.arguments = named_arguments,
			.n_arguments = ARRAY_SIZE(named_arguments) },
	{ .name = "submit" },
};
static const struct commands commands = { items, ARRAY_SIZE(items) };

struct reply_case {
	const char *parser, *reply;
	const char *thought, *action; /* action NULL: the reply is refused */
};

static const struct reply_case cases[] = {
	{ "ThoughtActionParser", "look\n```\nls -a\n```\n", "look\n", "ls -a\n" },
	{ "ThoughtActionParser", "a\n```bash\nls\n```\nb", "a\nb", "ls\n" },
	{ "ThoughtActionParser", "a\n```\n\n \n  ls\n```", "a\n", "  ls\n" },
	{ "ThoughtActionParser", "```\none\n```\n```\ntwo\n```", "```\none\n```\n", "two\n" },
	{ "ThoughtActionParser", "```sh\ncat <<E\n```python\nx\n```\nE\n```\n", "",
			"cat <<E\n```python\nx\n```\nE\n" },
	{ "ThoughtActionParser", "a ```ls``` b", NULL, NULL },
	{ "ThoughtActionParser", "```\nnever closed\n", NULL, NULL },
	{ "ThoughtActionParser", "", NULL, NULL },
	{ "ThoughtActionParser", "```ls```\nx\n```\n", "", "x\n" },
	{ "ThoughtActionParser", " ```\nls\n ```\n", NULL, NULL },
	{ "ThoughtActionParser", "```\nls\n```   ", "", "ls\n" },
	{ "ThoughtActionParser", "```\xc2\xa0\nls\n```\n", "", "ls\n" },
	{ "ThoughtActionParser", "a\r\n```\r\nls\r\nx\ry\r\n```\r\n", "a\n", "ls\nx\ry\n" },
	{ "TolerantParser", "a\r\n```sh\r\nls\r\n```", "a\n", "ls\n" },
	{ "Identity", "ls\r\npwd\r\n", "ls\npwd\n", "ls\npwd\n" },
	{ "EditFormat", "c\n```\nnew\ntext\n```\n", "c\n", "new\ntext\n" },
	{ "MLGymThoughtActionParser", "look\n```\nls\n```\n", "look\n", "ls\n" },
	{ "MLGymThoughtActionParser", "see ```x``` and\n```\nls\n```\n", NULL, NULL },
	{ "MLGymThoughtActionParser", "```\none\n```\n```\ntwo\n```", NULL, NULL },
	{ "XMLThoughtActionParser", " why <command>\n ls\n</command> so ", "why  so", "ls" },
	{ "XMLThoughtActionParser", "<command>a</command><command>b</command>",
			"<command>a</command>", "b" },
	{ "XMLThoughtActionParser", "<command>ls", NULL, NULL },
	{ "ActionParser", " open a.py", " open a.py", " open a.py" },
	{ "ActionParser", "I open a.py", NULL, NULL },
	{ "ActionParser", " \n", NULL, NULL },
	{ "Identity", " as it is ", " as it is ", " as it is " },
	{ "JsonParser",
			"{\"thought\": \"t\", \"command\": {\"name\": \"open\", \"arguments\": {\"path\": "
			"\"a b\", \"line_number\": 3}}}",
			"t", "open 'a b' 3" },
	{ "JsonParser", "{\"thought\": \"t\", \"command\": {\"name\": \"open\", \"arguments\": {\"path\": \"a\"}}}",
			"t", "open a" },
	{ "JsonParser",
			"{\"thought\": \"t\", \"command\": {\"name\": \"edit\", \"arguments\": {\"start\": 1, "
			"\"end\": 2, \"text\": \"a 'b'\\nc\"}}}",
			"t", "edit 1:2\na 'b'\nc\nend_of_edit" },
	{ "JsonParser", "{\"thought\": \"t\", \"command\": {\"name\": \"ls\", \"arguments\": {\"x\": \"-l\", \"y\": \"a\"}}}",
			"t", "ls -l a" },
	{ "JsonParser", "{\"thought\": \"t\", \"command\": {\"name\": \"submit\"}}", "t",
			"submit" },
	{ "JsonParser", "{\"thought\": {\"why\": [1, \"a\"]}, \"command\": {\"name\": \"submit\"}}",
			"{\"why\":[1,\"a\"]}", "submit" },
	{ "JsonParser", "{\"thought\": 1.50, \"command\": {\"name\": \"submit\"}}", "1.50",
			"submit" },
	{ "JsonParser", "{\"thought\": null, \"command\": {\"name\": \"submit\"}}", "", "submit" },
	{ "JsonParser", "{\"command\": {\"name\": \"submit\"}}", NULL, NULL },
	{ "JsonParser", "{\"thought\": \"t\", \"command\": \"ls\"}", NULL, NULL },
	{ "JsonParser", "[1]", NULL, NULL },
	{ "JsonParser", "not json", NULL, NULL },
	{ "TolerantParser", "<think>```\nno\n```\n</think>\nso\n```\nls\n```\n",
			"<think>```\nno\n```\n</think>\nso\n", "ls\n" },
	{ "TolerantParser", "opened by the template</think><command>ls</command>",
			"opened by the template</think>", "ls" },
	{ "TolerantParser", "I do ```bash\nls -l\n", "I do ", "ls -l" },
	{ "TolerantParser", "then ```ls```", "then ", "ls" },
	{ "TolerantParser", "open a.py 3\n", "", "open a.py 3" },
	{ "TolerantParser", "<think>and it never ends ```\nls\n```\n", NULL, NULL },
	{ "TolerantParser", "I have no idea", NULL, NULL },
};

static void assert_case(const struct reply_case *c)
{
	auto_arena struct arena a = ARENA_INIT;
	struct chat_reply reply = { .content = c->reply };
	const struct output_parser *parser;
	struct fh_error error = FH_ERROR_INIT;
	struct parsed parsed = { 0 };
	int r;

	parser = output_parser_find(c->parser, &error);
	assert_non_null(parser);
	r = output_parse(parser, &a, &reply, &commands, &parsed, &error);
	if (r < 0 && c->action)
		fail_msg("%s refused '%s': %s", c->parser, c->reply, error.message);
	if (r == 0 && !c->action)
		fail_msg("%s took '%s' for '%s'", c->parser, c->reply, parsed.action);
	if (r < 0)
		return;
	assert_string_equal(parsed.action, c->action);
	assert_string_equal(parsed.thought, c->thought);
}

static void test_replies(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_case(&cases[i]);
}

#define SIXTY "123456789 123456789 123456789 123456789 123456789 123456789 "

/* Calls of tools, and the action that each becomes, or a word of the error if it is refused. */
static const struct {
	const char *name, *arguments, *action, *why;
} uses[] = {
	{ "bash", "{\"command\": \"ls -l\\npwd\"}", "ls -l\npwd" },
	{ "bash", "{\"command\": \"ls\\r\\npwd\"}", "ls\npwd" },
	{ "open", "{\"path\": \"it's\", \"line_number\": 4}", "open 'it'\"'\"'s' 4" },
	{ "submit", "", "submit" },
	{ "edit", "{\"start\": 1, \"end\": 1, \"text\": \"x = 'y'\"}",
			"edit 1:1\nx = 'y'\nend_of_edit" },
	{ "edit", "{\"start\": 1.0, \"end\": \"3\", \"text\": \"B\\n\"}",
			"edit 1:3\nB\nend_of_edit" },
	{ "edit", "{\"start\": 1, \"end\": 1, \"text\": \"a\\n\\n\"}",
			"edit 1:1\na\n\nend_of_edit" },
	{ "edit", "{\"start\": 1, \"end\": 1, \"text\": \"\\n\"}", "edit 1:1\n\nend_of_edit" },
	{ "edit", "{\"start\": 2, \"end\": 3, \"text\": \"\"}", "edit 2:3\nend_of_edit" },
	{ "open", "{\"path\": \"a\", \"line_number\": null, \"x\": null}", "open a" },
	{ "open", "{\"path\": \"[<path>] $x;\\n'edit <\\\\\"}",
			"open $'[\\x3cpath>] $x;\\n\\'edit \\x3c\\\\'" },
	{ "put", "{\"name\": \"a <<b\", \"ratio\": 0.50, \"new\": true, \"text\": \"x\"}",
			"put $'a \\x3c\\x3cb' 0.50 true\nx\ndone" },
	{ "put", "{\"name\": \"a\\ndone\\nls\", \"ratio\": -1, \"new\": false, \"text\": \"x\"}",
			"put $'a\\ndone\\nls' -1 false\nx\ndone" },
	{ "named",
			"{\"whole\": 3.0, \"ratio\": 0.5, \"new\": true, \"text\": \"a\", \"any\": "
			"\"b c\"}",
			"named 3 0.5 true a 'b c'" },
	{ "named", "{\"any\": 1e3}", "named     1e3" },
	{ "named", "{\"any\": false}", "named     false" },
	{ "named", "{\"whole\": 1.5}", NULL, "'whole' of 'named' has to be a whole number" },
	{ "named", "{\"ratio\": true}", NULL, "'ratio' of 'named' has to be a number" },
	{ "named", "{\"new\": 1}", NULL, "'new' of 'named' has to be true or false" },
	{ "named", "{\"text\": 1}", NULL, "'text' of 'named' has to be a text" },
	{ "named", "{\"any\": [1]}", NULL, "'any' of 'named' has to be a text or a number" },
	{ "named", "{\"" SIXTY "abc\u00e9\": 1}", NULL,
			"'named' has no argument '" SIXTY "abc'; there are: whole" },
	{ SIXTY "abc\xc3\xa9", "{}", NULL, "there is no tool '" SIXTY "abc'" },
	{ "bash", "{\"line\": \"ls\"}", NULL, "'bash' has no argument 'line'; there are: command" },
	{ "bash", "{}", NULL, "'bash' needs 'command'" },
	{ "bash", "{\"command\": 1}", NULL, "'command' of 'bash' has to be a text" },
	{ "rm", "{}", NULL, "no tool 'rm'" },
	{ "open", "{\"path\": ", NULL, "arguments of 'open':1:" },
	{ "open", "[\"a\"]", NULL, "arguments of 'open': not an object" },
	{ "open", "{\"path\": [1]}", NULL, "'path' of 'open' has to be a text" },
	{ "open", "{\"path\": null, \"line_number\": 2}", NULL, "'open' needs 'path'" },
	{ "open", "{\"path\": \"a\", \"file\": \"b\"}", NULL,
			"no argument 'file'; there are: path, line" },
	{ "open", "{\"path\": \"a\", \"line_number\": true}", NULL,
			"'line_number' of 'open' has to be a whole" },
	{ "open", "{\"path\": \"a\", \"line_number\": 1.5}", NULL, "a whole number" },
	{ "open", "{\"path\": \"a\", \"line_number\": 1e300}", NULL, "a whole number" },
	{ "open", "{\"path\": \"a\", \"line_number\": \"1\\nls\"}", NULL, "a whole number" },
	{ "open", "{\"path\": \"a\\u0000b\"}", NULL, "a text" },
	{ "submit", "{\"now\": true}", NULL, "'submit' has no argument 'now'; there are: none" },
	{ "edit", "{\"start\": 1, \"end\": 3}", NULL, "'edit' needs 'text'" },
	{ "edit", "{\"start\": \"1:1\\necho x\", \"end\": 2, \"text\": \"\"}", NULL,
			"'start' of 'edit'" },
	{ "edit", "{\"start\": 1, \"end\": 1, \"text\": \"a\\nend_of_edit \\nls\"}", NULL,
			"'text' of 'edit' has a line 'end_of_edit', which ends the text" },
	{ "put", "{\"name\": \"a\", \"ratio\": \"1\", \"new\": true, \"text\": \"\"}", NULL,
			"a number" },
	{ "put", "{\"name\": \"a\", \"ratio\": 1, \"new\": 1, \"text\": \"\"}", NULL,
			"true or false" },
};

static void test_tools(void **state)
{
	struct fh_error error = FH_ERROR_INIT;
	const struct output_parser *parser = output_parser_find("ToolCallParser", &error);

	for (size_t i = 0; i < ARRAY_SIZE(uses); i++) {
		auto_arena struct arena a = ARENA_INIT;
		struct chat_use use = { "id", uses[i].name, uses[i].arguments };
		struct chat_reply reply = { .content = "why", .uses = &use, .n_uses = 1 };
		struct parsed parsed = { 0 };

		assert_int_equal(output_parse(parser, &a, &reply, &commands, &parsed, &error) == 0,
				uses[i].action != NULL);
		if (!uses[i].action) {
			assert_has(error.message, uses[i].why);
			continue;
		}
		assert_string_equal(parsed.action, uses[i].action);
		assert_string_equal(parsed.thought, "why");
	}
}

/* Parsing must take linear time: a reply may have 16 MiB of anything, and all episodes wait
 * meanwhile. These replies take some 20 ms. Rereading the rest at each fence, tag or quote would
 * take minutes. */
#ifdef __SANITIZE_ADDRESS__ /* the sanitizer's strstr() always reads the whole rest */
#define LONG_BYTES (16 << 10)
#else
#define LONG_BYTES (4 << 20)
#endif
#define LONG_SECONDS 10.0

static const char *const nasty[] = { "```", "```\n", "```py\n", "```py ", "``` \n \n",
	"```\xc2\xa0", " ", "\n", "x", "\xe2\x80", "<command>", "</command>", "<think>", "</think>",
	"<command>```\n</command>", "\"", "\\", "[", "{\"a\":", "{\"thought\":\"x\",",
	"end_of_edit\n" };

static char *repeated(const char *text, size_t bytes)
{
	size_t n = strlen(text);
	char *out = xcalloc(bytes + n + 1, 1);

	for (size_t at = 0; at < bytes; at += n)
		memcpy(out + at, text, n);
	return out;
}

static double seconds_of(const struct output_parser *parser, const char *text)
{
	auto_arena struct arena a = ARENA_INIT;
	struct chat_use use = { "id", "bash", text };
	struct chat_reply reply = { .content = text, .uses = &use, .n_uses = 1 };
	struct fh_error error = FH_ERROR_INIT;
	struct parsed parsed = { 0 };
	clock_t begin = clock();

	output_parse(parser, &a, &reply, &commands, &parsed, &error);
	return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

static void test_long_replies(void **state)
{
	static const char *const names[] = { "ActionParser", "ThoughtActionParser",
		"MLGymThoughtActionParser", "XMLThoughtActionParser", "EditFormat", "Identity",
		"JsonParser", "ToolCallParser", "TolerantParser" };

	for (size_t i = 0; i < ARRAY_SIZE(nasty); i++) {
		auto_free char *text = repeated(nasty[i], LONG_BYTES);

		for (size_t j = 0; j < ARRAY_SIZE(names); j++) {
			double seconds = seconds_of(output_parser_find(names[j], NULL), text);

			if (seconds > LONG_SECONDS)
				fail_msg("%s took %.1f s for '%s' again and again", names[j],
						seconds, nasty[i]);
		}
	}
}

static void test_names(void **state)
{
	struct fh_error error = FH_ERROR_INIT;

	assert_null(output_parser_find("ThoughtActionParse", &error));
	assert_string_equal(error.message,
			"no output parser 'ThoughtActionParse'; did you mean "
			"'ThoughtActionParser'?");
	assert_null(output_parser_find("Zebra", &error));
	assert_non_null(strstr(error.message, "there are: ActionParser, "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replies),
		cmocka_unit_test(test_tools),
		cmocka_unit_test(test_long_replies),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
