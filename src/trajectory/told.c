/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/told.h"

#include "base/scope.h"

#include <string.h>

#define TOLD_BYTES_MAX 65536

/* Finds the last place where a text has a word. Returns what follows the word. */
static const char *told_find(const char *seen, size_t n, const char *word)
{
	const char *end = seen + n, *found = NULL, *at = seen;
	size_t length = strlen(word);

	while ((at = memmem(at, (size_t)(end - at), word, length))) {
		at += length;
		found = at;
	}
	return found;
}

/* Appends JSON's word for one of Python's with three letters. Returns how many of them are left. */
static int told_add_word(struct buf *out, const char *word)
{
	buf_add_str(out, word);
	return 2;
}

/* Appends a dict of numbers, as Python prints it, as JSON. */
static void told_add_json(struct buf *out, const char *at, const char *end)
{
	bool in_name = false;

	for (; at < end; at++) {
		in_name ^= *at == '\'' || *at == '"';
		if (*at == '\'')
			buf_add_char(out, '"');
		else if (!in_name && end - at >= 3 && memcmp(at, "nan", 3) == 0)
			at += told_add_word(out, "NaN");
		else if (!in_name && end - at >= 3 && memcmp(at, "inf", 3) == 0)
			at += told_add_word(out, "Infinity");
		else
			buf_add_char(out, *at);
	}
}

const struct pyjson *told_read(struct arena *a, const char *seen, size_t n, const char *word)
{
	auto_buf struct buf text = BUF_INIT(TOLD_BYTES_MAX);
	struct pyjson_source source = { .name = "" };
	const char *at = told_find(seen, n, word), *end;
	const struct pyjson *v;

	end = at ? memchr(at, '}', (size_t)(seen + n - at)) : NULL;
	if (!end)
		return NULL;
	told_add_json(&text, at, end + 1);
	source.data = buf_str(&text);
	source.n = text.len;
	return pyjson_read(a, &source, &v, NULL) < 0 || v->kind != PYJSON_OBJECT ? NULL : v;
}
