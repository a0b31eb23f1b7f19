/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/json.h"
#include "base/scope.h"
#include "model/answer.h"
#include "model/dialects.h"

#include <errno.h>

/* Writes a conversation as each protocol sends it, and reads replies as servers write them. */

static struct fh_error error;

#define MARK "\"cache_control\":{\"type\":\"ephemeral\"}"
#define TEXT(t) "{\"type\":\"text\",\"text\":\"" t "\"}"
#define MARKED(t) "{\"type\":\"text\",\"text\":\"" t "\"," MARK "}"

static const struct chat_use uses[] = {
	{ .id = "a", .name = "f", .arguments = "{\"x\": 1}" },
	{ .id = "b", .name = "g", .arguments = "{\"x\": " },
};

static const struct chat_message talk[] = {
	{ .role = CHAT_SYSTEM, .content = "sys" },
	{ .role = CHAT_USER, .content = "one" },
	{ .role = CHAT_USER, .content = "" },
	{ .role = CHAT_USER, .content = "two" },
	{ .role = CHAT_ASSISTANT,
			.content = "",
			.uses = uses,
			.n_uses = 2,
			.keep = "[{\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":\"s\"}]" },
	{ .role = CHAT_TOOL, .content = "r1", .use_id = "a" },
	{ .role = CHAT_TOOL, .content = "", .use_id = "b" },
	{ .role = CHAT_ASSISTANT, .content = "fine" },
	{ .role = CHAT_USER, .content = "bytes \xff" },
};

static const struct chat_tool tools[] = {
	{ .name = "f", .description = "does f", .parameters = "{\"type\":\"object\"}" },
	{ .name = "g" },
};

static const char *stops[] = { "END" };

static void assert_body(const struct dialect *dialect, const struct dialect_request *request,
		const char *expected)
{
	auto_json json_t *found = NULL, *wanted = json_loads(expected, 0, NULL);

	assert_non_null(wanted);
	assert_done(dialect->write(request, &found, &error));
	if (!json_equal(found, wanted)) {
		auto_buf struct buf text = BUF_INIT(65536);

		json_add(&text, found, false);
		fail_msg("%s", buf_str(&text));
	}
}

static void test_openai_body(void **state)
{
	const struct chat_request chat = { talk, ARRAY_SIZE(talk), tools, ARRAY_SIZE(tools) };
	const struct chat_options options = { .temperature = 0,
		.top_p = 0.95,
		.max_tokens = 7,
		.stop = stops,
		.n_stop = 1,
		.stream = true };

	assert_body(&dialect_openai, &(struct dialect_request){ "m", &options, &chat, false },
			"{\"model\":\"m\",\"messages\":["
			"{\"role\":\"system\",\"content\":\"sys\"},"
			"{\"role\":\"user\",\"content\":\"one\"},{\"role\":\"user\",\"content\":\"\"},"
			"{\"role\":\"user\",\"content\":\"two\"},"
			"{\"role\":\"assistant\",\"content\":null,\"tool_calls\":["
			"{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\","
			"\"arguments\":\"{\\\"x\\\": 1}\"}},"
			"{\"id\":\"b\",\"type\":\"function\",\"function\":{\"name\":\"g\","
			"\"arguments\":\"{\\\"x\\\": \"}}]},"
			"{\"role\":\"tool\",\"content\":\"r1\",\"tool_call_id\":\"a\"},"
			"{\"role\":\"tool\",\"content\":\"\",\"tool_call_id\":\"b\"},"
			"{\"role\":\"assistant\",\"content\":\"fine\"},"
			"{\"role\":\"user\",\"content\":\"bytes \\\\xff\"}],"
			"\"temperature\":0.0,\"top_p\":0.95,\"max_tokens\":7,\"stop\":[\"END\"],"
			"\"stream\":true,\"stream_options\":{\"include_usage\":true},\"tools\":["
			"{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":\"does f\","
			"\"parameters\":{\"type\":\"object\"}}},"
			"{\"type\":\"function\",\"function\":{\"name\":\"g\",\"description\":\"\","
			"\"parameters\":{\"type\":\"object\",\"properties\":{}}}}]}");
}

static void test_anthropic_body(void **state)
{
	const struct chat_request chat = { talk, ARRAY_SIZE(talk), tools, ARRAY_SIZE(tools) };
	const struct chat_options options = {
		.temperature = 0.5, .top_p = 0.95, .stop = stops, .n_stop = 1
	};

	assert_body(&dialect_anthropic,
			&(struct dialect_request){ "claude-4", &options, &chat, true },
			"{\"model\":\"claude-4\",\"max_tokens\":8192,\"temperature\":0.5,"
			"\"stop_sequences\":[\"END\"],\"system\":[" MARKED(
					"sys") "],\"messages\":["
					       "{\"role\":\"user\",\"content\":[" TEXT("one") "," TEXT(
							       "two") "]},"
								      "{\"role\":\"assistant\",\"content\":["
								      "{\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":\"s\"},"
								      "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{\"x\":1}},"
								      "{\"type\":\"tool_use\",\"id\":\"b\",\"name\":\"g\","
								      "\"input\":{\"arguments\":\"{\\\"x\\\": \"}}]},"
								      "{\"role\":\"user\",\"content\":["
								      "{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":[" TEXT(
										      "r1") "]},"
											    "{\"type\":\"tool_result\",\"tool_use_id\":\"b\",\"content\":[]," MARK
											    "}]},"
											    "{\"role\":\"assistant\",\"content\":[" TEXT(
													    "fine") "]},"
														    "{\"role\":\"user\",\"content\":[" MARKED(
																    "bytes \\\\xff") "]}],"
																		     "\"tools\":[{\"name\":\"f\",\"description\":\"does f\","
																		     "\"input_schema\":{\"type\":\"object\"}},{\"name\":\"g\",\"description\":\"\","
																		     "\"input_schema\":{\"type\":\"object\",\"properties\":{}}}]}");
}

/* Leaves out members of a request that one provider refuses, though other providers accept them. */
static void test_peculiar_bodies(void **state)
{
	const struct chat_message own = { .role = CHAT_ASSISTANT, .content = "" };
	const struct chat_message user = { .role = CHAT_USER, .content = "hi" };
	const struct chat_request begins = { .messages = &own, .n_messages = 1 };
	const struct chat_request says = { .messages = &user, .n_messages = 1 };
	const struct chat_options options = { .temperature = 0, .top_p = 0.95, .max_tokens = 7 };
	const struct chat_options silent = { .temperature = -1, .top_p = -1 };

	assert_body(&dialect_openai, &(struct dialect_request){ "o3-mini", &options, &says, true },
			"{\"model\":\"o3-mini\",\"max_completion_tokens\":7,"
			"\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
	assert_body(&dialect_openai, &(struct dialect_request){ "o3-mini", &silent, &says, false },
			"{\"model\":\"o3-mini\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
	assert_body(&dialect_anthropic,
			&(struct dialect_request){ "claude-3-opus", &options, &begins, true },
			"{\"model\":\"claude-3-opus\",\"max_tokens\":7,\"temperature\":0.0,"
			"\"top_p\":0.95,\"messages\":["
			"{\"role\":\"user\",\"content\":[" MARKED(
					"Begin.") "]},"
						  "{\"role\":\"assistant\",\"content\":[" TEXT(
								  "(nothing)") "]}]}");
}

/* Anthropic's API refuses a part whose text is white space. */
static void test_blank_texts(void **state)
{
	static const char thought[] =
			"[{\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":\"s\"}]";
	static const struct chat_message blank[] = {
		{ .role = CHAT_SYSTEM, .content = " \n" },
		{ .role = CHAT_USER, .content = "\t" },
		{ .role = CHAT_ASSISTANT, .content = "\n\n", .keep = thought },
		{ .role = CHAT_USER, .content = " one" },
		{ .role = CHAT_USER, .content = "\xc2\xa0" },
		{ .role = CHAT_ASSISTANT, .content = " ", .uses = uses, .n_uses = 1 },
		{ .role = CHAT_TOOL, .content = " \r\n", .use_id = "a" },
	};
	const struct chat_request chat = { .messages = blank, .n_messages = ARRAY_SIZE(blank) };
	const struct chat_options options = { .temperature = -1, .top_p = -1, .max_tokens = 7 };

	assert_body(&dialect_anthropic, &(struct dialect_request){ "m", &options, &chat, true },
			"{\"model\":\"m\",\"max_tokens\":7,\"messages\":["
			"{\"role\":\"user\",\"content\":[" TEXT(
					"(nothing)") "]},"
						     "{\"role\":\"assistant\",\"content\":["
						     "{\"type\":\"thinking\",\"thinking\":\"t\",\"signature\":\"s\"}]},"
						     "{\"role\":\"user\",\"content\":[" MARKED(
								     " one") "]},"
									     "{\"role\":\"assistant\",\"content\":["
									     "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{\"x\":1}}]},"
									     "{\"role\":\"user\",\"content\":["
									     "{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":[]," MARK
									     "}]}]}");
}

static void test_broken_parameters(void **state)
{
	const struct chat_tool broken = { .name = "f", .parameters = "{" };
	const struct chat_request chat = { .tools = &broken, .n_tools = 1 };
	const struct chat_options options = { 0 };
	const struct dialect_request request = { "m", &options, &chat, false };
	json_t *body;

	assert_int_equal(dialect_openai.write(&request, &body, &error), -EINVAL);
	assert_has(error.message, "tool 'f'");
	assert_int_equal(dialect_anthropic.write(&request, &body, &error), -EINVAL);
}

/* --- replies that tests/servers/llm.py does not write ----------------------------------------- */

static int read_reply(
		const struct dialect *dialect, bool is_stream, const char *text, struct answer *a)
{
	int r;

	answer_init(a, dialect, NULL);
	a->is_stream = is_stream;
	r = answer_feed(a, text, strlen(text), &error);
	return r < 0 ? r : answer_end(a, &error);
}

static void test_odd_replies(void **state)
{
	static const struct {
		const struct dialect *dialect;
		bool is_stream;
		const char *text, *content, *thinking, *arguments;
	} cases[] = {
		{ &dialect_openai, false,
				"{\"choices\":[{\"message\":{\"content\":[{\"type\":\"thinking\","
				"\"thinking\":[{\"type\":\"text\",\"text\":\"t\"}]},"
				"{\"type\":\"text\",\"text\":\"x\"}]}}]}",
				"x", "t", NULL },
		{ &dialect_openai, false,
				"{\"choices\":[{\"message\":{\"content\":null,\"reasoning\":\"t\","
				"\"function_call\":{\"name\":\"f\",\"arguments\":{\"a\":1}}}}]}",
				"", "t", "{\"a\":1}" },
		{ &dialect_openai, false,
				"{\"error\":null,\"choices\":[{\"message\":{\"refusal\":\"no\"}}]}",
				"no", "", NULL },
		{ &dialect_openai, false,
				"{\"choices\":[{\"index\":1,\"message\":{\"content\":\"b\"}},"
				"{\"index\":0,\"message\":{\"content\":\"a\"}}]}",
				"a", "", NULL },
		{ &dialect_openai, false,
				"{\"choices\":[{\"index\":1,\"message\":{\"content\":\"b\"}},"
				"{\"index\":2,\"message\":{\"content\":\"c\"}}]}",
				"b", "", NULL },
		{ &dialect_openai, true,
				"data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"}},"
				"{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n"
				"data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"},"
				"\"finish_reason\":\"length\"}]}\n\n"
				"data: {\"choices\":[{\"index\":0,\"finish_reason\":\"stop\"}]}\n\n",
				"a", "", NULL },
		{ &dialect_openai, true,
				"data: {\"choices\":[]}\n\n"
				"data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"}}]}\n\n"
				"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n"
				"data: {\"choices\":[{\"index\":1,\"finish_reason\":\"stop\"}]}\n\n",
				"b", "", NULL },
		{ &dialect_openai, true,
				"data: {\"choices\":[{\"delta\":{\"content\":\"a\\u0000b\"}}]}\n\n"
				"data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\n",
				"a\\x00b", "", NULL },
		{ &dialect_openai, true,
				"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\","
				"\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\n\n"
				"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\","
				"\"function\":{\"name\":\"f\",\"arguments\":\"}\"}}]}}]}\n\n"
				"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"b\","
				"\"function\":{\"name\":\"g\"}}]}}]}\n\n"
				"data: [DONE]\n\ndata: {]\n\n",
				"", "", "{}" },
		{ &dialect_anthropic, false,
				"{\"content\":[{\"type\":\"redacted_thinking\",\"data\":\"d\"},"
				"{\"type\":\"new\"},{\"type\":\"text\",\"text\":\"x\"}]}",
				"x", "", NULL },
		{ &dialect_anthropic, false,
				"{\"content\":[{\"type\":\"tool_use\",\"name\":\"f\"}]}", "", "",
				"" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct answer a;

		assert_done(read_reply(cases[i].dialect, cases[i].is_stream, cases[i].text, &a));
		assert_string_equal(buf_str(&a.reply.content), cases[i].content);
		assert_string_equal(buf_str(&a.reply.thinking),
				cases[i].thinking ? cases[i].thinking : "");
		assert_int_equal(a.reply.n_uses > 0, cases[i].arguments != NULL);
		if (cases[i].arguments)
			assert_string_equal(
					buf_str(&a.reply.uses[0].arguments), cases[i].arguments);
		answer_release(&a);
	}
}

/* A stream has a limit of bytes, even if it consists of comments only. */
static void test_endless_stream(void **state)
{
	static char comments[1 << 20];
	struct answer a;
	int r = 0, fed = 0;

	memset(comments, ':', sizeof(comments));
	comments[sizeof(comments) - 1] = '\n';
	answer_init(&a, &dialect_openai, NULL);
	a.is_stream = true;
	for (; r == 0 && fed < 300; fed++)
		r = answer_feed(&a, comments, sizeof(comments), &error);
	assert_int_equal(r, -EFBIG);
	assert_int_equal(fed, 257);
	assert_has(error.message, "a stream of more than 256 MiB");
	answer_release(&a);
}

static void test_broken_replies(void **state)
{
	static const struct {
		const struct dialect *dialect;
		bool is_stream;
		const char *text;
		int code;
	} cases[] = {
		{ &dialect_openai, false, "{}", -EIO },
		{ &dialect_openai, false, "[]", -EIO },
		{ &dialect_openai, false, "{\"choices\":[]}", -EPROTO },
		{ &dialect_openai, false, "{\"choices\":[{\"message\":7}]}", -EPROTO },
		{ &dialect_openai, true, "", -EBADMSG },
		{ &dialect_openai, true, "data: 7\n\n", -EPROTO },
		{ &dialect_openai, true,
				"data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n",
				-EBADMSG },
		{ &dialect_openai, true, "data: {\"error\":{\"code\":401}}\n\n", -EIO },
		{ &dialect_openai, false,
				"{\"error\":{\"message\":\"maximum context length is 8\"}}",
				-E2BIG },
		{ &dialect_anthropic, false, "{\"content\":[{}]}", -EPROTO },
		{ &dialect_anthropic, true, "data: {}\n\n", -EPROTO },
		{ &dialect_anthropic, true,
				"data: {\"type\":\"content_block_start\",\"content_block\":"
				"{\"type\":\"text\",\"text\":\"half\"}}\n\n",
				-EBADMSG },
		{ &dialect_anthropic, true,
				"data: {\"type\":\"error\",\"error\":{\"type\":"
				"\"invalid_request_error\",\"message\":\"no\"}}\n\n",
				-EIO },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct answer a;
		int r = read_reply(cases[i].dialect, cases[i].is_stream, cases[i].text, &a);

		if (r != cases[i].code)
			fail_msg("%s gives %d", cases[i].text, r);
		answer_release(&a);
	}
}

/* Pieces of a model's signed thought are joined. The next request sends it back unchanged. */
static void test_kept_thoughts(void **state)
{
	static const char stream[] =
			"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
			"{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n"
			"data: {\"type\":\"content_block_delta\",\"delta\":{\"thinking\":\"he\"}}\n\n"
			"data: {\"type\":\"content_block_delta\",\"delta\":{\"thinking\":\"llo\"}}\n\n"
			"data: {\"type\":\"content_block_delta\",\"delta\":{\"signature\":\"sig\"}}\n\n"
			"data: {\"type\":\"content_block_stop\"}\n\n"
			"data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":"
			"{\"type\":\"redacted_thinking\",\"data\":\"d\"}}\n\n"
			"data: {\"type\":\"content_block_stop\"}\n\n"
			"data: {\"type\":\"message_stop\"}\n\n";
	auto_json json_t *wanted = json_loads("[{\"type\":\"thinking\",\"thinking\":\"hello\","
					      "\"signature\":\"sig\"},"
					      "{\"type\":\"redacted_thinking\",\"data\":\"d\"}]",
			0, NULL);
	struct answer a;

	assert_done(read_reply(&dialect_anthropic, true, stream, &a));
	assert_string_equal(buf_str(&a.reply.thinking), "hello");
	assert_true(json_equal(a.reply.keep, wanted));
	answer_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_openai_body),
		cmocka_unit_test(test_anthropic_body),
		cmocka_unit_test(test_peculiar_bodies),
		cmocka_unit_test(test_blank_texts),
		cmocka_unit_test(test_broken_parameters),
		cmocka_unit_test(test_odd_replies),
		cmocka_unit_test(test_broken_replies),
		cmocka_unit_test(test_endless_stream),
		cmocka_unit_test(test_kept_thoughts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
