/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/compare.h"

#include "base/str.h"
#include "trajectory/normalise.h"
#include "trajectory/traj.h"

#include <string.h>
#include <time.h>

/* Most bytes of a text whose varying parts were replaced (normalised): it is less than ten times
 * longer than before. */
#define COMPARE_TEXT_BYTES_MAX (10 * TRAJ_BYTES_MAX)

const char *const compare_verdicts[] = { [COMPARE_EQUAL] = "equal",
	[COMPARE_NORMALISED] = "normalised",
	[COMPARE_UNKNOWN] = "unknown",
	[COMPARE_DIFFERENT] = "different" };

int64_t compare_time(const char *text)
{
	struct tm utc = { 0 };

	return text && strptime(text, "%Y-%m-%dT%H:%M:%S", &utc) ? timegm(&utc) : 0;
}

enum compare_verdict compare_texts(struct compare_text recorded, struct compare_text now)
{
	auto_buf struct buf a = BUF_INIT(COMPARE_TEXT_BYTES_MAX),
			    b = BUF_INIT(COMPARE_TEXT_BYTES_MAX);

	if (str_eq(recorded.text, now.text))
		return COMPARE_EQUAL;
	normalise(&a, recorded.text, recorded.at_s);
	normalise(&b, now.text, now.at_s);
	if (a.truncated || b.truncated)
		/* count texts as different if they don't fit into memory */
		return COMPARE_DIFFERENT;
	return buf_equal(&a, &b) ? COMPARE_NORMALISED : COMPARE_DIFFERENT;
}

/* --- differences ------------------------------------------------------------------------------ */

static size_t compare_line_length(const char *s)
{
	size_t n = strcspn(s, "\n");

	return n + (s[n] == '\n');
}

/* Returns the number of bytes of the lines at the end that both texts have in common. */
static size_t compare_common_end(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t n = 0, whole = 0;

	while (n < n_a && n < n_b && a[n_a - n - 1] == b[n_b - n - 1]) {
		n++;
		if (n == n_a || n == n_b || a[n_a - n - 1] == '\n')
			whole = n;
	}
	return whole;
}

static size_t compare_add_lines(
		struct buf *out, const char *mark, const char *text, size_t n, size_t most)
{
	size_t lines = 0;

	for (const char *end = text + n; text < end && lines < most; lines++) {
		size_t length = compare_line_length(text);

		buf_printf(out, "%s%.*s\n", mark, (int)strcspn(text, "\n"), text);
		text += length;
	}
	return lines;
}

void compare_diff(
		struct buf *out, struct compare_text recorded, struct compare_text now, size_t most)
{
	auto_buf struct buf a = BUF_INIT(COMPARE_TEXT_BYTES_MAX),
			    b = BUF_INIT(COMPARE_TEXT_BYTES_MAX);
	const char *x, *y;
	size_t n_x, n_y, end;

	normalise(&a, recorded.text, recorded.at_s);
	normalise(&b, now.text, now.at_s);
	x = buf_str(&a);
	y = buf_str(&b);
	while (*x && compare_line_length(x) == compare_line_length(y) &&
			strncmp(x, y, compare_line_length(x)) == 0) {
		size_t n = compare_line_length(x);

		x += n;
		y += n;
	}
	n_x = strlen(x);
	n_y = strlen(y);
	end = compare_common_end(x, n_x, y, n_y);
	most -= compare_add_lines(out, "- ", x, n_x - end, most / 2);
	compare_add_lines(out, "+ ", y, n_y - end, most);
}
