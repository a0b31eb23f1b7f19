/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "agent/command_file.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>

static struct fh_error error;

static const struct text_pair pairs[] = { { "WINDOW", "40" }, { "LIST", "()" } };
static const struct text_map fields = { pairs, ARRAY_SIZE(pairs) };

static struct command_file parse(struct arena *a, const char *path, const char *text)
{
	struct command_file file;

	assert_done(command_file_parse(a, path, text, strlen(text), &file, &error));
	return file;
}

static const char *const functions = "# A licence, and other words: of no meaning\n"
				     "_count() {\n"
				     "\twc -l \"$1\"\n"
				     "}\n"
				     "\n"
				     "# @yaml\n"
				     "# docstring: shows {WINDOW} lines, {{as they are}}\n"
				     "# arguments:\n"
				     "#   file:\n"
				     "#     type: string\n"
				     "#     description: which file\n"
				     "#     required: true\n"
				     "#   line:\n"
				     "#     type: integer\n"
				     "#     description: where\n"
				     "#     required: no\n"
				     "peek() {\n"
				     "\thead \"$1\"\n"
				     "}\n"
				     "# @yaml\n"
				     "# signature: |-\n"
				     "#   put <file>\n"
				     "#   <text>\n"
				     "#   end_of_put\n"
				     "# docstring: writes text\n"
				     "# end_name: end_of_put\n"
				     "put() {\n"
				     "\tcat > \"$1\"\n"
				     "}\n"
				     "plain () {\n"
				     "\ttrue\n"
				     "}\n";

static void test_functions(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	struct command_file file = parse(&a, "/x/tools.sh", functions);
	const struct agent_command *c = file.commands;

	assert_int_equal(file.kind, COMMAND_FILE_SOURCED);
	assert_string_equal(file.name, "tools.sh");
	assert_string_equal(file.contents, functions);
	assert_int_equal(file.n_commands, 3);
	assert_string_equal(c[0].name, "peek");
	assert_string_equal(c[0].signature, "peek <file> [<line>]");
	assert_int_equal(c[0].n_arguments, 2);
	assert_true(c[0].arguments[0].required);
	assert_false(c[0].arguments[1].required);
	assert_string_equal(c[0].arguments[1].type, "integer");
	assert_null(c[0].end_name);
	assert_string_equal(c[1].signature, "put <file>\n<text>\nend_of_put");
	assert_string_equal(c[1].end_name, "end_of_put");
	assert_string_equal(c[2].name, "plain");
	assert_null(c[2].docstring);
}

static void test_docs(void **state)
{
	static const char *const expected[] = {
		[COMMAND_DOCS_BASH] = "peek <file> [<line>] - shows 40 lines, {as they are}\n"
				      "put <file>\n<text>\nend_of_put - writes text\n",
		[COMMAND_DOCS_DETAILED] = "peek:\n"
					  "  docstring: shows 40 lines, {as they are}\n"
					  "  signature: peek <file> [<line>]\n"
					  "  arguments:\n"
					  "    - file (string) [required]: which file\n"
					  "    - line (integer) [optional]: where\n"
					  "\n"
					  "put:\n"
					  "  docstring: writes text\n"
					  "  signature: put <file>\n<text>\nend_of_put\n"
					  "\n"
					  "plain:\n"
					  "  signature: plain\n"
					  "\n",
	};
	auto_arena struct arena a = ARENA_INIT;
	struct command_file file = parse(&a, "tools.sh", functions);

	for (enum command_docs i = 0; i < ARRAY_SIZE(expected); i++) {
		auto_buf struct buf out = BUF_INIT(4096);

		assert_done(command_docs_add(&out, i, &file, 1, &fields, &error));
		assert_string_equal(buf_str(&out), expected[i]);
	}
}

static void test_scripts(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	struct command_file file = parse(&a, "bin/look_up.v2.py",
			"\n#!/usr/bin/env python3\n#@yaml\n#docstring: looks\n#arguments:\n"
			"#  what:\n#    required: true\nprint()\n# done\n");

	assert_int_equal(file.kind, COMMAND_FILE_SCRIPT);
	assert_string_equal(file.name, "look_up.v2");
	assert_int_equal(file.n_commands, 1);
	assert_string_equal(file.commands[0].signature, "look_up.v2 <what>");
	assert_string_equal(file.commands[0].arguments[0].type, "");

	file = parse(&a, "bare", "#!/bin/sh\n# @yaml\n# docstring: bare\ntrue\n");
	assert_null(file.commands[0].signature);
	file = parse(&a, "_help.py", "#!/bin/sh\ntrue\n");
	assert_int_equal(file.n_commands, 0);
	assert_int_equal(file.kind, COMMAND_FILE_SCRIPT);
	file = parse(&a, "_more", "f() {\n}\n");
	assert_int_equal(file.kind, COMMAND_FILE_HELPER);
}

static void test_refused(void **state)
{
	static const struct {
		const char *path, *text, *expected;
	} cases[] = {
		{ "a.py", "print()\n", "a.py:1:1: neither a script" },
		{ "a.py", "#!/bin/sh\ntrue\n", "a.py:1:1: a script without a '# @yaml'" },
		{ ".py", "#!/bin/sh\n", ".py:1:1: a script without a name" },
		{ "a", "#!/bin/sh\n# @yaml\n# docstring: x\n\n# @yaml\n# docstring: y\n",
				"a:5:1: a second '@yaml'" },
		{ "a.sh", "\nf() {\n  true\n", "a.sh:2:1: a function without an end" },
		{ "a.sh", "# @yaml\n# docstring: x\n# arguments: 7\nf() {\n}\n",
				"a.sh:3:14: 'arguments'" },
		{ "a.sh", "# @yaml\n# docstring: x\n# arguments:\n#   p: 7\nf() {\n}\n",
				"a.sh:4:8: 'p': expected" },
		{ "a.sh", "# @yaml\n# docstring: x\n# arguments:\n#   p:\n#     type: t\nf() {\n}\n",
				"a.sh:5:7: 'p' wants 'required'" },
		{ "a.sh", "\n\n# @yaml\n# signature: f\nf() {\n}\n",
				"a.sh:4:3: the command 'f' wants a 'docstring'" },
		{ "a.sh", "# @yaml\n# docstring: [x]\nf() {\n}\n", "a.sh:2:14: 'docstring'" },
		{ "a.sh", "# @yaml\n# docstring: a: b\nf() {\n}\n", "a.sh:2:" },
		{ "a.sh", "# @yaml\n# words\nf() {\n}\n", "a.sh:2:3: '@yaml': expected a mapping" },
		{ "a.sh", "\xff", "a.sh: it is not text" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_arena struct arena a = ARENA_INIT;
		struct command_file file = { .name = "untouched" };
		int r = command_file_parse(&a, cases[i].path, cases[i].text, strlen(cases[i].text),
				&file, &error);

		assert_int_equal(r, -EINVAL);
		assert_string_equal(file.name, "untouched");
		if (!str_starts(error.message, cases[i].expected))
			fail_msg("'%s' does not begin with '%s'", error.message, cases[i].expected);
	}
}

static void test_fields(void **state)
{
	static const struct {
		const char *docstring, *expected;
		bool taken;
	} cases[] = {
		{ "'{LIST}{{}}'", "f - (){}\n", true },
		{ "'{NONE}'", "unknown field {NONE}", false },
		{ "'{}'", "expected a field like {name}", false },
		{ "'{WINDOW'", "brace twice: {{", false },
		{ "'{WIN{DOW}'", "brace twice: {{", false },
		{ "'a } b'", "brace twice: }}", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_arena struct arena a = ARENA_INIT;
		auto_buf struct buf out = BUF_INIT(4096);
		const char *text = arena_printf(&a, "#\n\n# @yaml\n# docstring: %s\nf() {\n}\n",
				cases[i].docstring);
		struct command_file file = parse(&a, "t.sh", text);
		int r = command_docs_add(&out, COMMAND_DOCS_BASH, &file, 1, &fields, &error);

		assert_int_equal(r, cases[i].taken ? 0 : -EINVAL);
		assert_has(cases[i].taken ? buf_str(&out) : error.message, cases[i].expected);
		if (!cases[i].taken)
			assert_has(error.message, "t.sh:4:14: docstring of 'f'");
	}
}

static void test_caps(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	auto_buf struct buf text = BUF_INIT(2 * COMMAND_FILE_BYTES_MAX);
	struct command_file file;

	for (int i = 0; i <= COMMANDS_MAX; i++)
		buf_printf(&text, "f%d() {\n}\n", i);
	assert_int_equal(command_file_parse(&a, "t.sh", buf_str(&text), text.len, &file, &error),
			-EINVAL);
	assert_has(error.message, "more than 128 commands");
	while (text.len <= COMMAND_FILE_BYTES_MAX)
		buf_add_str(&text, "true\n");
	assert_int_equal(command_file_parse(&a, "t.sh", buf_str(&text), text.len, &file, &error),
			-EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_docs),
		cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_caps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
