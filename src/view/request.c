/* SPDX-License-Identifier: Apache-2.0 */
#include "view/request.h"

#include "base/json_text.h"
#include "base/query.h"
#include "view/record.h"

#include <math.h>
#include <string.h>

#define TEXT_BYTES (32L << 10) /* most bytes of a text in a list; the page asks for the rest */

const char *page_argument(const struct page *p, const char *name, char value[PAGE_VALUE_BYTES])
{
	return query_argument(p->request->query, name, value, PAGE_VALUE_BYTES) == 1 ? value : NULL;
}

bool page_number(const struct page *p, const char *name, int64_t *out)
{
	char value[PAGE_VALUE_BYTES];
	const char *text = page_argument(p, name, value);
	int64_t n;

	if (!text || !str_to_i64(text, &n) || n < 0)
		return false;
	*out = n;
	return true;
}

void page_refuse(struct page *p, int status, const char *why)
{
	buf_clear(&p->answer->text);
	p->answer->status = status;
	p->answer->mime = PAGE_JSON;
	buf_printf(&p->answer->text, "{\"error\":\"%s\"}", why);
}

bool page_find_run(struct page *p)
{
	char value[PAGE_VALUE_BYTES];
	const char *id = page_argument(p, "run=", value);

	p->run = id ? library_open(p->library, id) : NULL;
	if (!p->run)
		page_refuse(p, 404, "there is no such run");
	return p->run;
}

const struct pyjson *page_read(
		const struct page *p, struct arena *a, int64_t begin, int64_t end, struct buf *text)
{
	struct pyjson_source source = { .name = "record" };
	const struct pyjson *v;

	buf_clear(text);
	if (record_read(p->run->record, begin, end, text, NULL) < 0)
		return NULL;
	source.data = buf_str(text);
	source.n = text->len;
	return pyjson_read(a, &source, &v, NULL) < 0 ? NULL : v;
}

/* --- values ----------------------------------------------------------------------------------- */

void page_put_real(struct pyjson_writer *w, const char *key, double v)
{
	if (isfinite(v))
		pyjson_put_double(w, key, v);
	else
		pyjson_put_null(w, key);
}

void page_put_bytes(struct pyjson_writer *w, const char *key, const char *s, size_t n)
{
	auto_buf struct buf text = BUF_INIT(PAGE_ANSWER_BYTES_MAX);

	json_text_add(&text, s, n, JSON_TEXT_BYTES);
	pyjson_put_written(w, key, buf_str(&text));
}

void page_put_cut(struct page *p, const char *key, struct run_text t)
{
	struct pyjson_writer *w = &p->json;
	bool cut = t.n > TEXT_BYTES && !p->request->whole;
	size_t n = cut ? str_utf8_cut(t.text, t.n, TEXT_BYTES) : t.n;

	pyjson_put_object(w, key);
	page_put_bytes(w, "text", t.text, n);
	if (n < t.n)
		pyjson_put_i64(w, "next", (int64_t)n);
	pyjson_put_i64(w, "bytes", (int64_t)t.n);
	pyjson_end_object(w);
}
