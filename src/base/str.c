/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include "base/mem.h"
#include "base/scope.h"

#include <stdlib.h>
#include <string.h>

/* Longest string for str_distance(). For longer ones the distance is SIZE_MAX. */
#define DISTANCE_MAX 64

bool str_eq(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return strcmp(a, b) == 0;
}

int str_index(const char *s, const char *const *list)
{
	for (int i = 0; list[i]; i++)
		if (str_eq(s, list[i]))
			return i;
	return -1;
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s);
	size_t m = strlen(suffix);

	return n >= m && strcmp(s + n - m, suffix) == 0;
}

struct str_repeat {
	const char *text;
	size_t at;
};

static int str_compare_repeats(const void *a, const void *b)
{
	const struct str_repeat *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

bool str_find_repeat(const char *const *texts, size_t n, size_t *out_at)
{
	auto_free struct str_repeat *all = xcalloc(n + 1, sizeof(*all));

	for (size_t i = 0; i < n; i++)
		all[i] = (struct str_repeat){ texts[i], i };
	qsort(all, n, sizeof(*all), str_compare_repeats);
	for (size_t i = 1; i < n; i++) {
		if (!str_eq(all[i].text, all[i - 1].text))
			continue;
		*out_at = all[i].at;
		return true;
	}
	return false;
}

/* --- closest text, for "did you mean" --------------------------------------------------------- */

size_t str_distance(const char *a, const char *b)
{
	/* Three rows of the matrix of Levenshtein distances: the current row and the two before
	 * it. */
	size_t rows[3][DISTANCE_MAX + 1];
	size_t n = strlen(a);
	size_t m = strlen(b);

	if (n > DISTANCE_MAX || m > DISTANCE_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *row = rows[i % 3];
		const size_t *up = rows[(i + 2) % 3];
		const size_t *up2 = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			row[j] = up[j - 1] + (a[i - 1] != b[j - 1]);
			if (up[j] + 1 < row[j])
				row[j] = up[j] + 1;
			if (row[j - 1] + 1 < row[j])
				row[j] = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
					up2[j - 2] + 1 < row[j])
				row[j] = up2[j - 2] + 1;
		}
	}
	return rows[n % 3][m];
}

static const char *str_shortest_with(const char *part, const char *const *candidates, size_t n)
{
	const char *best = NULL;
	size_t least = SIZE_MAX;

	if (strlen(part) < 3)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t length = strlen(candidates[i]);

		if (length < least && strcasestr(candidates[i], part)) {
			least = length;
			best = candidates[i];
		}
	}
	return best;
}

const char *str_closest(const char *s, const char *const *candidates, size_t n)
{
	/* Two of five letters may be wrong, but only one of four: more would be another word. */
	size_t least = (strlen(s) + 1) / 3, at = n;

	if (strlen(s) < 2)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t distance = str_distance(s, candidates[i]);

		if (distance < least || (distance == least && at == n)) {
			least = distance;
			at = i;
		}
	}
	return at < n ? candidates[at] : str_shortest_with(s, candidates, n);
}

/* --- UTF-8, blanks, and text that is safe to show --------------------------------------------- */

/* Follows RFC 3629: refuses surrogates, overlong forms and characters above U+10FFFF. */
size_t str_utf8_length(const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned char low = 0x80;
	unsigned char high = 0xbf;
	size_t length;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	length = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (n < length)
		return 0;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

uint32_t str_utf8_decode(const char *s, size_t *out_length)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t length = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	uint32_t c = length == 1 ? p[0] : p[0] & (0x7fu >> length);

	for (size_t i = 1; i < length; i++)
		c = c << 6 | (p[i] & 0x3f);
	*out_length = length;
	return c;
}

/* The characters of https://docs.python.org/3/library/stdtypes.html#str.isspace */
bool str_is_space(uint32_t c)
{
	return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 ||
			c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
			c == 0x202f || c == 0x205f || c == 0x3000;
}

bool str_is_blank(const char *s)
{
	const char *end = s + strlen(s);
	size_t length;

	for (; s < end; s += length)
		if (!str_utf8_length(s, (size_t)(end - s)) ||
				!str_is_space(str_utf8_decode(s, &length)))
			return false;
	return true;
}

#define HIGHS 0x8080808080808080 /* highest bits of eight bytes */

static uint64_t str_eight(const char *s)
{
	uint64_t bytes;

	memcpy(&bytes, s, sizeof(bytes));
	return bytes;
}

ssize_t str_utf8_invalid(const char *s, size_t n)
{
	for (size_t at = 0; at < n;) {
		size_t length;

		if (n - at >= 8 && !(str_eight(s + at) & HIGHS)) {
			at += 8;
			continue;
		}
		length = str_utf8_length(s + at, n - at);

		if (!length)
			return (ssize_t)at;
		at += length;
	}
	return -1;
}

size_t str_utf8_characters(const char *s, size_t n)
{
	const char *end = s + n;

	/* Count the bytes that continue a character: their first bits are 10. */
	for (; end - s >= 8; s += 8) {
		uint64_t bytes = str_eight(s);

		n -= (size_t)__builtin_popcountll(bytes & ~(bytes << 1) & HIGHS);
	}
	for (; s < end; s++)
		n -= ((unsigned char)*s & 0xc0) == 0x80;
	return n;
}

size_t str_utf8_cut(const char *s, size_t n, size_t most)
{
	if (n <= most)
		return n;
	while (most && ((unsigned char)s[most] & 0xc0) == 0x80)
		most--;
	return most;
}

char *str_put_hex(char *to, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";

	*to++ = '\\';
	*to++ = 'x';
	*to++ = digits[c >> 4];
	*to++ = digits[c & 0xf];
	return to;
}

/* Number of bytes at s that are ASCII and not NUL. Reads words of eight, so it may return up to
 * seven too few. */
static size_t str_ascii_words(const char *s, size_t n)
{
	const uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
	size_t at = 0;
	uint64_t word;

	for (; n - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, s + at, sizeof(word));
		if ((word | (word - ones)) & highs)
			break;
	}
	return at;
}

void str_add_utf8(struct buf *out, const char *data, size_t n)
{
	char chunk[1024], *to = chunk;
	size_t length, at = 0;

	while (at < n) {
		size_t plain = data[at] > 0 ? str_ascii_words(data + at, n - at) : 0;

		/* Empty the chunk before plain ASCII, and if less than 4 bytes are free. A
		 * character or \xNN takes up to 4. */
		if (plain || to > chunk + sizeof(chunk) - 4) {
			buf_add(out, chunk, (size_t)(to - chunk));
			buf_add(out, data + at, plain);
			to = chunk;
			at += plain;
			continue;
		}
		length = data[at] > 0 ? 1 : data[at] ? str_utf8_length(data + at, n - at) : 0;
		for (size_t i = 0; i < length; i++)
			*to++ = data[at + i];
		if (!length)
			to = str_put_hex(to, (unsigned char)data[at]);
		at += length ? length : 1;
	}
	buf_add(out, chunk, (size_t)(to - chunk));
}

/* Appends what a terminal would show of a line: the text after the last carriage return. A carriage
 * return at the very end hides nothing. */
static void str_add_folded_line(struct buf *out, const char *line, size_t n)
{
	const char *last;

	while (n && line[n - 1] == '\r')
		n--;
	last = memrchr(line, '\r', n);
	if (last) {
		n -= (size_t)(last + 1 - line);
		line = last + 1;
	}
	buf_add(out, line, n);
}

void str_add_folded(struct buf *out, const char *data, size_t n)
{
	const char *end = data + n;

	if (!memchr(data, '\r', n)) {
		buf_add(out, data, n);
		return;
	}
	while (data < end) {
		const char *newline = memchr(data, '\n', (size_t)(end - data));
		const char *stop = newline ? newline : end;

		str_add_folded_line(out, data, (size_t)(stop - data));
		if (newline)
			buf_add_char(out, '\n');
		data = newline ? newline + 1 : end;
	}
}

/* Characters that control a terminal, break a line, change the direction of text, or have no width.
 * Sorted, so that a search can stop early. */
static const struct {
	uint32_t first, last;
} unprintable[] = {
	{ 0x00, 0x08 },
	{ 0x0b, 0x1f },
	{ 0x7f, 0x9f },
	{ 0xad, 0xad },
	{ 0x61c, 0x61c },
	{ 0x180e, 0x180e },
	{ 0x200b, 0x200f },
	{ 0x2028, 0x202e },
	{ 0x2060, 0x206f },
	{ 0xfeff, 0xfeff },
	{ 0xfff9, 0xfffb },
	{ 0xe0000, 0xe007f },
};

static bool str_is_printable(uint32_t c)
{
	for (size_t i = 0; i < ARRAY_SIZE(unprintable) && unprintable[i].first <= c; i++)
		if (c <= unprintable[i].last)
			return false;
	return true;
}

void str_add_printable(struct buf *out, const char *s)
{
	size_t left = strlen(s);

	while (left) {
		size_t length = str_utf8_length(s, left);

		if (length && str_is_printable(str_utf8_decode(s, &length))) {
			buf_add(out, s, length);
		} else {
			length = length ? length : 1;
			for (size_t i = 0; i < length; i++)
				buf_printf(out, "\\x%02x", (unsigned char)s[i]);
		}
		s += length;
		left -= length;
	}
}
