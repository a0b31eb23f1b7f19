/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/term.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

static bool term_is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !*term || str_eq(term, "dumb");
}

bool term_colours(int fd)
{
	const char *no_color = getenv("NO_COLOR");

	return isatty(fd) && !term_is_dumb() && !(no_color && *no_color);
}

bool term_redraws(int fd)
{
	return isatty(fd) && !term_is_dumb();
}

int term_width(int fd, int otherwise)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return otherwise;
	return size.ws_col;
}

int term_height(int fd, int otherwise)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || !size.ws_row)
		return otherwise;
	return size.ws_row;
}

/* Decodes the UTF-8 character at s. Returns its number of bytes. An invalid byte gives "?" and
 * 1. */
static size_t term_decode(const char *s, wchar_t *out)
{
	size_t n = str_utf8_length(s, strnlen(s, 4));

	*out = n ? (wchar_t)str_utf8_decode(s, &n) : L'?';
	return n ? n : 1;
}

static int term_columns_of(wchar_t c)
{
	int n = wcwidth(c);

	return n < 0 ? 1 : n;
}

int term_columns(const char *s)
{
	int columns = 0;

	while (*s) {
		wchar_t c;

		s += term_decode(s, &c);
		columns += term_columns_of(c);
	}
	return columns;
}

void term_widen(int *widths, const char *const *cells, int n)
{
	for (int i = 0; i < n; i++) {
		int columns = term_columns(cells[i]);

		if (columns > widths[i])
			widths[i] = columns;
	}
}

/* Returns how many bytes of s fit into `columns`. *out_used is the number of columns that these
 * bytes take. */
static size_t term_fit(const char *s, int columns, int *out_used)
{
	size_t n = 0;
	int used = 0;

	while (s[n]) {
		wchar_t c;
		size_t length = term_decode(s + n, &c);

		if (used + term_columns_of(c) > columns)
			break;
		used += term_columns_of(c);
		n += length;
	}
	*out_used = used;
	return n;
}

size_t term_fit_words(const char *s, int columns)
{
	int used;
	size_t fit = term_fit(s, columns, &used), n = fit;

	while (n && s[fit] && s[fit] != ' ' && !strchr(" /:_-,", s[n - 1]))
		n--;
	return n ? n : fit;
}

void term_add_line(struct buf *out, const char *s, int columns)
{
	auto_buf struct buf line = BUF_INIT(4096);
	auto_buf struct buf clean = BUF_INIT(8192);
	size_t n;
	int used;

	buf_add(&line, s, strnlen(s, 4096));
	for (size_t i = 0; i < line.len; i++) {
		if (line.data[i] == '\n' || line.data[i] == '\t')
			line.data[i] = ' ';
	}
	str_add_printable(&clean, buf_str(&line));
	n = term_fit(buf_str(&clean), columns, &used);
	if (n == clean.len) {
		buf_add(out, buf_str(&clean), n);
		return;
	}
	n = term_fit(buf_str(&clean), columns > 3 ? columns - 3 : 0, &used);
	buf_add(out, buf_str(&clean), n);
	buf_add(out, "...", columns > 3 ? 3 : 0);
}

char *term_cell(const char *s, int columns)
{
	auto_buf struct buf out = BUF_INIT(8192);

	term_add_line(&out, s, columns);
	return buf_take(&out);
}

void term_add_pad(struct buf *out, int used, int columns)
{
	for (; used < columns; used++)
		buf_add_char(out, ' ');
}

void term_add_wrapped(struct buf *out, const char *s, int indent, int width)
{
	int at = indent;

	while (*s) {
		int word = (int)strcspn(s, " ");

		if (at > indent && at + 1 + word > width) {
			buf_add_char(out, '\n');
			term_add_pad(out, 0, indent);
			at = indent;
		} else if (at > indent) {
			buf_add_char(out, ' ');
			at++;
		}
		buf_add(out, s, (size_t)word);
		at += word;
		s += word + (s[word] == ' ');
	}
}
