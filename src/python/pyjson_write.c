/* SPDX-License-Identifier: Apache-2.0 */
#include "python/pyjson.h"

#include "base/json_text.h"
#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void pyjson_add_text(struct pyjson_writer *w, const char *s, size_t n)
{
	json_text_add(w->out, s, n,
			w->style == PYJSON_INDENTED ? JSON_TEXT_ASCII : JSON_TEXT_BYTES);
}

static void pyjson_new_line(struct pyjson_writer *w)
{
	if (w->style != PYJSON_INDENTED || !w->depth)
		return;
	buf_add_char(w->out, '\n');
	for (unsigned i = 0; i < w->depth; i++)
		buf_add_str(w->out, "  ");
}

/* Writes the text before a JSON value: a comma if another value precedes, and the key. */
static void pyjson_begin_value(struct pyjson_writer *w, const char *key, size_t key_len)
{
	if (w->filled)
		buf_add_char(w->out, ',');
	w->filled = true;
	pyjson_new_line(w);
	if (!key)
		return;
	pyjson_add_text(w, key, key_len);
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

void pyjson_put_written(struct pyjson_writer *w, const char *key, const char *json)
{
	pyjson_begin(w, key);
	buf_add_str(w->out, json);
}

void pyjson_put_text(struct pyjson_writer *w, const char *key, const char *s)
{
	pyjson_begin(w, key);
	if (s)
		pyjson_add_text(w, s, strlen(s));
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
	if (isfinite(v))
		str_add_double(w->out, v);
	else
		buf_add_str(w->out, isnan(v) ? "NaN" : v < 0 ? "-Infinity" : "Infinity");
}

void pyjson_put_bool(struct pyjson_writer *w, const char *key, bool v)
{
	pyjson_put_written(w, key, v ? "true" : "false");
}

void pyjson_put_null(struct pyjson_writer *w, const char *key)
{
	pyjson_put_written(w, key, "null");
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
		pyjson_add_text(w, v->text, v->len);
		break;
	case PYJSON_ARRAY:
	case PYJSON_OBJECT:
		pyjson_open(w, v->kind == PYJSON_OBJECT ? '{' : '[');
		for (const struct pyjson *m = v->first; m; m = m->next)
			pyjson_put_value(w, m->key, m);
		pyjson_close(w, v->kind == PYJSON_OBJECT ? '}' : ']');
		break;
	}
}
