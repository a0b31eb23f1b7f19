/* SPDX-License-Identifier: Apache-2.0 */
#include "python/pyjson.h"

#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A recursive parser of JSON with at most PYJSON_DEPTH_MAX levels. Functions compare `at` with
 * `end` before they read a byte. */
struct pyjson_reader {
	struct arena *arena;
	const char *name;
	const char *at, *end;
	const char *line_start;
	unsigned line;
	/* The last place whose column was counted. The next count begins there, so that reading a
	 * file that is one long line takes linear time. */
	const char *mark;
	unsigned mark_column;
	unsigned depth;
	size_t values;
	struct fh_error *err;
};

/* Returns the column of a place in the text, counted in characters as editors do. */
static unsigned pyjson_column_of(struct pyjson_reader *r, const char *at)
{
	if (r->mark < r->line_start || r->mark > at) {
		r->mark = r->line_start;
		r->mark_column = 1;
	}
	r->mark_column += (unsigned)str_utf8_characters(r->mark, (size_t)(at - r->mark));
	r->mark = at;
	return r->mark_column;
}

static int pyjson_fail_at(struct pyjson_reader *r, const char *at, const char *what)
{
	return error_say(r->err, EINVAL, "%s:%u:%u: %s", r->name, r->line, pyjson_column_of(r, at),
			what);
}

static int pyjson_fail(struct pyjson_reader *r, const char *what)
{
	return pyjson_fail_at(r, r->at, r->at < r->end ? what : "the text ends too early");
}

static void pyjson_skip_space(struct pyjson_reader *r)
{
	for (; r->at < r->end; r->at++) {
		if (*r->at == '\n') {
			r->line++;
			r->line_start = r->at + 1;
		} else if (*r->at != ' ' && *r->at != '\t' && *r->at != '\r') {
			break;
		}
	}
}

/* --- strings ---------------------------------------------------------------------------------- */

static bool pyjson_read_hex4(struct pyjson_reader *r, uint32_t *out)
{
	uint32_t v = 0;

	if (r->end - r->at < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		int digit = str_hex_digit(r->at[i]);

		if (digit < 0)
			return false;
		v = v << 4 | (uint32_t)digit;
	}
	r->at += 4;
	*out = v;
	return true;
}

static char *pyjson_encode(char *out, uint32_t c)
{
	if (c < 0x80) {
		*out++ = (char)c;
	} else if (c < 0x800) {
		*out++ = (char)(0xc0 | c >> 6);
		*out++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*out++ = (char)(0xe0 | c >> 12);
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	} else {
		*out++ = (char)(0xf0 | c >> 18);
		*out++ = (char)(0x80 | (c >> 12 & 0x3f));
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	}
	return out;
}

/* Reads the hexadecimal digits after "\u" in a JSON string. A surrogate pair, two such escapes,
 * makes one character. */
static int pyjson_read_unicode(struct pyjson_reader *r, char **out)
{
	uint32_t c, low;

	if (!pyjson_read_hex4(r, &c))
		return pyjson_fail(r, "\\u wants four hexadecimal digits");
	if (c >= 0xd800 && c < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' &&
			r->at[1] == 'u') {
		const char *here = r->at;

		r->at += 2;
		if (pyjson_read_hex4(r, &low) && low >= 0xdc00 && low < 0xe000)
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		else
			r->at = here;
	}
	*out = pyjson_encode(*out, c);
	return 0;
}

static int pyjson_read_escape(struct pyjson_reader *r, char **out)
{
	static const char letters[] = "\"\"\\\\//b\bf\fn\nr\rt\t";

	if (++r->at >= r->end)
		return pyjson_fail(r, "");
	if (*r->at == 'u') {
		r->at++;
		return pyjson_read_unicode(r, out);
	}
	for (const char *p = letters; *p; p += 2) {
		if (*r->at == *p) {
			*(*out)++ = p[1];
			r->at++;
			return 0;
		}
	}
	return pyjson_fail(r, "no such escape in a string");
}

/* Finds the first byte that can't be copied as it is: a quote, a backslash or a control character.
 * Looks at eight bytes at a time, because strings are most of a record. */
static const char *pyjson_plain_end(const char *p, const char *end)
{
	const uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;

	for (; end - p >= 8; p += 8) {
		uint64_t bytes, quotes, slashes;

		memcpy(&bytes, p, sizeof(bytes));
		quotes = bytes ^ (ones * '"');
		slashes = bytes ^ (ones * '\\');
		/* The highest bit of a byte is set if it was zero, or below a blank. */
		if ((((quotes - ones) & ~quotes) | ((slashes - ones) & ~slashes) |
				    ((bytes - ones * ' ') & ~bytes)) &
				highs)
			break;
	}
	while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= ' ')
		p++;
	return p;
}

/* Finds the closing quote of a JSON string; NULL: there is none. A decoded string is never longer
 * than its escaped form, so this length gives the memory to allocate. */
static const char *pyjson_string_end(const struct pyjson_reader *r)
{
	const char *p = pyjson_plain_end(r->at, r->end);

	while (p < r->end && *p != '"') {
		p += *p == '\\' ? 2 : 1;
		if (p < r->end)
			p = pyjson_plain_end(p, r->end);
	}
	return p < r->end ? p : NULL;
}

static int pyjson_read_string(struct pyjson_reader *r, const char **out, size_t *out_len)
{
	const char *stop;
	char *text, *to;
	int n;

	if (r->at >= r->end || *r->at != '"')
		return pyjson_fail(r, "expected a string in double quotes");
	r->at++;
	stop = pyjson_string_end(r);
	if (!stop)
		return pyjson_fail_at(r, r->at - 1, "a string that does not end");
	to = text = arena_alloc(r->arena, (size_t)(stop - r->at) + 1);
	while (r->at < stop) {
		if (*r->at == '\\') {
			n = pyjson_read_escape(r, &to);
			if (n < 0)
				return n;
		} else if ((unsigned char)*r->at < ' ') {
			return pyjson_fail(r, "a control character in a string");
		} else {
			const char *plain = pyjson_plain_end(r->at, stop);

			to = mempcpy(to, r->at, (size_t)(plain - r->at));
			r->at = plain;
		}
	}
	r->at++;
	*out = text;
	*out_len = (size_t)(to - text);
	return 0;
}

/* --- JSON numbers and words ------------------------------------------------------------------- */

static const char *pyjson_digits(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

/* Returns the end of the JSON number at p; NULL: no number begins there. */
static const char *pyjson_number_end(const char *p, const char *end)
{
	const char *q;

	if (p < end && *p == '-')
		p++;
	q = pyjson_digits(p, end);
	if (q == p || (*p == '0' && q > p + 1))
		return NULL;
	p = q;
	if (p < end && *p == '.') {
		q = pyjson_digits(p + 1, end);
		if (q == p + 1)
			return NULL;
		p = q;
	}
	if (p < end && (*p | 32) == 'e') {
		p++;
		if (p < end && (*p == '+' || *p == '-'))
			p++;
		q = pyjson_digits(p, end);
		if (q == p)
			return NULL;
		p = q;
	}
	return p;
}

struct pyjson_word {
	const char *text;
	enum pyjson_kind kind;
	bool boolean;
};

static const struct pyjson_word words[] = {
	{ "null", PYJSON_NULL, false },
	{ "true", PYJSON_BOOL, true },
	{ "false", PYJSON_BOOL, false },
	{ "NaN", PYJSON_NUMBER, false },
	{ "Infinity", PYJSON_NUMBER, false },
	{ "-Infinity", PYJSON_NUMBER, false },
};

static int pyjson_read_scalar(struct pyjson_reader *r, struct pyjson *v)
{
	const char *end;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i].text);

		if ((size_t)(r->end - r->at) < n || memcmp(r->at, words[i].text, n) != 0)
			continue;
		v->kind = words[i].kind;
		v->boolean = words[i].boolean;
		v->text = words[i].text;
		v->len = n;
		r->at += n;
		return 0;
	}
	end = pyjson_number_end(r->at, r->end);
	if (!end)
		return pyjson_fail(r, "expected a JSON value");
	v->kind = PYJSON_NUMBER;
	v->len = (size_t)(end - r->at);
	v->text = arena_strndup(r->arena, r->at, v->len);
	r->at = end;
	return 0;
}

/* --- values ----------------------------------------------------------------------------------- */

static int pyjson_read_value(struct pyjson_reader *r, struct pyjson *v);

static int pyjson_read_key(struct pyjson_reader *r, struct pyjson *member)
{
	int n = pyjson_read_string(r, &member->key, &member->key_len);

	if (n < 0)
		return n;
	pyjson_skip_space(r);
	if (r->at >= r->end || *r->at != ':')
		return pyjson_fail(r, "expected ':' after a member's name");
	r->at++;
	pyjson_skip_space(r);
	return 0;
}

/* Reads the members of a JSON array or object up to the closing bracket `close`. */
static int pyjson_read_members(struct pyjson_reader *r, struct pyjson *v, char close)
{
	const struct pyjson **tail = &v->first;

	r->at++;
	pyjson_skip_space(r);
	if (r->at < r->end && *r->at == close) {
		r->at++;
		return 0;
	}
	for (;;) {
		struct pyjson *member = arena_alloc(r->arena, sizeof(*member));
		int n;

		if (close == '}') {
			n = pyjson_read_key(r, member);
			if (n < 0)
				return n;
		}
		n = pyjson_read_value(r, member);
		if (n < 0)
			return n;
		*tail = member;
		tail = &member->next;
		v->n++;
		pyjson_skip_space(r);
		if (r->at >= r->end || (*r->at != ',' && *r->at != close))
			return pyjson_fail(r,
					close == '}' ? "expected ',' or '}'"
						     : "expected ',' or ']'");
		if (*r->at++ == close)
			return 0;
		pyjson_skip_space(r);
	}
}

static int pyjson_read_value(struct pyjson_reader *r, struct pyjson *v)
{
	int n;

	if (++r->values > PYJSON_VALUES_MAX)
		return pyjson_fail(r, "too many values");
	v->line = r->line;
	v->column = pyjson_column_of(r, r->at);
	if (r->at >= r->end)
		return pyjson_fail(r, "");
	if (*r->at == '"') {
		v->kind = PYJSON_STRING;
		return pyjson_read_string(r, &v->text, &v->len);
	}
	if (*r->at != '{' && *r->at != '[')
		return pyjson_read_scalar(r, v);
	if (++r->depth > PYJSON_DEPTH_MAX)
		return pyjson_fail(r, "nested too deep");
	v->kind = *r->at == '{' ? PYJSON_OBJECT : PYJSON_ARRAY;
	n = pyjson_read_members(r, v, *r->at == '{' ? '}' : ']');
	r->depth--;
	return n;
}

static int pyjson_check_utf8(struct pyjson_reader *r)
{
	const char *start = r->at;
	ssize_t bad = str_utf8_invalid(start, (size_t)(r->end - start));

	if (bad < 0)
		return 0;
	for (r->at = start; r->at < start + bad; r->at++) {
		if (*r->at == '\n') {
			r->line++;
			r->line_start = r->at + 1;
		}
	}
	return pyjson_fail(r, "not UTF-8");
}

int pyjson_read(struct arena *a, const struct pyjson_source *source, const struct pyjson **out,
		struct fh_error *err)
{
	struct pyjson_reader r = {
		.arena = a, .name = source->name, .at = source->data, .err = err
	};
	struct pyjson *v = arena_alloc(a, sizeof(*v));
	int n;

	r.end = source->data + source->n;
	r.line_start = source->data;
	r.line = source->first_line ? source->first_line : 1;
	r.mark = r.line_start;
	r.mark_column = 1;
	n = pyjson_check_utf8(&r);
	if (n < 0)
		return n;
	pyjson_skip_space(&r);
	n = pyjson_read_value(&r, v);
	if (n < 0)
		return n;
	pyjson_skip_space(&r);
	if (r.at < r.end)
		return pyjson_fail(&r, "something follows the value");
	*out = v;
	return 0;
}

/* --- functions that look into a parsed value -------------------------------------------------- */

int pyjson_complain(const char *name, const struct pyjson *at, struct fh_error *err,
		const char *format, ...)
{
	va_list ap;
	int n;

	if (!err)
		return -EINVAL;
	n = snprintf(err->message, sizeof(err->message), "%s:%u:%u: ", name, at->line, at->column);
	if (n < 0 || (size_t)n >= sizeof(err->message))
		n = sizeof(err->message) - 1;
	va_start(ap, format);
	vsnprintf(err->message + n, sizeof(err->message) - (size_t)n, format, ap);
	va_end(ap);
	err->code = -EINVAL;
	err->kind = FH_ERROR_INPUT;
	return -EINVAL;
}

const struct pyjson *pyjson_get(const struct pyjson *object, const char *key)
{
	const struct pyjson *found = NULL;
	size_t n = strlen(key);

	if (!object || object->kind != PYJSON_OBJECT)
		return NULL;
	for (const struct pyjson *m = object->first; m; m = m->next) {
		if (m->key_len == n && memcmp(m->key, key, n) == 0)
			found = m;
	}
	return found;
}

const char *pyjson_string(const struct pyjson *v)
{
	if (!v || v->kind != PYJSON_STRING || strlen(v->text) != v->len)
		return NULL;
	return v->text;
}

const char *pyjson_text(const struct pyjson *v)
{
	const char *text = pyjson_string(v);

	return text ? text : "";
}

bool pyjson_double(const struct pyjson *v, double *out)
{
	return v && v->kind == PYJSON_NUMBER && str_to_double(v->text, out);
}

bool pyjson_true(const struct pyjson *v)
{
	return v && v->kind == PYJSON_BOOL && v->boolean;
}

bool pyjson_i64(const struct pyjson *v, int64_t *out)
{
	return v && v->kind == PYJSON_NUMBER && str_to_i64(v->text, out);
}

const struct pyjson *pyjson_make_text(struct arena *a, const char *text)
{
	struct pyjson *v = arena_alloc(a, sizeof(*v));

	if (!text)
		return v;
	v->kind = PYJSON_STRING;
	v->text = arena_strdup(a, text);
	v->len = strlen(text);
	return v;
}
