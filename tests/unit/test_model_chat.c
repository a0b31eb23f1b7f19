/* SPDX-License-Identifier: Apache-2.0 */
#include "chat_fixture.h"

#include <math.h>

/* Calls language models over real sockets. The test's server speaks both protocols and can fail in
 * many ways. */

static struct chat_server server;
static struct chat_service *service;
static struct fh_error error;

static const struct chat_message hello[] = {
	{ .role = CHAT_SYSTEM, .content = "Be good." },
	{ .role = CHAT_USER, .content = "Hello" },
};

static const struct chat_request simple = { .messages = hello, .n_messages = 2 };

/* The four ways of asking a model: either protocol, with the reply whole or streamed. */
static const struct way {
	const char *vendor;
	bool stream;
} ways[] = { { "openai", false }, { "openai", true }, { "anthropic", false },
	{ "anthropic", true } };

static int open_model(const struct way *way, const char *name, struct chat_options options,
		struct chat_model **out)
{
	auto_free char *spec = xasprintf("%s:%s", way->vendor, name);

	options.spec = spec;
	options.stream = way->stream;
	if (!options.url)
		options.url = server.url;
	if (!options.key)
		options.key = "sk-very-secret";
	return chat_model_open(service, &options, out, &error);
}

/* Asks a model and waits for its reply. The caller frees the returned call. */
static struct chat_call *ask(struct chat_model *m, const struct chat_request *request)
{
	struct chat_call *call = chat_begin(m, request, m), *done;

	chat_wait(service, &done, 1);
	assert_ptr_equal(call, done);
	assert_ptr_equal(chat_call_user(done), m);
	return done;
}

static struct chat_model *open_plain(const struct way *way, const char *name)
{
	struct chat_model *m;

	assert_done(open_model(way, name, (struct chat_options){ .retries = 3 }, &m));
	return m;
}

/* --- replies ---------------------------------------------------------------------------------- */

static void assert_tools(const struct chat_reply *reply)
{
	assert_int_equal(reply->n_uses, 2);
	assert_string_equal(reply->uses[0].id, "a1");
	assert_string_equal(reply->uses[0].name, "bash");
	assert_has(reply->uses[0].arguments, "ls -l");
	assert_string_equal(reply->uses[1].id, "a2");
	assert_string_equal(reply->uses[1].name, "edit");
	assert_string_equal(reply->uses[1].arguments, "{}");
}

static void test_replies(void **state)
{
	static const struct {
		const char *name, *content, *thinking;
		enum chat_stop stop;
	} cases[] = {
		{ "plain", "h\xc3\xa9llo\nthere", "hm hm hm", CHAT_STOP_END },
		{ "tools", "so", "hm", CHAT_STOP_TOOLS },
		{ "length", "cut of", NULL, CHAT_STOP_LENGTH },
		{ "filter", "", NULL, CHAT_STOP_FILTER },
		{ "gzip", "packed", "hm", CHAT_STOP_END },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases) * ARRAY_SIZE(ways); i++) {
		const struct way *way = &ways[i % ARRAY_SIZE(ways)];
		struct chat_model *m = open_plain(way, cases[i / ARRAY_SIZE(ways)].name);
		struct chat_call *call = ask(m, &simple);
		struct chat_reply reply;

		assert_done(chat_end(call, &reply, &error));
		assert_string_equal(reply.content, cases[i / ARRAY_SIZE(ways)].content);
		assert_true(str_eq(reply.thinking, cases[i / ARRAY_SIZE(ways)].thinking));
		assert_int_equal(reply.stop, cases[i / ARRAY_SIZE(ways)].stop);
		if (reply.stop == CHAT_STOP_TOOLS)
			assert_tools(&reply);
		else
			assert_int_equal(reply.n_uses, 0);
		chat_call_free(call);
		chat_model_close(m);
	}
}

/* --- failures after which the request is sent again ------------------------------------------- */

static void test_tried_again(void **state)
{
	static const char *const names[] = { "429", "408", "409", "500", "529", "date", "cut",
		"mute", "broken", "events", "endless", "empty", "within", "in a stream" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct way *way = &ways[i % ARRAY_SIZE(ways)];
		struct chat_model *m = open_plain(way, names[i]);
		struct chat_call *call = ask(m, &simple);
		struct chat_reply reply;
		struct chat_stats stats;

		if (chat_end(call, &reply, &error) < 0)
			fail_msg("%s: %s", names[i], error.message);
		assert_string_equal(reply.content, "well");
		chat_model_stats(m, &stats);
		assert_int_equal(stats.retries, 1);
		assert_int_equal(stats.calls, 1);
		chat_call_free(call);
		chat_model_close(m);
	}
}

/* An unreadable reply has a number of retries of its own. Tries that failed for another reason
 * don't use it up. */
static void test_tried_again_for_two_reasons(void **state)
{
	struct chat_model *m;
	struct chat_call *call;
	struct chat_reply reply;
	struct chat_stats stats;

	assert_done(open_model(
			&ways[0], "busy, no json", (struct chat_options){ .retries = 10 }, &m));
	call = ask(m, &simple);
	assert_done(chat_end(call, &reply, &error));
	assert_string_equal(reply.content, "well");
	chat_model_stats(m, &stats);
	assert_int_equal(stats.retries, 4);
	chat_call_free(call);
	chat_model_close(m);
}

/* The timeout ends a request whose reply begins too late or trickles in too slowly. Another try
 * follows. */
static void test_timeouts(void **state)
{
	static const char *const names[] = { "late", "drip" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct chat_model *m;
		struct chat_call *call;
		struct chat_reply reply;

		assert_done(open_model(&ways[1], names[i],
				(struct chat_options){ .retries = 1, .timeout_ms = 300 }, &m));
		call = ask(m, &simple);
		assert_done(chat_end(call, &reply, &error));
		assert_string_equal(reply.content, "well");
		chat_call_free(call);
		chat_model_close(m);
	}
}

/* --- failures that are returned at once, and reports of retries ------------------------------- */

static void test_refused(void **state)
{
	static const struct {
		const char *name;
		int code;
		const char *why;
	} cases[] = {
		{ "400", -EIO, "HTTP 400: bad \\x1b[1m for [key]" },
		{ "401", -EIO, "HTTP 401: wrong key" },
		{ "bare", -EIO, "HTTP 422: no such field" },
		{ "quota", -EIO, "HTTP 429: pay" },
		{ "nobody", -EIO, "HTTP 404: there is no model 'nobody'" },
		{ "long", -E2BIG, "HTTP 400: no" },
		{ "prompt", -E2BIG, "prompt is too long" },
		{ "huge", -EIO, "more than 16 MiB" },
		{ "bomb", -EIO, "more than 16 MiB" },
		{ "packed", -EIO, "its content can't be decompressed" },
		{ "moved", -EIO, "/v2/x?k=[key]: if that is right, give it by --url" },
		{ "no json", -EIO, "it is not JSON: not json for [key] (3 tries)" },
		{ "no event", -EIO, "an event of its stream is not JSON: not json (3 tries)" },
		{ "no parts", -EIO, ": {\"usage\": 7} (3 tries)" },
		{ "always", -EIO, "it is scripted to fail (4 tries)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases) * ARRAY_SIZE(ways); i++) {
		size_t n = i / ARRAY_SIZE(ways);
		struct chat_model *m = open_plain(&ways[i % ARRAY_SIZE(ways)], cases[n].name);
		struct chat_call *call = ask(m, &simple);
		struct chat_reply reply;
		struct chat_stats stats;

		assert_int_equal(chat_end(call, &reply, &error), cases[n].code);
		assert_has(error.message, cases[n].why);
		assert_lacks(error.message, "secret");
		chat_model_stats(m, &stats);
		assert_int_equal(stats.calls, 0);
		chat_call_free(call);
		chat_model_close(m);
	}
}

static void test_nobody_listens(void **state)
{
	struct chat_model *m;
	struct chat_call *call;
	struct chat_reply reply;

	assert_done(open_model(&ways[0], "plain",
			(struct chat_options){ .url = "http://127.0.0.1:1/v1", .retries = 1 }, &m));
	call = ask(m, &simple);
	assert_int_equal(chat_end(call, &reply, &error), -EIO);
	assert_has(error.message, "(2 tries)");
	chat_call_free(call);
	chat_model_close(m);
}

static struct {
	char why[256];
	int n, n_first, most;
} told;

static void note_retry(void *user, const struct chat_retry *retry)
{
	assert_int_equal(retry->tries, ++told.n % 2 ? 1 : 2);
	assert_true(retry->pause_ms >= 0 && retry->pause_ms < 500);
	assert_string_equal(user, retry->spec);
	told.n_first += retry->is_first;
	told.most = retry->most;
	snprintf(told.why, sizeof(told.why), "%s", retry->why);
}

/* Each failed try but the last is reported. is_first is true once for each model spec, even if many
 * models have it. */
static void test_retries_are_told(void **state)
{
	static char users[][16] = { "openai:always", "openai:always", "openai:keyed" };
	struct chat_service *before = service;
	struct chat_call *done;
	struct chat_model *m;

	assert_done(chat_service_open(&(struct chat_service_options){ .on_retry = note_retry },
			&service, &error));
	for (size_t i = 0; i < ARRAY_SIZE(users); i++) {
		assert_done(open_model(&ways[0], strchr(users[i], ':') + 1,
				(struct chat_options){ .retries = 2 }, &m));
		chat_begin(m, &simple, users[i]);
		chat_wait(service, &done, 1);
		chat_call_free(done);
		chat_model_close(m);
	}
	assert_int_equal(told.n, 2 * ARRAY_SIZE(users));
	assert_int_equal(told.n_first, 2);
	assert_int_equal(told.most, 3);
	assert_string_equal(told.why, "HTTP 503: not for [key]");
	chat_service_close(service);
	service = before;
}

static struct {
	char why[256];
	int64_t pause_ms;
	bool is_first;
} last_told;

static void note_last(void *user, const struct chat_retry *retry)
{
	snprintf(last_told.why, sizeof(last_told.why), "%s", retry->why);
	last_told.pause_ms = retry->pause_ms;
	last_told.is_first = retry->is_first;
}

/* If a server asks for a pause of a day or more, the client waits for two minutes. Each such pause
 * is reported. */
static void test_long_pauses_are_told(void **state)
{
	static const char *const cases[][2] = {
		{ "later", "HTTP 429: slow down (the server asks for a pause of 86400 s, and gets 1" },
		{ "much later", "(the server asks for a pause of " },
	};
	struct chat_service *before = service;
	struct chat_call *call, *done;
	struct chat_model *m;

	assert_done(chat_service_open(
			&(struct chat_service_options){ .on_retry = note_last }, &service, &error));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int64_t deadline = clock_now_ns() + WAIT_MS * NS_PER_MS;

		assert_done(open_model(
				&ways[0], cases[i][0], (struct chat_options){ .retries = 10 }, &m));
		call = chat_begin(m, &simple, NULL);
		last_told.pause_ms = 0;
		while (last_told.pause_ms < 1000 && clock_now_ns() < deadline) {
			struct pollfd p = { .fd = chat_service_fd(service), .events = POLLIN };

			poll(&p, 1, 1000);
			assert_int_equal(chat_service_advance(service, &done, 1), 0);
		}
		assert_in_range(last_told.pause_ms, 120000, 132000);
		assert_has(last_told.why, cases[i][1]);
		assert_true(last_told.is_first);
		chat_call_free(call);
		chat_model_close(m);
	}
	chat_service_close(service);
	service = before;
}

/* --- many ------------------------------------------------------------------------------------- */

#define MANY 100
#define LONG_BYTES (4L * 1024 * 1024)

/* A hundred calls run at once, over both protocols, whole and streamed. Each ends once and has its
 * own reply. */
static void test_many(void **state)
{
	static const char *const names[] = { "plain", "tools", "length", "uncounted" };
	struct chat_model *models[MANY];
	struct chat_call *done[MANY];
	struct chat_reply reply;

	for (size_t i = 0; i < MANY; i++) {
		models[i] = open_plain(&ways[i % 4], names[i / 4 % 4]);
		chat_begin(models[i], &simple, (void *)(uintptr_t)names[i / 4 % 4]);
	}
	chat_wait(service, done, MANY);
	for (size_t i = 0; i < MANY; i++) {
		assert_done(chat_end(done[i], &reply, &error));
		assert_int_equal(reply.n_uses == 2, str_eq(chat_call_user(done[i]), "tools"));
		assert_int_equal(reply.stop == CHAT_STOP_LENGTH,
				str_eq(chat_call_user(done[i]), "length"));
		chat_call_free(done[i]);
	}
	for (size_t i = 0; i < MANY; i++)
		chat_model_close(models[i]);
}

/* A hundred calls run at once, to a server that fails each second request. No call is lost. */
static void test_many_and_flaky(void **state)
{
	struct chat_model *models[ARRAY_SIZE(ways)];
	struct chat_call *done[MANY];
	struct chat_reply reply;
	struct chat_stats stats;

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		assert_done(open_model(&ways[i], "flaky", (struct chat_options){ .retries = 50 },
				&models[i]));
	for (size_t i = 0; i < MANY; i++)
		chat_begin(models[i % ARRAY_SIZE(ways)], &simple, NULL);
	chat_wait(service, done, MANY);
	for (size_t i = 0; i < MANY; i++) {
		assert_done(chat_end(done[i], &reply, &error));
		assert_string_equal(reply.content, "well");
		chat_call_free(done[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		chat_model_stats(models[i], &stats);
		assert_int_equal(stats.calls, MANY / ARRAY_SIZE(ways));
		assert_true(stats.retries > 0);
		chat_model_close(models[i]);
	}
}

/* A call can be freed, and its model closed, before the call has ended. */
static void test_left(void **state)
{
	struct chat_model *m = open_plain(&ways[0], "late"), *other = open_plain(&ways[1], "plain");
	struct chat_call *calls[3], *done;

	for (size_t i = 0; i < 3; i++)
		calls[i] = chat_begin(m, &simple, NULL);
	chat_call_free(calls[1]);
	chat_service_advance(service, &done, 0);
	chat_call_free(calls[0]);
	chat_model_close(m);
	chat_call_free(ask(other, &simple));
	chat_model_close(other);
}

/* --- long requests ---------------------------------------------------------------------------- */

/* A thread writes a long request, which arrives whole. The request may also be refused, and its
 * call freed, meanwhile. */
static void test_long(void **state)
{
	static const struct chat_tool broken = { .name = "t", .parameters = "{" };
	struct chat_model *m = open_plain(&ways[0], "plain");
	auto_free char *text = xcalloc(1, LONG_BYTES + 1);
	struct chat_message message = { .role = CHAT_USER, .content = text };
	struct chat_request request = { .messages = &message, .n_messages = 1 };
	auto_json json_t *body = NULL;
	struct chat_call *call;
	struct chat_reply reply;
	const json_t *sent;

	memset(text, '\n', LONG_BYTES);
	call = ask(m, &request);
	assert_done(chat_end(call, &reply, &error));
	assert_string_equal(reply.content, "h\xc3\xa9llo\nthere");
	chat_call_free(call);
	body = chat_asked(&server, "plain", "body", NULL);
	sent = json_array_get(json_object_get(body, "messages"), 0);
	assert_string_equal(json_string_value(json_object_get(sent, "content")), text);

	for (int i = 0; i < 10; i++)
		chat_call_free(chat_begin(m, &request, NULL));
	chat_begin(m, &request, NULL); /* chat_model_close() frees it */

	request.tools = &broken;
	request.n_tools = 1;
	call = ask(m, &request);
	assert_int_equal(chat_end(call, &reply, &error), -EINVAL);
	chat_call_free(call);
	chat_model_close(m);
}

/* --- main ------------------------------------------------------------------------------------- */

static int set_up(void **state)
{
	chat_server_start(&server, "chat.json", false);
	return chat_service_open(NULL, &service, &error);
}

static int tear_down(void **state)
{
	chat_service_close(service);
	chat_server_stop(&server);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replies),
		cmocka_unit_test(test_tried_again),
		cmocka_unit_test(test_tried_again_for_two_reasons),
		cmocka_unit_test(test_timeouts),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_nobody_listens),
		cmocka_unit_test(test_retries_are_told),
		cmocka_unit_test(test_long_pauses_are_told),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_many_and_flaky),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
