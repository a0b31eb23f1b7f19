/* SPDX-License-Identifier: Apache-2.0 */
#include "task_scratch.h"

#include "agent/config.h"
#include "agent/native.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>

/* Loads configurations of agents: those that ship, those that are refused, and the actions that
 * they block. */

static struct fh_error error;

static struct agent_config *load_config(
		const char *spec, const char *root, struct warnings *warnings)
{
	struct agent_config *c = NULL;

	assert_done(agent_config_load(
			&(struct agent_config_options){
					.spec = spec, .root = root, .warnings = warnings },
			&c, &error));
	return c;
}

static void test_those_that_ship(void **state)
{
	static const char *const names[] = { "default", "memory", "tool_calling" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct agent_config *c = load_config(names[i], NULL, NULL);

		assert_string_equal(c->stem, names[i]);
		assert_non_null(commands_find(&c->commands, "submit"));
		assert_non_null(strstr(
				c->command_docs, "signature: edit <start_line>:<end_line>\n"));
		assert_int_equal(c->parser->wants_tools, i == 2);
		agent_config_free(c);
	}
}

static bool changes_hash(const char *file, const char *text)
{
	struct agent_config *before = load_config("h.yaml", NULL, NULL), *after;
	bool changed;

	put(file, text);
	after = load_config("h.yaml", NULL, NULL);
	changed = !str_eq(before->hash, after->hash);
	agent_config_free(before);
	agent_config_free(after);
	return changed;
}

static void test_hash(void **state)
{
	static const char config[] = "system_template: s\ntask_template: t\n"
				     "put_demos_in_history: true\n"
				     "demonstrations: [d.traj]\n"
				     "tools: {command_files: [c.sh]}\n";

	put("c.sh", "# @yaml\n# signature: c\n# docstring: c\nc() {\n\techo 1\n}\n");
	put("h.yaml", config);
	assert_false(changes_hash("h.yaml", config));
	assert_true(changes_hash("d.traj", "{}"));
	assert_true(changes_hash("d.traj", "{ }"));
	assert_true(changes_hash(
			"c.sh", "# @yaml\n# signature: c\n# docstring: c\nc() {\n\techo 2\n}\n"));
	assert_true(changes_hash("h.yaml", "system_template: S\ntask_template: t\n"));
}

#undef HEAD
#define HEAD "system_template: s {command_docs}\ntask_template: t\n"

static const struct {
	const char *text, *message;
} refused[] = {
	{ "task_template: t\n", "a.yaml:1:1: agent: key 'system_template' is missing" },
	{ HEAD "output_parser: ThoughtActionParse\n",
			"a.yaml:3:16: no output parser 'ThoughtActionParse'; did you mean" },
	{ HEAD "history_processor: Last3Observations\n",
			"a.yaml:3:20: no history processor 'Last3Observations'; did you mean" },
	{ HEAD "history_processor: LastNObservations\n",
			"a.yaml:3:20: LastNObservations needs history_processor_args: {n: ...}" },
	{ HEAD "history_processor: LastNObservations\nhistory_processor_args: {n: 0}\n",
			"a.yaml:4:29: 'n': 0 is not from 1 to 1000000" },
	{ HEAD "tools: {env_variables: {A: 1, a-b: 2}}\n",
			"a.yaml:3:31: env_variables: 'a-b' can't be the name of a variable" },
	{ HEAD "tools: {native: [open, fly]}\n", "a.yaml:3:17: there is no command 'fly'" },
	{ HEAD "tools: {parser: Other}\n", "a.yaml:3:17: " },
	{ HEAD "demonstrations: [a.traj]\n", "a.yaml:3:17: demonstrations need" },
	{ HEAD "next_template: x\n", "a.yaml:3:1: key 'next_template': unknown key; did you mean" },
};

static void test_refused(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct agent_config *c = NULL;

		put("a.yaml", refused[i].text);
		assert_int_equal(agent_config_load(
						 &(struct agent_config_options){ .spec = "a.yaml" },
						 &c, &error),
				-EINVAL);
		if (!str_starts(error.message, refused[i].message))
			fail_msg("'%s', not '%s'", error.message, refused[i].message);
	}
	assert_true(agent_config_load(&(struct agent_config_options){ .spec = "nobody" },
				    &(struct agent_config *){ NULL }, &error) < 0);
	assert_non_null(strstr(
			error.message, "there are: default, lit_search, memory, tool_calling"));
}

static const struct {
	const char *action, *name; /* NULL: fine */
} blocked[] = {
	{ "vim a.py", "vim" },
	{ " git\tstatus", "git" },
	{ "python", "python" },
	{ " python3 \n", "python3" },
	{ "python a.py", NULL },
	{ "gitk", NULL },
	{ "", NULL },
	{ "v", NULL },
};

static void test_blocklist(void **state)
{
	struct agent_config *c;

	put("b.yaml", HEAD);
	c = load_config("b.yaml", NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(blocked); i++) {
		auto_arena struct arena a = ARENA_INIT;
		const char *name;
		bool is = agent_config_blocks(c, blocked[i].action, &a, &name);

		assert_int_equal(is, blocked[i].name != NULL);
		if (is)
			assert_string_equal(name, blocked[i].name);
	}
	assert_ptr_equal(c->no_output.text, c->task.text);
	assert_string_equal(c->blocked.text,
			"'{name}' was not run: commands that wait for a terminal, and those that are "
			"blocked, can't be used here. Give another command.");
	agent_config_free(c);
}

/* In a checkout of MLGym, paths begin at the checkout. An unknown key gives a warning. */
static void test_checkout(void **state)
{
	struct warnings warnings = { 0 };
	struct agent_config *c;

	put("root/configs/agents/x.yaml",
			HEAD "command_parser: y\n"
			     "tools: {command_files: [tools/peek.sh], env_variables: {N: 7}, "
			     "parser: ParseCommandDetailed}\n");
	put("root/tools/peek.sh", "# @yaml\n# docstring: shows {N} lines\npeek() {\n\ttrue\n}\n");
	c = load_config("configs/agents/x.yaml", "root", &warnings);
	assert_int_equal(warnings.n, 1);
	assert_string_equal(c->command_docs,
			"peek:\n  docstring: shows 7 lines\n  signature: peek\n\n");
	agent_config_free(c);
}

#define ARGUMENTS                                                                                  \
	"# arguments:\n#   a: {type: int, required: true}\n#   b: {required: false}\n"             \
	"#   c: {required: true}\n"

/* MLGym's command files may have arguments that their signatures lack. For models with tool calls,
 * the signature gets the missing required ones. The missing optional ones are dropped. */
static void test_signatures_of_tools(void **state)
{
	static const struct {
		const char *signature, *parser, *fitted;
		size_t n;
	} cases[] = {
		{ "x <a> [<b>] <c>", "ToolCallParser", "x <a> [<b>] <c>", 3 },
		{ "x <a>", "ToolCallParser", "x <a> <c>", 2 },
		{ "x", "ToolCallParser", "x <a> <c>", 2 },
		{ "\"x <a>\\n<b>\\nend\"", "ToolCallParser", "x <a> <c>\n<b>\nend", 3 },
		{ "x <a>", "TolerantParser", "x <a>", 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_free char *file =
				xasprintf("# @yaml\n# signature: %s\n# docstring: d\n" ARGUMENTS
					  "x() {\n\ttrue\n}\n",
						cases[i].signature);
		auto_free char *config = xasprintf(HEAD
				"output_parser: %s\ntools: {command_files: [x.sh]}\n",
				cases[i].parser);
		struct agent_config *c;

		put("x.sh", file);
		put("a.yaml", config);
		c = load_config("a.yaml", NULL, NULL);
		assert_string_equal(c->commands.items[0].signature, cases[i].fitted);
		assert_int_equal(c->commands.items[0].n_arguments, cases[i].n);
		agent_config_free(c);
	}
}

/* The JSON Schema of a tool leaves out the optional `b`, and writes `integer` for `int`. */
static void test_schema_of_tools(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	struct agent_config *c;
	struct chat_tool *tools;
	size_t n;

	put("x.sh", "# @yaml\n# signature: x\n# docstring: d\n" ARGUMENTS "x() {\n\ttrue\n}\n");
	put("a.yaml", HEAD "output_parser: ToolCallParser\ntools: {command_files: [x.sh]}\n");
	c = load_config("a.yaml", NULL, NULL);
	tools = command_tools(&a, &c->commands, &n);
	assert_int_equal(n, 2);
	assert_string_equal(tools[1].parameters,
			"{\"type\":\"object\",\"properties\":{"
			"\"a\":{\"type\":\"integer\",\"description\":\"\"},"
			"\"c\":{\"type\":\"string\",\"description\":\"\"}},"
			"\"required\":[\"a\",\"c\"]}");
	agent_config_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_those_that_ship),
		cmocka_unit_test_setup_teardown(test_hash, make_scratch, remove_scratch),
		cmocka_unit_test_setup_teardown(test_refused, make_scratch, remove_scratch),
		cmocka_unit_test_setup_teardown(test_blocklist, make_scratch, remove_scratch),
		cmocka_unit_test_setup_teardown(test_checkout, make_scratch, remove_scratch),
		cmocka_unit_test_setup_teardown(
				test_signatures_of_tools, make_scratch, remove_scratch),
		cmocka_unit_test_setup_teardown(test_schema_of_tools, make_scratch, remove_scratch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
