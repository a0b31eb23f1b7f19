/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "trajectory/compare.h"
#include "trajectory/normalise.h"

#include <stdint.h>
#include <string.h>

/*
 * Fuzzes the comparison of outputs. Takes the input as two texts that a NUL divides. A text equals
 * itself, and the order of the two must not matter. A line normalises the same whatever precedes
 * it. A diff keeps to its line limit.
 */

#define AT_S 1795255200
#define LINES 10

static void check(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void check_diff(struct compare_text a, struct compare_text b)
{
	auto_buf struct buf out = BUF_INIT(1 << 20);
	size_t lines = 0;

	compare_diff(&out, a, b, LINES);
	for (const char *s = buf_str(&out); (s = strchr(s, '\n')); s++)
		lines++;
	check(lines <= LINES);
}

static void check_lines(const char *a, const char *b)
{
	auto_buf struct buf text = BUF_INIT(1 << 20), whole = BUF_INIT(1 << 24),
			    parts = BUF_INIT(1 << 24);

	buf_printf(&text, "%s\n%s", a, b);
	normalise(&whole, buf_str(&text), AT_S);
	normalise(&parts, a, AT_S);
	buf_add_char(&parts, '\n');
	normalise(&parts, b, AT_S);
	check(buf_equal(&whole, &parts));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_free char *first = xstrndup((const char *)data, n);
	size_t split = strlen(first) < n ? strlen(first) + 1 : n;
	auto_free char *second = xstrndup((const char *)data + split, n - split);
	struct compare_text a = { first, AT_S }, b = { second, AT_S };

	check(compare_texts(a, a) == COMPARE_EQUAL);
	check(compare_texts(a, b) == compare_texts(b, a));
	check_lines(first, second);
	check_diff(a, b);
	return 0;
}
