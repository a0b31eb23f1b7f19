/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "model/dotenv.h"

#include <errno.h>

/* Reads variables from a .env file: valid spellings, and errors in invalid ones. */

static char folder[FOLDER_MAX];
static struct fh_error error;
static struct buf left_out = BUF_INIT(4096);

static int load(const char *text, size_t n)
{
	auto_free char *path = xasprintf("%s/.env", folder);
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fwrite(text, 1, n, file);
	fclose(file);
	unsetenv("XAI_API_KEY");
	unsetenv("AZURE_API_BASE");
	buf_clear(&left_out);
	return dotenv_load(path, &left_out, &error);
}

static void test_taken(void **state)
{
	static const struct {
		const char *text, *a_key, *b;
	} cases[] = {
		{ "", NULL, NULL },
		{ "# nothing\n\n \t\r\n", NULL, NULL },
		{ "XAI_API_KEY=x", "x", NULL },
		{ "XAI_API_KEY=\nAZURE_API_BASE=\n", "", "" },
		{ "\xef\xbb\xbf"
		  "XAI_API_KEY=x\r\nAZURE_API_BASE=y z \t\r\n",
				"x", "y z" },
		{ "  export XAI_API_KEY = x # why\nexport\tAZURE_API_BASE=y#z\n", "x", "y#z" },
		{ "XAI_API_KEY= # none\nAZURE_API_BASE=#\n", "", "" },
		{ "XAI_API_KEY='a \"$b\\n'  # c\nAZURE_API_BASE=\"a 'b\\n\\t\\\"\\\\\\$c\\x\"",
				"a \"$b\\n", "a 'b\n\t\"\\$c\\x" },
		{ "XAI_API_KEY=\"one\ntwo\"\nAZURE_API_BASE='x\n'\n", "one\ntwo", "x\n" },
		{ "XAI_API_KEY=first\nXAI_API_KEY=second\n", "first", NULL },
		{ "XAI_API_KEY=a=b'c\"\n", "a=b'c\"", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_done(load(cases[i].text, strlen(cases[i].text)));
		if (!str_eq(getenv("XAI_API_KEY"), cases[i].a_key) ||
				!str_eq(getenv("AZURE_API_BASE"), cases[i].b))
			fail_msg("'%s' gives '%s', '%s'", cases[i].text, getenv("XAI_API_KEY"),
					getenv("AZURE_API_BASE"));
	}
}

static void test_wrong(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "XAI_API_KEY=secret\nB\n", ".env:2: expected KEY=VALUE" },
		{ "=x\n", ".env:1: expected KEY=VALUE" },
		{ "1A=x\n", ".env:1: expected KEY=VALUE" },
		{ "A KEY=x\n", ".env:1: expected KEY=VALUE" },
		{ "\nAZURE_API_BASE='secret\n\n", ".env:2: a quote that is not closed" },
		{ "XAI_API_KEY='a\nb'\nAZURE_API_BASE=\"x\" secret\n",
				".env:3: something after the closing quote" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(load(cases[i].text, strlen(cases[i].text)), -EINVAL);
		assert_has(error.message, cases[i].why);
		assert_lacks(error.message, "secret");
		assert_null(getenv("XAI_API_KEY"));
	}
	assert_int_equal(load("XAI_API_KEY=x\0y", 15), -EINVAL);
}

static void test_files(void **state)
{
	auto_free char *path = xasprintf("%s/none", folder);
	auto_free char *large = xcalloc(1, DOTENV_BYTES_MAX + 2);

	assert_done(dotenv_load(path, &left_out, &error));
	memset(large, '\n', DOTENV_BYTES_MAX + 1);
	assert_int_equal(load(large, DOTENV_BYTES_MAX + 1), -EFBIG);
	assert_int_equal(dotenv_load(folder, &left_out, &error), -EISDIR);
}

/* A variable of the environment is not replaced by the .env file. */
static void test_set_before(void **state)
{
	auto_free char *path = xasprintf("%s/.env", folder);

	assert_done(load("AZURE_API_BASE=file\n", 20));
	setenv("AZURE_API_BASE", "before", 1);
	assert_done(dotenv_load(path, &left_out, &error));
	assert_string_equal(getenv("AZURE_API_BASE"), "before");
}

/* A .env file, which may be another person's, can't set folders, proxies, addresses or libraries to
 * load. */
static void test_not_allowed(void **state)
{
	static const char text[] =
			"FUMEHOOD_STATE=/x\nFUMEHOOD_JUDGE_KEY=/x\nhttps_proxy=http://x\n"
			"SSL_CERT_FILE=/x\nSEMANTIC_SCHOLAR_API_URL=http://x\nLD_PRELOAD=/x\n"
			"MLGYM_MODEL_MAX_RETRIES=7\nXAI_API_KEY=x\n";
	static const char *const names[] = { "FUMEHOOD_STATE", "FUMEHOOD_JUDGE_KEY", "https_proxy",
		"SSL_CERT_FILE", "SEMANTIC_SCHOLAR_API_URL", "LD_PRELOAD" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unsetenv(names[i]);
	assert_done(load(text, strlen(text)));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (getenv(names[i]))
			fail_msg("%s is set", names[i]);
	assert_string_equal(getenv("MLGYM_MODEL_MAX_RETRIES"), "7");
	assert_true(str_ends(dotenv_source("MLGYM_MODEL_MAX_RETRIES"), "/.env"));
	assert_null(dotenv_source("FUMEHOOD_STATE"));
}

/* Variables that a .env file may not set are reported by line and name, if they concern this
 * program. */
static void test_left_out(void **state)
{
	static const struct {
		const char *text, *told; /* `told` leaves out the folder */
	} cases[] = {
		{ "XAI_API_KEY=x\nWANDB_PROJECT=x\nPATH=x\nPROXY=x\nMLGYM_ENV_TIMEOUT=1\n", "" },
		{ "XAI_API_KEY=x\n\nFUMEHOOD_X='secret\nA=b'\nexport x_Proxy=secret\n",
				".env:3: FUMEHOOD_X, .env:5: x_Proxy" },
		{ "SSL_CERT_X=secret\nCURL_X=secret\nX_API_URL=secret\n",
				".env:1: SSL_CERT_X, .env:2: CURL_X, "
				".env:3: X_API_URL" },
		{ "X_API_KEY=secret\nX_BASE_URL=secret\nX_API_BASE=secret\n",
				".env:1: X_API_KEY, .env:2: X_BASE_URL, .env:3: X_API_BASE" },
		{ "LEFT_OUT_PROXY=x\n", "" }, /* not reported: it is set already */
	};

	setenv("LEFT_OUT_PROXY", "x", 1);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_buf struct buf told = BUF_INIT(4096);
		const char *at = cases[i].told;

		assert_done(load(cases[i].text, strlen(cases[i].text)));
		for (const char *next; (next = strstr(at, ".env")); at = next + 1)
			buf_printf(&told, "%.*s%s/.", (int)(next - at), at, folder);
		buf_add_str(&told, at);
		assert_string_equal(buf_str(&left_out), buf_str(&told));
	}
}

static int set_up(void **state)
{
	return folder_make(folder);
}

static int tear_down(void **state)
{
	buf_release(&left_out);
	return folder_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_set_before),
		cmocka_unit_test(test_not_allowed),
		cmocka_unit_test(test_left_out),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
