/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/scope.h"
#include "model/sse.h"

#include <time.h>

/* Reads a stream of server-sent events. The events don't depend on how the bytes are cut into
 * pieces. */

static void add_events(struct sse *s, struct buf *out)
{
	const char *text;
	size_t n;

	while (sse_next(s, &text, &n)) {
		buf_add(out, text, n);
		buf_add_char(out, '|');
	}
}

static void read_in_pieces(const char *text, size_t piece, struct buf *out)
{
	size_t n = strlen(text);
	struct sse s;

	sse_init(&s);
	for (size_t i = 0; i < n; i += piece) {
		sse_feed(&s, text + i, n - i < piece ? n - i : piece);
		add_events(&s, out);
	}
	sse_end(&s);
	add_events(&s, out);
	assert_false(sse_is_too_long(&s));
	sse_release(&s);
}

static void test_events(void **state)
{
	static const struct {
		const char *text, *events; /* each event ends with a | */
	} cases[] = {
		{ "", "" },
		{ "\n\n\n", "" },
		{ "data: one\n\ndata: two\n\n", "one|two|" },
		{ "data:one\r\rdata:two\r\n\r\n", "one|two|" },
		{ "data: one\r\ndata: more\r\n\r\n", "one\nmore|" },
		{ "data\n\ndata:\n\ndata: \ndata:  x\n\n", "||\n x|" },
		{ ": hello\nid: 7\nretry: 3\nevent: ping\n\ndata: x\n\n", "x|" },
		{ "event: a\ndata: x\nid: 1\n\n", "x|" },
		{ "datax: 1\ndat: 2\n data: 3\n\n", "" },
		{ "\xef\xbb\xbf"
		  "data: x\n\n",
				"x|" },
		{ "\xef\xbb"
		  "data: x\n\ndata: y\n\n",
				"y|" },
		{ "data: last", "last|" },
		{ "data: last\r\n", "last|" },
		{ "data: \xef\xbb\xbf[DONE]\n\n", "\xef\xbb\xbf[DONE]|" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t piece = 1; piece <= 40; piece++) {
			auto_buf struct buf found = BUF_INIT(4096);

			read_in_pieces(cases[i].text, piece, &found);
			assert_string_equal(buf_str(&found), cases[i].events);
		}
	}
}

/* A line or an event that never ends is kept up to a limit, and then reported as an error. */
static void test_too_long(void **state)
{
	static const char *const pieces[] = { "xxxxxxxxxxxxxxxx", "data: xxxxxxxxx\n" };
	static char chunk[65536];

	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		const char *text;
		struct sse s;
		size_t n;

		for (size_t at = 0; at < sizeof(chunk); at += 16)
			memcpy(chunk + at, pieces[i], 16);
		sse_init(&s);
		sse_feed(&s, "data: ", 6);
		for (size_t fed = 0; fed <= 2 * SSE_EVENT_BYTES_MAX; fed += sizeof(chunk)) {
			sse_feed(&s, chunk, sizeof(chunk));
			assert_false(sse_next(&s, &text, &n));
		}
		assert_true(sse_is_too_long(&s));
		sse_release(&s);
	}
}

/* A million lines end with \r only. Reading must be fast: looking ahead for \n at each takes half a
 * minute. */
static void test_many_lines(void **state)
{
	enum { N = 1 << 20 };
	auto_buf struct buf text = BUF_INIT(N), events = BUF_INIT(N);
	clock_t begin = clock();

	while (text.len < N)
		buf_add_str(&text, "\r");
	read_in_pieces(buf_str(&text), N, &events);
	assert_int_equal(events.len, 0);
	assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_many_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
