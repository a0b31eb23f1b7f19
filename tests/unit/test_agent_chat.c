/* SPDX-License-Identifier: Apache-2.0 */
#include "gym_fixture.h"

#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"

#include <fumehood/agent.h>

#include <errno.h>

/* Conversations with a model that the caller asks itself: fumehood/agent.h. */

static struct fh_agent *agent;
static struct fh_env *env;
static struct fh_chat *chat;
static struct fh_decision decision;

static const char good[] = "I look at it.\n```\nls\n```";
static const char malformed[] = "I think about it.";

static void begin(const char *config)
{
	assert_done(fh_agent_open(&FH_AGENT_OPTIONS(.config = config), &agent, &error));
	env = open_env("rows");
	assert_done(fh_agent_set_up(agent, env, &error));
	assert_done(fh_env_reset(env, NULL, &step, &error));
	assert_done(fh_chat_open(agent, &FH_CHAT_OPTIONS(.env = env), &chat, &error));
	assert_done(fh_chat_observe(chat, &step, &error));
}

static int end(void **state)
{
	fh_chat_close(chat);
	fh_env_close(env);
	fh_agent_close(agent);
	chat = NULL;
	env = NULL;
	agent = NULL;
	return 0;
}

static void reply(const char *text)
{
	assert_done(fh_chat_reply(chat, &FH_REPLY(.content = text), &decision, &error));
}

static void play(void)
{
	act(env, decision.action);
	if (!step.terminated && !step.truncated)
		assert_done(fh_chat_observe(chat, &step, &error));
}

static const struct fh_message *messages(size_t expected)
{
	size_t n;
	const struct fh_message *all = fh_chat_messages(chat, &n);

	assert_int_equal(n, expected);
	return all;
}

static const struct fh_message *history(size_t expected)
{
	size_t n;
	const struct fh_message *all = fh_chat_history(chat, &n);

	assert_int_equal(n, expected);
	return all;
}

static json_t *read_json(const char *text)
{
	json_t *list;

	assert_non_null(text);
	assert_done(json_parse("json", text, strlen(text), &list, &error));
	return list;
}

static const char *member(const json_t *list, size_t i, const char *name)
{
	return json_string_value(json_object_get(json_array_get(list, i), name));
}

/* --- turns ------------------------------------------------------------------------------------ */

static void test_turns(void **state)
{
	const struct fh_message *m;

	begin("default");
	m = messages(2);
	assert_int_equal(m[0].role, FH_ROLE_SYSTEM);
	assert_has(m[0].content, "edit <start_line>");
	assert_int_equal(m[1].role, FH_ROLE_USER);
	assert_string_equal(fh_role_name(m[0].role), "system");
	assert_string_equal(fh_role_name(m[1].role), "user");
	assert_string_equal(fh_role_name((enum fh_role)(FH_ROLE_TOOL + 1)), "unknown");
	assert_has(m[1].content, "Write the sign of each row's x");
	assert_has(m[1].content, "(Current Step: 0, Remaining Steps: 6)");
	reply(good);
	assert_int_equal(decision.kind, FH_DECISION_ACTION);
	assert_int_equal(decision.fault, FH_FAULT_NONE);
	assert_string_equal(decision.action, "ls\n");
	assert_string_equal(decision.thought, "I look at it.\n");
	assert_string_equal(decision.response, good);
	assert_null(decision.complaint);
	assert_int_equal(decision.beside_bytes, 15 + 27);
	play();
	m = messages(4);
	assert_int_equal(m[2].role, FH_ROLE_ASSISTANT);
	assert_string_equal(fh_role_name(m[2].role), "assistant");
	assert_string_equal(m[2].content, good);
	assert_has(m[3].content, "data.csv");
	assert_has(m[3].content, "(Current Step: 1, Remaining Steps: 5)");
	m = history(4);
	assert_string_equal(m[2].action, "ls\n");
	assert_string_equal(m[2].thought, "I look at it.\n");
	assert_null(m[3].action);
}

static void test_a_malformed_reply(void **state)
{
	const struct fh_message *m;

	begin("default");
	reply(malformed);
	assert_int_equal(decision.kind, FH_DECISION_ASK_AGAIN);
	assert_int_equal(decision.fault, FH_FAULT_FORMAT);
	assert_null(decision.action);
	m = messages(4);
	assert_string_equal(m[2].content, malformed);
	assert_int_equal(m[3].role, FH_ROLE_USER);
	assert_string_equal(m[3].content, decision.complaint);
	history(2);
	reply("```\nvim data.csv\n```");
	assert_int_equal(decision.kind, FH_DECISION_ASK_AGAIN);
	assert_int_equal(decision.fault, FH_FAULT_BLOCKED);
	assert_has(decision.complaint, "'vim' was not run");
	m = messages(4);
	assert_has(m[2].content, "vim");
	reply(good);
	assert_int_equal(decision.kind, FH_DECISION_ACTION);
	play();
	messages(4);
	m = history(4);
	assert_string_equal(m[2].content, good);
}

static void test_giving_up(void **state)
{
	const struct fh_message *m;

	begin("default");
	for (int i = 0; i < 2; i++) {
		reply(malformed);
		assert_int_equal(decision.kind, FH_DECISION_ASK_AGAIN);
	}
	reply("Third.");
	assert_int_equal(decision.kind, FH_DECISION_GIVE_UP);
	assert_int_equal(decision.fault, FH_FAULT_FORMAT);
	assert_string_equal(decision.action, "exit_format");
	assert_string_equal(decision.response, "Third.");
	m = history(3);
	assert_string_equal(m[2].content, "Third.");
	assert_string_equal(m[2].action, "exit_format");
	play();
	assert_string_equal(step.exit_status, "submission_not_found (exit_format)");
}

static void test_a_reply_that_is_no_text(void **state)
{
	begin("default");
	reply("```\nls \xff\n```");
	assert_int_equal(decision.kind, FH_DECISION_ASK_AGAIN);
	assert_int_equal(decision.fault, FH_FAULT_FORMAT);
	assert_string_equal(messages(4)[2].content, "```\nls \\xff\n```");
	reply(good);
	assert_int_equal(decision.kind, FH_DECISION_ACTION);
}

static void test_an_act(void **state)
{
	begin("default");
	assert_done(fh_chat_act(chat, "exit_context", "too long", &decision, &error));
	assert_string_equal(decision.action, "exit_context");
	assert_string_equal(history(3)[2].content, "too long");
	play();
	assert_true(step.terminated);
}

static void test_states(void **state)
{
	begin("default");
	assert_int_equal(fh_chat_observe(chat, &step, &error), -EPROTO);
	assert_int_equal(fh_chat_act(chat, NULL, NULL, &decision, &error), -EINVAL);
	messages(2);
	reply(good);
	assert_int_equal(fh_chat_reply(chat, &FH_REPLY(.content = good), &decision, &error),
			-EPROTO);
	assert_int_equal(error.kind, FH_ERROR_STATE);
	messages(3);
}

/* --- history ---------------------------------------------------------------------------------- */

static void test_a_history_processor(void **state)
{
	const struct fh_message *m;
	const char *first;

	begin("default"); /* Last5Observations */
	assert_int_equal(fh_agent_info(agent)->history_n, 5);
	for (int i = 0; i < 6; i++) {
		reply("```\nseq 3\n```");
		act(env, "true");
		step.truncated = false;
		step.observation = "1\n2\n3\n";
		assert_done(fh_chat_observe(chat, &step, &error));
	}
	m = messages(14);
	first = m[3].content;
	assert_has(first, "lines of earlier output are left out");
	assert_has(m[5].content, "1\n2\n3");
	assert_has(history(14)[3].content, "1\n2\n3");
}

static void test_json(void **state)
{
	auto_json json_t *sent = NULL, *all = NULL;
	const char *text;

	begin("default");
	reply(good);
	play();
	text = fh_chat_json(chat);
	assert_ptr_equal(fh_chat_json(chat), text);
	sent = read_json(text);
	all = read_json(fh_chat_history_json(chat));
	assert_int_equal(json_array_size(sent), 4);
	assert_string_equal(member(sent, 0, "role"), "system");
	assert_string_equal(member(sent, 2, "content"), good);
	assert_int_equal(json_object_size(json_array_get(sent, 2)), 2);
	assert_string_equal(member(all, 2, "action"), "ls\n");
	assert_string_equal(member(all, 3, "content"), messages(4)[3].content);
}

/* --- tool calls ------------------------------------------------------------------------------- */

static void test_tool_calls(void **state)
{
	const struct fh_tool_call calls[] = { { NULL, "bash", "{\"command\": \"echo called\"}" },
		{ "mine", "submit", "" } };
	auto_json json_t *sent = NULL, *tools = NULL;
	const struct fh_message *m;

	begin("tool_calling");
	tools = read_json(fh_agent_info(agent)->tools);
	assert_string_equal(json_string_value(json_object_get(
					    json_object_get(json_array_get(tools, 0), "function"),
					    "name")),
			"bash");
	assert_done(fh_chat_reply(chat, &FH_REPLY(.content = "Look.", .calls = calls, .n_calls = 2),
			&decision, &error));
	assert_string_equal(decision.action, "echo called");
	play();
	m = messages(5);
	assert_int_equal(m[2].n_calls, 2);
	assert_string_equal(m[2].calls[0].name, "bash");
	assert_int_equal(m[3].role, FH_ROLE_TOOL);
	assert_string_equal(fh_role_name(m[3].role), "tool");
	assert_string_equal(m[3].call_id, m[2].calls[0].id);
	assert_has(m[3].content, "called");
	assert_string_equal(m[4].call_id, "mine");
	assert_has(m[4].content, "Not run");
	sent = read_json(fh_chat_json(chat));
	assert_string_equal(member(sent, 4, "tool_call_id"), "mine");
	assert_int_equal(
			json_array_size(json_object_get(json_array_get(sent, 2), "tool_calls")), 2);
}

/* A model's message in OpenAI's form comes back as it was sent. */
static void test_reply_json(void **state)
{
	static const char call[] =
			"{\"role\": \"assistant\", \"content\": null, \"tool_calls\": [{\"id\": \"a\", "
			"\"type\": \"function\", \"function\": {\"name\": \"bash\", \"arguments\": "
			"\"{\\\"command\\\": \\\"ls\\\"}\"}}]}";
	static const char *const wrong[] = { "", "[]", "{", "{\"role\": \"user\"}" };
	auto_json json_t *sent = NULL, *expected = read_json(call);

	begin("tool_calling");
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(fh_chat_reply_json(chat, wrong[i], strlen(wrong[i]), &decision,
						 &error),
				-EINVAL);
	assert_done(fh_chat_reply_json(chat, "{}", 2, &decision, &error));
	assert_int_equal(decision.kind, FH_DECISION_ASK_AGAIN);
	assert_done(fh_chat_reply_json(chat, call, strlen(call), &decision, &error));
	assert_string_equal(decision.action, "ls");
	play();
	sent = read_json(fh_chat_json(chat));
	assert_true(json_equal(json_array_get(sent, 2), expected));
}

/* --- configurations --------------------------------------------------------------------------- */

static void test_info(void **state)
{
	const struct fh_agent_info *info;

	assert_done(fh_agent_open(NULL, &agent, &error));
	info = fh_agent_info(agent);
	assert_string_equal(info->name, "default");
	assert_null(info->path);
	assert_string_equal(info->output_parser, "MLGymThoughtActionParser");
	assert_string_equal(info->env_variables[0].key, "WINDOW");
	assert_has(info->command_docs, "submit");
	assert_null(info->tools);
	fh_agent_close(agent);
	agent = NULL;
	assert_int_equal(fh_agent_open(&FH_AGENT_OPTIONS(.config = "nobody"), &agent, &error),
			-ENOENT);
	assert_has(error.message, "tool_calling");
}

static void test_a_checkout(void **state)
{
	char root[256], path[300];
	const struct fh_agent_info *info;

	snprintf(root, sizeof(root), "%s/tests/fixtures/mlgym-root", places_get()->share_dir);
	snprintf(path, sizeof(path), "%s/configs/agents/tiny.yaml", root);
	assert_done(fh_agent_open(
			&FH_AGENT_OPTIONS(.config = "configs/agents/tiny.yaml", .mlgym_root = root),
			&agent, &error));
	info = fh_agent_info(agent);
	assert_string_equal(info->path, path);
	assert_true(info->n_command_files > 0);
	assert_has(info->command_files[0], "/tools/");
}

static void test_an_unknown_field(void **state)
{
	static const char yaml[] = "system_template: a\ntask_template: b {taks}\n";
	char path[FOLDER_MAX + 16];

	snprintf(path, sizeof(path), "%s/bad.yaml", state_dir);
	assert_done(fd_write_file(path, yaml, strlen(yaml), 0600, &error));
	assert_done(fh_agent_open(&FH_AGENT_OPTIONS(.config = path), &agent, &error));
	env = open_env("rows");
	assert_int_equal(fh_chat_open(agent, &FH_CHAT_OPTIONS(.env = env), &chat, &error), -EINVAL);
	assert_has(error.message, "bad.yaml:2: unknown field {taks}");
	assert_int_equal(fh_chat_open(agent, NULL, &chat, &error), -EINVAL);
}

/* Commands of a configuration come and go with fh_agent_set_up(). */
static void test_set_up(void **state)
{
	begin("default");
	act(env, "echo $WINDOW");
	assert_string_equal(step.observation, "1000\n");
	assert_done(fh_agent_set_up(NULL, env, &error));
	assert_done(fh_env_reset(env, NULL, &step, &error));
	act(env, "echo ${WINDOW-none}");
	assert_string_equal(step.observation, "none\n");
}

static void test_parsers(void **state)
{
	const struct fh_reply text = FH_REPLY(.content = good);
	struct fh_parsed parsed;

	assert_done(fh_reply_parse("ThoughtActionParser", &text, &parsed, &error));
	assert_string_equal(parsed.thought, "I look at it.\n");
	assert_string_equal(parsed.action, "ls\n");
	fh_parsed_release(&parsed);
	fh_parsed_release(&parsed);
	assert_int_equal(fh_reply_parse("XMLThoughtActionParser", &text, &parsed, &error), -EINVAL);
	assert_has(error.message, "no <command>");
	assert_int_equal(fh_reply_parse("ThoughtParser", &text, &parsed, &error), -EINVAL);
	assert_has(error.message, "no output parser 'ThoughtParser'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_turns, end),
		cmocka_unit_test_teardown(test_a_malformed_reply, end),
		cmocka_unit_test_teardown(test_giving_up, end),
		cmocka_unit_test_teardown(test_a_reply_that_is_no_text, end),
		cmocka_unit_test_teardown(test_an_act, end),
		cmocka_unit_test_teardown(test_states, end),
		cmocka_unit_test_teardown(test_a_history_processor, end),
		cmocka_unit_test_teardown(test_json, end),
		cmocka_unit_test_teardown(test_tool_calls, end),
		cmocka_unit_test_teardown(test_reply_json, end),
		cmocka_unit_test_teardown(test_info, end),
		cmocka_unit_test_teardown(test_a_checkout, end),
		cmocka_unit_test_teardown(test_an_unknown_field, end),
		cmocka_unit_test_teardown(test_set_up, end),
		cmocka_unit_test_teardown(test_parsers, end),
	};

	return cmocka_run_group_tests(tests, gym_setup, gym_teardown);
}
