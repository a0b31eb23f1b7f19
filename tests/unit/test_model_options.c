/* SPDX-License-Identifier: Apache-2.0 */
#include "chat_fixture.h"

#include <math.h>
#include <sys/mman.h>

/* Options of a language model: address, API key, limits, TLS and proxy. */

static struct chat_server server, secure;
static struct chat_service *service;
static struct fh_error error;

static const struct chat_message hello[] = { { .role = CHAT_USER, .content = "Hello" } };
static const struct chat_request simple = { .messages = hello, .n_messages = 1 };

static void forget_environment(void)
{
	static const char *const names[] = { "OPENAI_API_KEY", "ANTHROPIC_API_KEY",
		"OPENAI_BASE_URL", "GROQ_API_KEY", "AZURE_API_BASE", "AZURE_API_KEY",
		"MLGYM_MODEL_MAX_RETRIES", "SSL_CERT_FILE", "http_proxy", "https_proxy", "no_proxy",
		"NO_PROXY" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unsetenv(names[i]);
}

/* Asks a model, waits for the reply, and returns what chat_end() returns. */
static int ask_for(struct chat_model *m, const struct chat_request *request, struct chat_reply *out)
{
	struct chat_call *done = chat_begin(m, request, NULL);
	int r;

	chat_wait(service, &done, 1);
	r = chat_end(done, out, &error);
	chat_call_free(done);
	return r;
}

static int ask(struct chat_model *m, struct chat_reply *out)
{
	return ask_for(m, &simple, out);
}

static struct chat_model *open_model(struct chat_options options)
{
	struct chat_model *m;

	if (!options.url)
		options.url = server.url;
	assert_done(chat_model_open(service, &options, &m, &error));
	return m;
}

/* --- opening ---------------------------------------------------------------------------------- */

static void test_refused(void **state)
{
	static const struct {
		struct chat_options options;
		const char *why;
	} cases[] = {
		{ { .spec = "gpt-4o" }, "no language model 'gpt-4o'" },
		{ { .spec = "nobody:x" }, "no language model 'nobody:x'" },
		{ { .spec = "openai:" }, "lacks the model's name" },
		{ { .spec = "litellm:groq/" }, "lacks the model's name" },
		{ { .spec = "openai:m" }, "'openai:m' needs a key: set OPENAI_API_KEY" },
		{ { .spec = "litellm:claude-3-opus" }, "set ANTHROPIC_API_KEY" },
		{ { .spec = "litellm:groq/m" }, "set GROQ_API_KEY" },
		{ { .spec = "litellm:foo/bar", .key = "k" }, "no provider 'foo' is known" },
		{ { .spec = "azure:m", .key = "k" }, "needs the URL" },
		{ { .spec = "openai:m", .key = "a\nb" }, "has a line break" },
		{ { .spec = "openai:m", .url = "ftp://x" }, "not an http:// or https:// URL" },
		{ { .spec = "openai:m", .url = "localhost:8000/v1" },
				"not an http:// or https:// URL" },
		{ { .spec = "openai:m", .url = "http://u:secret@x/" }, "leave them out" },
		{ { .spec = "openai:m", .key = "k", .extra = "[]" }, "expected a JSON object" },
		{ { .spec = "openai:m", .key = "k", .extra = "{" }, "--completion-kwargs:1:" },
		{ { .spec = "openai:m", .url = "http://x", .cost_limit = 1 },
				"the price of 'm' is not known, so its cost" },
	};
	struct chat_model *m;

	forget_environment();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(chat_model_open(service, &cases[i].options, &m, &error), -EINVAL);
		assert_has(error.message, cases[i].why);
		assert_lacks(error.message, "secret");
	}
	setenv("MLGYM_MODEL_MAX_RETRIES", "many", 1);
	assert_int_equal(chat_model_open(service,
					 &(struct chat_options){ .spec = "openai:m",
							 .key = "k",
							 .retries = -1 },
					 &m, &error),
			-EINVAL);
	assert_has(error.message, "MLGYM_MODEL_MAX_RETRIES");
}

static void test_specs(void **state)
{
	static const char *const models[] = { "openai:m", "anthropic:m", "litellm:m", "groq:m" };
	static const char *const others[] = { "openai", "baseline", "actions:f", "", ":",
		"open:m" };

	for (size_t i = 0; i < ARRAY_SIZE(models); i++)
		assert_true(chat_is_spec(models[i]));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(chat_is_spec(others[i]));
}

/* The server sees the expected path, and a header with the API key, for each kind of address. */
static void test_addresses(void **state)
{
	static const struct {
		struct chat_options options;
		const char *under, *path, *header, *value;
	} cases[] = {
		{ { .spec = "openai:a1", .key = "k" }, "", "/v1/chat/completions", "authorization",
				"Bearer k" },
		{ { .spec = "openai:a2" }, "/v1/", "/v1/chat/completions", "authorization", NULL },
		{ { .spec = "openai:a3", .key = "k" }, "/x/chat/completions", "/x/chat/completions",
				"authorization", "Bearer k" },
		{ { .spec = "azure:a4", .key = "k", .version = "2024-06-01" }, "",
				"/openai/deployments/a4/chat/completions?api-version=2024-06-01",
				"api-key", "k" },
		{ { .spec = "azure:a5", .key = "k", .version = "v" }, "/openai/deployments/d",
				"/openai/deployments/d/chat/completions?api-version=v", "api-key",
				"k" },
		{ { .spec = "anthropic:a6", .key = "k" }, "", "/v1/messages", "x-api-key", "k" },
		{ { .spec = "litellm:claude-7", .key = "k" }, "/v1", "/v1/messages",
				"anthropic-version", "2023-06-01" },
		{ { .spec = "litellm:groq/a8", .key = "k" }, "/openai/v1",
				"/openai/v1/chat/completions", "authorization", "Bearer k" },
	};
	struct chat_reply reply;

	forget_environment();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_free char *base = xstrndup(server.url, strlen(server.url) - strlen("/v1"));
		auto_free char *url = xasprintf("%s%s", base, cases[i].under);
		struct chat_options options = cases[i].options;
		auto_json json_t *path = NULL, *headers = NULL;
		struct chat_model *m;

		options.url = url;
		m = open_model(options);
		assert_int_equal(ask(m, &reply), -EIO); /* fails: no such model */
		path = chat_asked(&server, chat_model_name(m), "path", NULL);
		headers = chat_asked(&server, chat_model_name(m), "headers", NULL);
		assert_string_equal(json_string_value(path), cases[i].path);
		assert_true(str_eq(json_string_value(json_object_get(headers, cases[i].header)),
				cases[i].value));
		chat_model_close(m);
	}
}

/* Variables of the environment give the API key, the address and the number of retries. */
static void test_variables(void **state)
{
	auto_json json_t *headers = NULL;
	struct chat_reply reply;
	struct chat_model *m;
	int n;

	forget_environment();
	setenv("OPENAI_API_KEY", "from the environment", 1);
	setenv("OPENAI_BASE_URL", server.url, 1);
	setenv("MLGYM_MODEL_MAX_RETRIES", "2", 1);
	assert_done(chat_model_open(service,
			&(struct chat_options){ .spec = "litellm:always", .retries = -1 }, &m,
			&error));
	assert_int_equal(ask(m, &reply), -EIO);
	headers = chat_asked(&server, "always", "headers", &n);
	assert_int_equal(n, 3);
	assert_string_equal(json_string_value(json_object_get(headers, "authorization")),
			"Bearer from the environment");
	chat_model_close(m);
	forget_environment();
}

static void test_extra(void **state)
{
	auto_json json_t *body = NULL;
	struct chat_model *m = open_model((struct chat_options){ .spec = "openai:length",
			.temperature = 0.5,
			.extra = "{\"temperature\":1,\"top_p\":null,\"seed\":{\"a\":[7]}}" });
	struct chat_reply reply;

	assert_done(ask(m, &reply));
	body = chat_asked(&server, "length", "body", NULL);
	assert_int_equal(json_integer_value(json_object_get(body, "temperature")), 1);
	assert_null(json_object_get(body, "top_p"));
	assert_true(json_is_object(json_object_get(body, "seed")));
	chat_model_close(m);
}

/* --- costs and contexts ----------------------------------------------------------------------- */

/* Dollars for 500 tokens at full price, 500 tokens from the cache, and 100 generated ones. */
#define COST_GPT_4O ((500 * 2.5 + 500 * 1.25 + 100 * 10) / 1e6)
#define COST_SONNET ((500 * 3 + 500 * .3 + 100 * 15) / 1e6)

static void test_costs(void **state)
{
	static const struct {
		const char *spec;
		double cost;
		int64_t cached;
	} cases[] = {
		{ "openai:gpt-4o", COST_GPT_4O, 500 },
		{ "anthropic:claude-3-5-sonnet-20241022", COST_SONNET, 500 },
		{ "openai:plain", 0, 500 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases) * 2; i++) {
		struct chat_model *m = open_model((struct chat_options){
				.spec = cases[i / 2].spec, .key = "k", .stream = i % 2 });
		struct chat_stats stats;
		struct chat_reply reply;

		assert_done(ask(m, &reply));
		assert_true(fabs(reply.cost - cases[i / 2].cost) < 1e-12);
		assert_done(ask(m, &reply));
		chat_model_stats(m, &stats);
		assert_true(fabs(stats.cost - 2 * cases[i / 2].cost) < 1e-12);
		assert_int_equal(stats.tokens_sent, 2000);
		assert_int_equal(stats.tokens_received, 200);
		assert_int_equal(stats.tokens_cached, 2 * cases[i / 2].cached);
		assert_int_equal(stats.calls, 2);
		chat_model_close(m);
	}
}

/* If the server does not count tokens, four bytes are estimated as a token. */
static void test_estimate(void **state)
{
	struct chat_model *m = open_model((struct chat_options){ .spec = "openai:uncounted" });
	struct chat_reply reply;

	assert_done(ask(m, &reply));
	assert_int_equal(reply.tokens_sent, strlen("Hello") / 4 + 1);
	assert_int_equal(reply.tokens_received, strlen("12345678") / 4 + 1);
	chat_model_close(m);
}

static void test_cost_limit(void **state)
{
	struct chat_model *m = open_model((struct chat_options){
			.spec = "openai:gpt-4o", .key = "k", .cost_limit = 1.5 * COST_GPT_4O });
	struct chat_stats stats;
	struct chat_reply reply;
	int before, after;

	assert_done(ask(m, &reply));
	assert_int_equal(ask(m, &reply), -EDQUOT);
	assert_has(error.message, "openai:gpt-4o has cost $0.0057");
	json_decref(chat_asked(&server, "gpt-4o", "body", &before));
	/* Once the cost limit is reached, no request is sent. */
	assert_int_equal(ask(m, &reply), -EDQUOT);
	json_decref(chat_asked(&server, "gpt-4o", "body", &after));
	assert_int_equal(before, after);
	chat_model_stats(m, &stats);
	assert_int_equal(stats.calls, 2);
	chat_model_close(m);
}

static void test_total_cost_limit(void **state)
{
	struct chat_service *before = service;
	struct chat_model *first, *second, *unknown;
	struct chat_reply reply;

	assert_done(chat_service_open(
			&(struct chat_service_options){ .total_cost_limit = 1.5 * COST_GPT_4O },
			&service, &error));
	first = open_model((struct chat_options){ .spec = "openai:gpt-4o" });
	second = open_model((struct chat_options){ .spec = "openai:gpt-4o" });
	assert_int_equal(chat_model_open(service,
					 &(struct chat_options){
							 .spec = "openai:m", .url = server.url },
					 &unknown, &error),
			-EINVAL);
	assert_done(ask(first, &reply));
	assert_int_equal(ask(second, &reply), -ECANCELED);
	assert_has(error.message, "all models");
	assert_int_equal(ask(first, &reply), -ECANCELED);
	chat_model_close(first);
	chat_model_close(second);
	chat_service_close(service);
	service = before;
}

static void test_context(void **state)
{
	struct chat_model *m = open_model(
			(struct chat_options){ .spec = "openai:never", .context_tokens = 1 });
	struct chat_reply reply;
	int n;

	assert_int_equal(ask(m, &reply), -E2BIG);
	assert_has(error.message, "more than the 1 of its context");
	json_decref(chat_asked(&server, "never", "body", &n));
	assert_int_equal(n, 0);
	chat_model_close(m);
}

/* The provider counted 100 tokens for 5 bytes. Each 4 more bytes are estimated as a token. */
static void test_context_grows(void **state)
{
	static const struct {
		size_t n;
		int code;
	} cases[] = { { 5, 0 }, { 5 + 20, 0 }, { 5 + 400, -E2BIG }, { 3, 0 } };
	struct chat_model *m = open_model(
			(struct chat_options){ .spec = "openai:length", .context_tokens = 130 });
	struct chat_reply reply;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		static char text[1000];
		const struct chat_message message = { .role = CHAT_USER, .content = text };
		const struct chat_request request = { .messages = &message, .n_messages = 1 };

		memset(text, 'x', cases[i].n);
		text[cases[i].n] = '\0';
		assert_int_equal(ask_for(m, &request, &reply), cases[i].code);
	}
	chat_model_close(m);
}

/* --- connections ------------------------------------------------------------------------------ */

/* An untrusted certificate of the server is an error without another try. */
static void test_tls(void **state)
{
	auto_free char *cert = chat_file(&secure, "cert.pem");
	struct chat_options options = { .spec = "openai:plain", .url = secure.url, .retries = 1 };
	struct chat_stats stats;
	struct chat_reply reply;
	struct chat_model *m;

	m = open_model(options);
	assert_int_equal(ask(m, &reply), -EIO);
	assert_has(error.message, "certificate");
	chat_model_stats(m, &stats);
	assert_int_equal(stats.retries, 0);
	chat_model_close(m);
	setenv("SSL_CERT_FILE", cert, 1);
	for (int i = 0; i < 2; i++) {
		options.stream = i;
		m = open_model(options);
		assert_done(ask(m, &reply));
		chat_model_close(m);
	}
	forget_environment();
}

/* If a server answers without TLS on an https address, the request is tried again. */
static void test_no_tls(void **state)
{
	auto_free char *url = xasprintf("https%s", server.url + strlen("http"));
	struct chat_model *m = open_model(
			(struct chat_options){ .spec = "openai:plain", .url = url, .retries = 1 });
	struct chat_reply reply;

	assert_int_equal(ask(m, &reply), -EIO);
	assert_has(error.message, "(2 tries)");
	chat_model_close(m);
}

/* Uses the test's server as proxy. A proxy gets the full URL as path. */
static void test_proxy(void **state)
{
	auto_free char *proxy = xstrndup(server.url, strlen(server.url) - strlen("/v1"));
	struct chat_model *m;
	auto_json json_t *path = NULL;
	struct chat_reply reply;

	setenv("http_proxy", proxy, 1);
	m = open_model((struct chat_options){
			.spec = "openai:tools", .url = "http://model.example/v1" });
	assert_done(ask(m, &reply));
	path = chat_asked(&server, "tools", "path", NULL);
	assert_string_equal(json_string_value(path), "http://model.example/v1/chat/completions");
	chat_model_close(m);
	forget_environment();
}

/* --- API keys in memory ----------------------------------------------------------------------- */

#define BLOCK_BYTES (1L << 20)
#define MAPPING_BYTES_MAX (1L << 30) /* larger ones belong to a sanitizer */

static int count_in_block(const char *block, size_t n, const char *reversed, size_t n_text)
{
	int found = 0;

	for (size_t at = 0; at + n_text <= n; at++) {
		size_t i = 0;

		while (i < n_text && block[at + i] == reversed[n_text - 1 - i])
			i++;
		found += i == n_text;
	}
	return found;
}

/* Counts a text in this process's private memory. It is given reversed, not to find itself. */
static int count_in_memory(const char *reversed)
{
	char *block = mem_share(BLOCK_BYTES); /* shared memory, which is not searched */
	auto_close int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	FILE *maps = fopen("/proc/self/maps", "re");
	size_t n_text = strlen(reversed);
	char line[512];
	int found = 0;

	assert_non_null(block);
	while (fgets(line, sizeof(line), maps)) {
		long from, to;

		if (sscanf(line, "%lx-%lx", &from, &to) != 2 || !strstr(line, " rw-p ") ||
				to - from > MAPPING_BYTES_MAX)
			continue;
		for (; from < to; from += BLOCK_BYTES - (long)n_text) {
			ssize_t n = pread(memory, block, BLOCK_BYTES, from);

			if (n > 0)
				found += count_in_block(block, (size_t)n, reversed, n_text);
		}
	}
	fclose(maps);
	munmap(block, BLOCK_BYTES);
	return found;
}

static void test_wiped(void **state)
{
	static const char reversed[] =
			"1z9y8x7w-terces-ylurt-yrev-a-4v3u2t1s-6r5q4p3o-dna-retfa-taht-gnol-sa-era-sa-sredivorp-"
			"emos-fo-esoht-sa-gnol-sa-ks";
	char key[sizeof(reversed)];
	struct chat_service *own = service;
	struct chat_options options = { .spec = "openai:plain", .key = key };
	struct chat_reply reply;
	struct chat_model *m;

	for (size_t i = 0; i + 1 < sizeof(key); i++)
		key[i] = reversed[sizeof(key) - 2 - i];
	key[sizeof(key) - 1] = '\0';
	assert_done(chat_service_open(NULL, &service, &error));
	m = open_model(options);
	explicit_bzero(key, sizeof(key));
	assert_done(ask(m, &reply));
	assert_true(count_in_memory(reversed) > 0);
	chat_model_close(m);
	chat_service_close(service);
	service = own;
	assert_int_equal(count_in_memory(reversed), 0);
}

/* --- main ------------------------------------------------------------------------------------- */

static int set_up(void **state)
{
	forget_environment();
	chat_server_start(&server, "chat.json", false);
	chat_server_start(&secure, "chat.json", true);
	return chat_service_open(NULL, &service, &error);
}

static int tear_down(void **state)
{
	chat_service_close(service);
	chat_server_stop(&server);
	chat_server_stop(&secure);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_specs),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_extra),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_estimate),
		cmocka_unit_test(test_cost_limit),
		cmocka_unit_test(test_total_cost_limit),
		cmocka_unit_test(test_context),
		cmocka_unit_test(test_context_grows),
		cmocka_unit_test(test_tls),
		cmocka_unit_test(test_no_tls),
		cmocka_unit_test(test_proxy),
		cmocka_unit_test(test_wiped),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
