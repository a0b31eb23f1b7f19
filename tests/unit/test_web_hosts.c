/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/scope.h"
#include "web/hosts.h"
#include "web/papers.h"

#include <errno.h>

/* Checks which hosts an allow-list allows, and how a search's results are printed. */

static void test_places(void **state)
{
	static const struct {
		const char *list, *scheme, *host, *port;
		bool allowed;
	} cases[] = {
		{ NULL, "https", "example.org", "443", false },
		{ "example.org", "https", "example.org", "443", true },
		{ "example.org", "http", "example.org", "80", true },
		{ "Example.ORG", "http", "example.org", "80", true },
		{ "example.org", "http", "example.org", "443", false },
		{ "example.org", "ftp", "example.org", "80", false },
		{ "example.org", "http", "example.org", "8080", false },
		{ "example.org", "https", "www.example.org", "443", false },
		{ "example.org", "https", "example.org.", "443", false },
		{ "example.org", "https", "badexample.org", "443", false },
		{ "*.example.org", "https", "www.example.org", "443", true },
		{ "*.example.org", "https", "a.b.example.org", "443", true },
		{ "*.example.org", "https", "example.org", "443", false },
		{ "*.example.org", "https", ".example.org", "443", false },
		{ "*.example.org", "https", "badexample.org", "443", false },
		{ "*.example.org", "https",
				"evil.net\xef\xbc\x9a"
				"443\xef\xbc\x8f.example.org",
				"443", false },
		{ "*.example.org", "https",
				"b\xc3\xbc"
				"cher.example.org",
				"443", false },
		{ "https://example.org", "https", "example.org", "443", true },
		{ "https://example.org", "http", "example.org", "80", false },
		{ "https://example.org", "https", "example.org", "8443", false },
		{ "http://localhost:8080", "http", "localhost", "8080", true },
		{ "http://localhost:8080", "http", "localhost", "80", false },
		{ "a.org,b.org,c.org", "https", "b.org", "443", true },
		{ "a.org,b.org,c.org", "https", "c.org", "443", true },
		{ "a.org,b.org", "https", "a.org,b.org", "443", false },
		{ "papers", "https", "arxiv.org", "443", true },
		{ "x.org,papers", "http", "export.arxiv.org", "80", true },
		{ "papers", "https", "example.org", "443", false },
		{ "papers", "https", "papers", "443", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (hosts_allow(cases[i].list, cases[i].scheme, cases[i].host, cases[i].port) !=
				cases[i].allowed)
			fail_msg("%s: %s://%s:%s", cases[i].list, cases[i].scheme, cases[i].host,
					cases[i].port);
}

static void test_lists(void **state)
{
	static const char *const right[] = { "a.org", "*.a.org", "https://a.org", "papers",
		"http://127.0.0.1:80", "a-b.c_d.org,x", "HTTPS://A.org:65535" };
	static const char *const wrong[] = { "", ",", "a.org,", ",a.org", " a.org", "a.org b.org",
		"ftp://a.org", "a.org:80", "*", "*.", "*.*.org", "https://",
		"https://a.org:", "https://a.org:0", "https://a.org:65536", "https://a.org/",
		"https://*.a.org", ".a.org", "a.org.", "https://a.org:+80", "https://u@a.org",
		"[::1]" };

	for (size_t i = 0; i < ARRAY_SIZE(right); i++)
		assert_int_equal(hosts_check(right[i], NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (hosts_check(wrong[i], NULL) != -EINVAL)
			fail_msg("'%s' was taken", wrong[i]);
}

static void test_answers(void **state)
{
	static const struct {
		const char *answer, *lines; /* NULL: refused */
	} cases[] = {
		{ "{\"data\": []}", "" },
		{ "{\"data\": [{\"paperId\": \"a\", \"title\": \"b\", \"abstract\": null, "
		  "\"openAccessPdf\": {\"url\": \"c\"}}]}",
				"{\"paperId\":\"a\",\"title\":\"b\",\"abstract\":null,\"pdf_url\":\"c\"}\n" },
		{ "{\"data\": [7, {\"title\": 3, \"openAccessPdf\": null}, {}]}",
				"{\"paperId\":null,\"title\":null,\"abstract\":null,\"pdf_url\":null}\n"
				"{\"paperId\":null,\"title\":null,\"abstract\":null,\"pdf_url\":null}\n" },
		{ "{}", NULL },
		{ "[]", NULL },
		{ "{\"data\": 1}", NULL },
		{ "<html>", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_buf struct buf out = BUF_INIT(1 << 16);
		struct fh_error err = FH_ERROR_INIT;
		int r = papers_add_lines(&out, cases[i].answer, strlen(cases[i].answer), 2, &err);

		assert_int_equal(r, cases[i].lines ? 0 : -EINVAL);
		assert_string_equal(buf_str(&out), cases[i].lines ? cases[i].lines : "");
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
