/* SPDX-License-Identifier: Apache-2.0 */
#include "view/page_order.h"

#include "base/mem.h"
#include "base/scope.h"
#include "model/typed.h"
#include "run/takeover.h"

#include <fumehood/env.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STEP_MOST 1000000000

void page_live(struct page *p)
{
	struct takeover *t = p->request->takeover;
	auto_free char *record = t ? takeover_first(t) : NULL;
	char id[LIBRARY_ID_BYTES];
	const char *found = NULL;

	if (record) {
		library_id(record, id);
		found = library_open(p->library, id) ? id : NULL;
	}
	pyjson_put_object(&p->json, NULL);
	pyjson_put_text(&p->json, "run", found);
	pyjson_end_object(&p->json);
}

static void order_put_desk(struct page *p, const struct desk_view *view)
{
	static const char *const states[] = {
		[DESK_BUSY] = "busy",
		[DESK_MODEL] = "model",
		[DESK_PERSON] = "person",
		[DESK_ENDED] = "ended",
	};
	struct pyjson_writer *w = &p->json;

	pyjson_put_object(w, "control");
	pyjson_put_text(w, "state", states[view->state]);
	pyjson_put_i64(w, "step", view->step);
	pyjson_put_bool(w, "is_human", view->options.is_human);
	pyjson_put_bool(w, "thinks", view->options.thinks);
	pyjson_put_bool(w, "takes_hints", view->options.takes_hints);
	pyjson_put_bool(w, "is_paused", view->is_paused);
	pyjson_end_object(w);
}

void page_put_control(struct page *p)
{
	struct takeover *t = p->request->takeover;
	struct desk_view view;

	if (t && takeover_look(t, p->run->path, &view))
		order_put_desk(p, &view);
}

/* --- orders ----------------------------------------------------------------------------------- */

static bool order_find_kind(const char *name, enum desk_order_kind *out)
{
	const char *known;

	for (enum desk_order_kind k = 0; (known = desk_order_name(k)); k++) {
		if (!str_eq(name, known))
			continue;
		*out = k;
		return true;
	}
	return false;
}

static bool order_is_text(const char *text)
{
	return text && !str_is_blank(text) && strlen(text) <= FH_ACTION_BYTES_MAX;
}

/* Reads an order. Returns NULL, or a sentence that refuses it. */
static const char *order_read(struct arena *a, const struct pyjson *v, struct desk_order *out)
{
	const char *text = pyjson_string(pyjson_get(v, "text"));
	const struct pyjson *thought = pyjson_get(v, "thought");

	if (!order_find_kind(pyjson_text(pyjson_get(v, "order")), &out->kind))
		return "There is no such order.";
	if (out->kind != DESK_HINT && out->kind != DESK_ACT)
		return NULL;
	if (!order_is_text(text) || (thought && !pyjson_string(thought)))
		return "The text is blank, too long, or has a NUL.";
	if (thought && strlen(pyjson_text(thought)) > FH_ACTION_BYTES_MAX)
		return "The thought is too long.";
	if (out->kind == DESK_ACT && typed_refusal(a, text))
		return typed_refusal(a, text);
	out->text = xstrdup(text);
	out->thought = out->kind == DESK_ACT && thought ? xstrdup(pyjson_text(thought)) : NULL;
	return NULL;
}

static void order_give(struct page *p, struct takeover *t, struct desk_order *order, int64_t step)
{
	struct desk_view view;
	struct fh_error err;
	int r;

	r = step < 0 || step > STEP_MOST ? error_say(&err, EINVAL, "There is no such step.")
					 : takeover_give(t, p->run->path, order, (int)step, &err);
	if (r < 0) {
		page_refuse(p, r == -ENOENT ? 404 : 409, err.message);
		return;
	}
	pyjson_put_object(&p->json, NULL);
	if (takeover_look(t, p->run->path, &view))
		order_put_desk(p, &view);
	pyjson_end_object(&p->json);
}

void page_order(struct library *l, struct takeover *t, const struct buf *body,
		struct page_answer *out)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct pyjson_source source = { .name = "body", .data = buf_str(body), .n = body->len };
	const struct page_request q = { .path = "", .query = "", .takeover = t };
	struct page p = { .library = l,
		.request = &q,
		.answer = out,
		.json = PYJSON_WRITER_INIT(&out->text, PYJSON_LINE) };
	struct desk_order order = { 0 };
	const struct pyjson *v = NULL;
	const char *why;
	int64_t step = 0;

	out->status = 200;
	out->mime = PAGE_JSON;
	why = pyjson_read(&arena, &source, &v, NULL) < 0 ? "The body is not JSON."
							 : order_read(&arena, v, &order);
	pyjson_i64(pyjson_get(v, "step"), &step);
	p.run = why ? NULL : library_open(l, pyjson_text(pyjson_get(v, "run")));
	if (why)
		page_refuse(&p, 400, why);
	else if (!p.run)
		page_refuse(&p, 404, "There is no such run.");
	else
		order_give(&p, t, &order, step);
	desk_order_release(&order);
}
