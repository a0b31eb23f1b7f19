/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"

#include "agent/command_setup.h"
#include "base/str.h"
#include "env/env.h"

#include <errno.h>

/* Tests command files, which give an agent commands. Each shell of an episode has the commands and
 * their state from the first step. */

static const char *const sourced =
		"_twice() { echo \"$1$1\"; }\n"
		"# @yaml\n# docstring: scores\nvalidate() {\n  echo '<<VALIDATION||'\n}\n"
		"# @yaml\n# docstring: opens\nview() {\n  CURRENT=$(realpath \"$1\")\n  _twice x\n}\n";
static const char *const script =
		"#!/bin/sh\n# @yaml\n# docstring: greets\n"
		"echo \"hello, ${WINDOW:-nobody}\"; . /home/agent/commands/_more\n";
static const char *const helper = "echo more\n";
static const char *const state_code =
		"state() {\n"
		"  echo \"{\\\"open_file\\\": \\\"${CURRENT:-n/a}\\\", \\\"words\\\": ${#LIST[@]}}\"\n"
		"}";

static const struct text_pair variables[] = {
	{ "WINDOW", "40" },
	{ "CURRENT", "" },
	{ "LIST", "()" },
};

static void parse(struct arena *a, const char *path, const char *text, struct command_file *out)
{
	assert_done(command_file_parse(a, path, text, strlen(text), out, &error));
}

static struct fh_env *open_as(const char *text, bool exported, int r)
{
	auto_arena struct arena a = ARENA_INIT;
	const struct text_map map = { variables, ARRAY_SIZE(variables) };
	struct command_file files[3];
	struct env_setup setup;
	struct fh_env *env = open_env("rows");

	parse(&a, "view.sh", text, &files[0]);
	parse(&a, "greet.sh2", script, &files[1]);
	parse(&a, "_more", helper, &files[2]);
	assert_done(command_setup_make(&a,
			&(struct command_setup){
					.files = files,
					.n_files = ARRAY_SIZE(files),
					.env_variables = &map,
					.exported = exported,
					.state_name = "state",
					.state_code = state_code,
			},
			&setup, &error));
	assert_done(env_set_setup(env, &setup, &error));
	assert_int_equal(fh_env_reset(env, NULL, &step, &error), r);
	return env;
}

static struct fh_env *open_with(const char *text, int r)
{
	return open_as(text, false, r);
}

static void test_commands(void **state)
{
	struct fh_env *env = open_with(sourced, 0);

	assert_has(step.observation, "Write the sign");
	assert_string_equal(step.tools_state, "{\"open_file\": \"n/a\", \"words\": 0}\n");
	act(env, "view data.csv; LIST+=(a b); greet");
	assert_string_equal(step.observation, "xx\nhello, nobody\nmore\n");
	assert_int_equal(step.step, 1);
	assert_string_equal(step.open_file, "/home/agent/workspace/data.csv");
	assert_has(step.tools_state, "\"words\": 2");
	act(env, "echo \"[$LAST_ACTION]\"; echo 'a'\\''b'  ");
	assert_string_equal(step.observation, "[view data.csv; LIST+=(a b); greet]\na'b\n");
	act(env, "cd /tmp; (exit 7)");
	act(env, "echo $? $LAST_ACTION");
	assert_string_equal(step.observation, "7 cd /tmp; (exit 7)\n");
	assert_string_equal(step.working_dir, "/tmp");
	assert_int_equal(step.step, 4);
	fh_env_close(env);
}

/* Programs see exported variables in each new shell. Exporting an array is not an error, though no
 * program can see it. */
static void test_exported(void **state)
{
	struct fh_env *env = open_as(sourced, true, 0);

	act(env, "greet; exit");
	assert_has(step.observation, "hello, 40\nmore\n");
	act(env, "greet; LIST+=(a b); echo ${#LIST[@]}");
	assert_string_equal(step.observation, "hello, 40\nmore\n2\n");
	fh_env_close(env);
}

/* A command that an agent's configuration documents works in the shell and in its children. Two
 * kinds are replaced by our programs: commands that score, and commands that can't work in a
 * sandbox. */
static void test_names_of_ours(void **state)
{
#define SCRIPT(text) "#!/bin/sh\n# @yaml\n# docstring: d\n" text "\n"
	static const struct {
		const char *file, *text;
		bool runs;
	} cases[] = {
		{ "plot", SCRIPT("echo mine"), true },
		{ "memory_read.py", SCRIPT("echo mine"), true },
		{ "literature_search.py", SCRIPT("echo mine"), true },
		{ "literature_search.py", SCRIPT("\nimport requests\n"), false },
		{ "parse_pdf_url.py", SCRIPT("import pypdf\nimport requests\n"), false },
		{ "memory_write", SCRIPT("from transformers import AutoModel"), false },
		{ "validate", SCRIPT("echo mine"), false },
		{ "submit.py", SCRIPT("echo mine"), false },
	};
#undef SCRIPT

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_arena struct arena a = ARENA_INIT;
		struct fh_env *env = open_env("rows");
		struct command_file file;
		struct env_setup setup;
		const char *text;

		parse(&a, cases[i].file, cases[i].text, &file);
		assert_done(command_setup_make(&a,
				&(struct command_setup){ .files = &file, .n_files = 1 }, &setup,
				&error));
		assert_done(env_set_setup(env, &setup, &error));
		assert_done(fh_env_reset(env, NULL, &step, &error));
		act(env,
				arena_printf(&a, "type -P %s; sh -c 'command -v %s'", file.name,
						file.name));
		text = cases[i].runs ? "/home/agent/commands/" : "/fumehood/bin/";
		assert_string_equal(step.observation,
				arena_printf(&a, "%s%s\n%s%s\n", text, file.name, text, file.name));
		fh_env_close(env);
	}
}

/* A new shell has the agent's commands and state again, whatever ended the last shell. */
static void test_after_a_restart(void **state)
{
	struct fh_env *env = open_with(sourced, 0);

	act(env, "view data.csv; exit 3");
	assert_true(step.restarted);
	assert_int_equal(step.exit_code, 3);
	assert_string_equal(step.open_file, "n/a");
	act(env, "view data.csv");
	assert_string_equal(step.observation, "xx\n");
	assert_has(step.tools_state, "data.csv");
	fh_env_close(env);
}

/* An agent that breaks the function that reports its state harms only itself. */
static void test_hostile_state(void **state)
{
	static const char *const states[] = {
		"state() { echo no object; }",
		"state() { echo '[1]'; }",
		"state() { head -c 100000 /dev/zero; }",
		"state() { exit 5; }",
		"state() { kill -9 $$; }",
		"unset -f state",
	};

	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		struct fh_env *env = open_with(sourced, 0);

		act(env, states[i]);
		assert_int_equal(step.exit_code, 0);
		assert_null(step.exit_status);
		/* A function that ends the shell leads to a fresh shell, without an open file. */
		if (step.tools_state)
			assert_has(step.tools_state, "\"n/a\"");
		act(env, "echo on");
		assert_has(step.observation, "on");
		fh_env_close(env);
	}
}

static void test_asks_for_a_score(void **state)
{
	struct fh_env *env = open_with(sourced, 0);

	act(env, "cp zeros.csv submission.csv; validate");
	assert_has(step.observation, "Evaluation Score: {'accuracy': 0.5}");
	assert_lacks(step.observation, "VALIDATION");
	act(env, "cp zeros.csv submission.csv; state() { submit; echo '{}'; }");
	assert_string_equal(step.exit_status, "submitted");
	fh_env_close(env);
}

static void test_broken_setup(void **state)
{
	struct fh_env *env = open_with("echo broken here; false", -EINVAL);

	assert_has(error.message, "the agent's commands can't be set up");
	assert_has(error.message, "broken here");
	assert_done(env_set_setup(env, NULL, &error));
	assert_done(fh_env_reset(env, NULL, &step, &error));
	act(env, "type _twice");
	assert_int_not_equal(step.exit_code, 0);
	assert_null(step.tools_state);
	fh_env_close(env);
}

static void test_polled(void **state)
{
	struct fh_env *env = open_with(sourced, 0);
	struct fh_env *done = NULL;

	assert_done(fh_env_reset_start(env, &FH_RESET(.seed = 1), &error));
	while (fh_gym_wait(gym, 1000, &done, 1, &error) == 0)
		;
	assert_ptr_equal(done, env);
	assert_done(fh_env_end(env, &step, &error));
	for (int i = 1; i < 4; i++) {
		assert_done(fh_env_step_start(env,
				&FH_ACTION(.text = i == 2 ? "exit" : "view zeros.csv"), &error));
		while (fh_gym_wait(gym, 1000, &done, 1, &error) == 0)
			;
		assert_done(fh_env_end(env, &step, &error));
		assert_int_equal(step.step, i);
		assert_has(step.tools_state, i == 2 ? "n/a" : "zeros.csv");
	}
	fh_env_close(env);
}

static void test_refused(void **state)
{
	auto_arena struct arena a = ARENA_INIT;
	struct command_file files[2];
	struct env_setup setup;

	parse(&a, "a.sh", "", &files[0]);
	parse(&a, "x/a.sh", "", &files[1]);
	assert_int_equal(command_setup_make(&a,
					 &(struct command_setup){ .files = files, .n_files = 2 },
					 &setup, &error),
			-EINVAL);
	assert_has(error.message, "x/a.sh: the name 'a.sh' is taken by a.sh");
	parse(&a, "a b.sh", "", &files[0]);
	assert_int_equal(command_setup_make(&a,
					 &(struct command_setup){ .files = files, .n_files = 1 },
					 &setup, &error),
			-EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_exported),
		cmocka_unit_test(test_names_of_ours),
		cmocka_unit_test(test_after_a_restart),
		cmocka_unit_test(test_hostile_state),
		cmocka_unit_test(test_asks_for_a_score),
		cmocka_unit_test(test_broken_setup),
		cmocka_unit_test(test_polled),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, gym_setup, gym_teardown);
}
