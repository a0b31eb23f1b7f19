/* SPDX-License-Identifier: Apache-2.0 */
#include "python/pyjson.h"

#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* --- strings ---------------------------------------------------------------------------------- */

static bool pyjson_continues(const unsigned char *p, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return false;
	}
	return true;
}

/* The character at p, lone surrogates too; its bytes, 0 if it is not valid. */
static size_t pyjson_decode(const unsigned char *p, size_t left, uint32_t *out)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	static const unsigned char mask[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	uint32_t c = p[0] & mask[n];

	if (!n || n > left || p[0] > 0xf4 || !pyjson_continues(p, n))
		return 0;
	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3f);
	if (c < least[n] || c > 0x10ffff)
		return 0;
	*out = c;
	return n;
}

static void pyjson_add_escape(struct buf *out, uint32_t c)
{
	static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	for (const char *p = letters; *p; p += 2) {
		if (c == (unsigned char)*p) {
			buf_add_char(out, '\\');
			buf_add_char(out, p[1]);
			return;
		}
	}
	if (c < 0x10000) {
		buf_printf(out, "\\u%04x", c);
		return;
	}
	c -= 0x10000;
	buf_printf(out, "\\u%04x\\u%04x", 0xd800 | c >> 10, 0xdc00 | (c & 0x3ff));
}

/* ASCII only, as Python writes it. Bytes that are no text show as \xNN, as in observations. */
void pyjson_add_ascii(struct buf *out, const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t begin = 0, at = 0;

	buf_add_char(out, '"');
	while (at < len) {
		uint32_t c;
		size_t n;

		if (p[at] >= ' ' && p[at] < 0x7f && p[at] != '"' && p[at] != '\\') {
			at++;
			continue;
		}
		buf_add(out, s + begin, at - begin);
		n = pyjson_decode(p + at, len - at, &c);
		if (n)
			pyjson_add_escape(out, c);
		else
			buf_printf(out, "\\\\x%02x", p[at]);
		at += n ? n : 1;
		begin = at;
	}
	buf_add(out, s + begin, len - begin);
	buf_add_char(out, '"');
}

static void pyjson_add_string(struct pyjson_writer *w, const char *s, size_t n)
{
	if (w->style == PYJSON_INDENTED)
		pyjson_add_ascii(w->out, s, n);
	else
		str_add_json(w->out, s, n);
}

/* --- values ----------------------------------------------------------------------------------- */

static void pyjson_new_line(struct pyjson_writer *w)
{
	if (w->style != PYJSON_INDENTED || !w->depth)
		return;
	buf_add_char(w->out, '\n');
	for (unsigned i = 0; i < w->depth; i++)
		buf_add_str(w->out, "  ");
}

/* What stands before a value: the comma after the last one, and its name. */
static void pyjson_begin_value(struct pyjson_writer *w, const char *key, size_t key_len)
{
	if (w->filled)
		buf_add_char(w->out, ',');
	w->filled = true;
	pyjson_new_line(w);
	if (!key)
		return;
	pyjson_add_string(w, key, key_len);
	buf_add_str(w->out, w->style == PYJSON_INDENTED ? ": " : ":");
}

static void pyjson_begin(struct pyjson_writer *w, const char *key)
{
	pyjson_begin_value(w, key, key ? strlen(key) : 0);
}

static void pyjson_open(struct pyjson_writer *w, char c)
{
	buf_add_char(w->out, c);
	w->depth++;
	w->filled = false;
}

static void pyjson_close(struct pyjson_writer *w, char c)
{
	bool filled = w->filled;

	w->depth--;
	if (filled && w->depth)
		pyjson_new_line(w);
	else if (filled && w->style == PYJSON_INDENTED)
		buf_add_char(w->out, '\n');
	buf_add_char(w->out, c);
	w->filled = true;
}

void pyjson_put_object(struct pyjson_writer *w, const char *key)
{
	pyjson_begin(w, key);
	pyjson_open(w, '{');
}

void pyjson_put_array(struct pyjson_writer *w, const char *key)
{
	pyjson_begin(w, key);
	pyjson_open(w, '[');
}

void pyjson_end_object(struct pyjson_writer *w)
{
	pyjson_close(w, '}');
}

void pyjson_end_array(struct pyjson_writer *w)
{
	pyjson_close(w, ']');
}

void pyjson_put_text(struct pyjson_writer *w, const char *key, const char *s)
{
	pyjson_begin(w, key);
	if (s)
		pyjson_add_string(w, s, strlen(s));
	else
		buf_add_str(w->out, "null");
}

void pyjson_put_i64(struct pyjson_writer *w, const char *key, int64_t v)
{
	pyjson_begin(w, key);
	buf_printf(w->out, "%" PRId64, v);
}

void pyjson_put_u64(struct pyjson_writer *w, const char *key, uint64_t v)
{
	pyjson_begin(w, key);
	buf_printf(w->out, "%" PRIu64, v);
}

void pyjson_put_double(struct pyjson_writer *w, const char *key, double v)
{
	pyjson_begin(w, key);
	if (isnan(v))
		buf_add_str(w->out, "NaN");
	else if (isinf(v))
		buf_add_str(w->out, v < 0 ? "-Infinity" : "Infinity");
	else
		str_add_double(w->out, v);
}

void pyjson_put_bool(struct pyjson_writer *w, const char *key, bool v)
{
	pyjson_begin(w, key);
	buf_add_str(w->out, v ? "true" : "false");
}

void pyjson_put_null(struct pyjson_writer *w, const char *key)
{
	pyjson_begin(w, key);
	buf_add_str(w->out, "null");
}

static void pyjson_put_members(struct pyjson_writer *w, const struct pyjson *v)
{
	pyjson_open(w, v->kind == PYJSON_OBJECT ? '{' : '[');
	for (const struct pyjson *m = v->first; m; m = m->next)
		pyjson_put_value(w, m->key, m);
	pyjson_close(w, v->kind == PYJSON_OBJECT ? '}' : ']');
}

void pyjson_put_value(struct pyjson_writer *w, const char *key, const struct pyjson *v)
{
	size_t key_len = key == v->key ? v->key_len : key ? strlen(key) : 0;

	pyjson_begin_value(w, key, key_len);
	switch (v->kind) {
	case PYJSON_NULL:
		buf_add_str(w->out, "null");
		break;
	case PYJSON_BOOL:
		buf_add_str(w->out, v->boolean ? "true" : "false");
		break;
	case PYJSON_NUMBER:
		buf_add(w->out, v->text, v->len);
		break;
	case PYJSON_STRING:
		pyjson_add_string(w, v->text, v->len);
		break;
	case PYJSON_ARRAY:
	case PYJSON_OBJECT:
		pyjson_put_members(w, v);
		break;
	}
}

void pyjson_put_written(struct pyjson_writer *w, const char *key, const char *json)
{
	pyjson_begin(w, key);
	buf_add_str(w->out, json);
}
