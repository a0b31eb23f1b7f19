/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "../../tools/aci/editor.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

/* Makes a file with n lines, each of them "a". */
static void make_lines(struct lines_of *out, size_t n)
{
	*out = (struct lines_of){ 0 };
	buf_init(&out->bytes, 1 << 20);
	for (size_t i = 0; i < n; i++)
		buf_add_str(&out->bytes, "a\n");
	lines_split(out);
}

static char *shown(const struct lines_of *lines, double center, double window)
{
	FILE *kept = stdout;
	char *text = NULL;
	size_t size;

	stdout = open_memstream(&text, &size);
	editor_show("/f", lines, editor_constrain(center, window, lines->n), window);
	fclose(stdout);
	stdout = kept;
	return text;
}

/* Windows of the editor, as MLGym shows them. `above` and `below` count the lines outside. They can
 * be off by one if the window is odd. */
static const struct {
	size_t n;
	double center, window;
	int above, first, last, below;
} windows[] = {
	{ 100, 5, 10, 0, 1, 10, 90 },     /* open */
	{ 100, 54, 10, 49, 50, 59, 41 },  /* `open F 50` */
	{ 100, 104, 10, 90, 91, 100, 0 }, /* open F 100 */
	{ 100, 13, 10, 8, 9, 18, 82 },    /* scroll_down */
	{ 100, -3, 10, 0, 1, 10, 90 },    /* scroll_up */
	{ 100, 1e9, 10, 90, 91, 100, 0 }, /* far */
	{ 100, 3.5, 7, 0, 1, 7, 93 },     /* `open`, with an odd window */
	{ 100, 8.5, 7, 5, 6, 12, 88 },    /* scrolled, with an odd window */
	{ 100, 52, 7, 48, 49, 55, 45 },   /* `open F 50`, odd window: 44.5 below are 45 */
	{ 100, 99, 7, 93, 94, 100, 0 },   /* at the end: half a line below is shown as 0 */
	{ 3, 500, 1000, 0, 1, 3, 0 },     /* all of it */
	{ 1, 500, 1000, 0, 1, 1, 0 }, { 0, 500, 1000, 0, 0, 0, 0 },
	{ 100, 50, 1, 49, 50, 50, 50 }, /* the smallest */
	{ 10, 0, 0, 0, 0, 0, 10 },      /* no line, as after a refused edit */
};

static void test_windows(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(windows); i++) {
		auto_lines_of struct lines_of lines;
		auto_buf struct buf want = BUF_INIT(1 << 20);
		auto_free char *text = NULL;

		make_lines(&lines, windows[i].n);
		buf_printf(&want, "[File: /f (%zu lines total)]\n", windows[i].n);
		if (windows[i].above)
			buf_printf(&want, "(%d more lines above)\n", windows[i].above);
		for (int n = windows[i].first; n && n <= windows[i].last; n++)
			buf_printf(&want, "%d:a\n", n);
		if (windows[i].below)
			buf_printf(&want, "(%d more lines below)\n", windows[i].below);
		text = shown(&lines, windows[i].center, windows[i].window);
		if (!str_eq(text, buf_str(&want)))
			fail_msg("%zu: %s", i, text);
	}
}

static const struct {
	const char *text;
	size_t bytes, n, last, ending; /* lines; lengths of the last line and of its end */
} texts[] = {
	{ "", 0, 0, 0, 0 },
	{ "\n", 1, 1, 0, 1 },
	{ "\r\n", 2, 1, 0, 2 },
	{ "a", 1, 1, 1, 0 },
	{ "a\r", 2, 1, 2, 0 },
	{ "a\nbc", 4, 2, 2, 0 },
	{ "a\nb\r\n", 5, 2, 1, 2 },
	{ "a\r\nb\n", 5, 2, 1, 1 },
	{ "a\r\r\n", 4, 1, 2, 2 },
	{ "\n\n\n", 3, 3, 0, 1 },
	{ "a\0b\n", 4, 1, 3, 1 },
};

static void test_lines(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_lines_of struct lines_of lines = { 0 };

		buf_init(&lines.bytes, 100);
		buf_add(&lines.bytes, texts[i].text, texts[i].bytes);
		lines_split(&lines);
		assert_int_equal(lines.n, texts[i].n);
		if (!lines.n)
			continue;
		assert_int_equal(lines.length[lines.n - 1], texts[i].last);
		assert_int_equal(lines_ending(&lines, lines.n - 1), texts[i].ending);
	}
}

static void test_numbers(void **state)
{
	static const char *const others[] = { NULL, "", "-1", "+1", " 1", "1 ", "1x", "0x1", "1.0",
		"1000000001", "99999999999999999999" };
	long n = 7;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(editor_number(others[i], &n));
	assert_int_equal(n, 7);
	assert_true(editor_number("0012", &n) && n == 12);
	assert_true(editor_number("0", &n) && n == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
