/* SPDX-License-Identifier: Apache-2.0 */
#include "view/page_messages.h"

#include "agent/config.h"
#include "agent/history.h"
#include "base/scope.h"
#include "trajectory/export.h"
#include "view/record.h"

#include <string.h>

#define MESSAGES_MOST 20
#define MESSAGES_BYTES_MAX (64L << 20) /* longer conversations are shown as they were recorded */

/* The messages before the reply of a step. */
struct conversation_view {
	struct arena arena;
	struct history history;
	size_t n;
	/* messages, and the rejected replies among them, in their order */
	struct conversation_item {
		const struct record_fault *fault; /* NULL: a message */
		size_t message;                   /* index of the message */
	} * items;
	size_t n_items;
	struct chat_message *shown; /* as the model saw them; NULL: unknown */
	const char *processor;      /* NULL: unknown */
	bool assumed;               /* the record does not name the processor */
};

static void page_messages_add(struct conversation_view *c, const struct pyjson *v)
{
	const struct pyjson *demo = pyjson_get(v, "is_demo");
	struct run_text t = run_text_of(v, "content");
	char *content = arena_strndup(&c->arena, t.n ? t.text : "", t.n);
	struct history_item item = {
		.message = { .role = history_role(pyjson_text(pyjson_get(v, "role"))),
				.content = content },
		.is_demo = demo && demo->boolean,
		.is_hint = pyjson_get(v, "is_hint") != NULL,
	};

	/* Strings end at a NUL. */
	for (char *at = content; (at = memchr(at, '\0', (size_t)(content + t.n - at)));)
		*at = ' ';
	history_add(&c->history, &item);
}

/* Reads messages up to the reply of a step. `step` 0 means all. */
static void page_messages_read(struct page *p, struct conversation_view *c, int64_t step)
{
	auto_buf struct buf text = BUF_INIT(RECORD_PART_BYTES_MAX);
	const struct record *r = p->run->record;
	int64_t replies = 0, bytes = 0;

	c->history.arena = &c->arena;
	for (c->n = 0; c->n < r->n_messages; c->n++) {
		const struct record_range *m = &r->messages[c->n];
		struct arena arena = ARENA_INIT;
		const struct pyjson *v = page_read(p, &arena, m->begin, m->end, &text);
		const struct pyjson *demo = pyjson_get(v, "is_demo");

		replies += str_eq(pyjson_text(pyjson_get(v, "role")), "assistant") &&
				!(demo && demo->boolean);
		bytes += m->end - m->begin;
		if (bytes < MESSAGES_BYTES_MAX && (!step || replies < step))
			page_messages_add(c, v);
		arena_release(&arena);
		if (step && replies >= step)
			return;
	}
}

/* Finds the history processor that the record names. If it names none, assumes that of the agent
 * configuration that the record names. */
static const struct history_processor *page_messages_processor(
		const struct record *r, struct conversation_view *c, struct history_args *out_args)
{
	const struct history_processor *found =
			r->history ? history_processor_find(r->history, NULL) : NULL;
	const struct agent_config_options options = { .spec = r->agent, .recorded = true };
	struct agent_config *config = NULL;

	out_args->n = (int)r->history_n;
	if (r->history || !r->agent || agent_config_is_path(r->agent) ||
			agent_config_load(&options, &config, NULL) < 0)
		return found;
	found = config->processor;
	*out_args = config->args;
	c->assumed = true;
	agent_config_free(config);
	return found;
}

static void page_messages_show(const struct record *r, struct conversation_view *c)
{
	struct history_args args = { 0 };
	const struct history_processor *processor = page_messages_processor(r, c, &args);

	if (!processor || c->history.n < c->n)
		return;
	c->processor = processor->name;
	c->shown = history_shown(&c->history, processor, &args, &c->arena);
}

/* Lists the messages and the rejected replies. The model saw a rejected reply only in its own
 * step, so those of earlier steps are left out. `step` 0 means all. */
static void page_messages_list(const struct record *r, struct conversation_view *c, int64_t step)
{
	size_t fault = 0;

	c->items = arena_array(&c->arena, c->n + r->n_faults + 1, sizeof(*c->items));
	for (size_t i = 0; i <= c->n; i++) {
		for (; fault < r->n_faults && (r->faults[fault].message <= i || i == c->n); fault++)
			if (!step || (int64_t)r->faults[fault].step + 1 == step)
				c->items[c->n_items++].fault = &r->faults[fault];
		if (i < c->n)
			c->items[c->n_items++].message = i;
	}
}

void page_put_fault(struct page *p, const struct record_fault *fault)
{
	auto_buf struct buf text = BUF_INIT(RECORD_PART_BYTES_MAX);
	auto_buf struct buf reply = BUF_INIT(RECORD_PART_BYTES_MAX);
	auto_arena struct arena arena = ARENA_INIT;
	const struct pyjson *v = page_read(p, &arena, fault->range.begin, fault->range.end, &text);

	export_add_reply(&reply, v);
	pyjson_put_object(&p->json, NULL);
	pyjson_put_text(&p->json, "rejected", export_is_blocked(v) ? "blocked" : "format");
	page_put_cut(p, "content", (struct run_text){ buf_str(&reply), reply.len });
	page_put_cut(p, "complaint", run_text_of(v, "complaint"));
	pyjson_end_object(&p->json);
}

static void page_messages_put(struct page *p, const struct conversation_view *c, size_t i)
{
	auto_buf struct buf text = BUF_INIT(RECORD_PART_BYTES_MAX);
	const struct record_range *m = &p->run->record->messages[i];
	struct pyjson_writer *w = &p->json;
	struct arena arena = ARENA_INIT;
	const struct pyjson *v = page_read(p, &arena, m->begin, m->end, &text);
	const struct pyjson *demo = pyjson_get(v, "is_demo");
	const char *shown = c->shown ? c->shown[i].content : NULL;

	pyjson_put_object(w, NULL);
	page_put_cut(p, "role", run_text_of(v, "role"));
	page_put_cut(p, "content", run_text_of(v, "content"));
	pyjson_put_bool(w, "is_demo", demo && demo->boolean);
	pyjson_put_bool(w, "is_hint", pyjson_get(v, "is_hint") != NULL);
	if (shown && shown != c->history.items[i].message.content)
		page_put_cut(p, "shown", (struct run_text){ shown, strlen(shown) });
	pyjson_end_object(w);
	arena_release(&arena);
}

void page_messages(struct page *p)
{
	struct conversation_view c = { .arena = ARENA_INIT };
	struct pyjson_writer *w = &p->json;
	int64_t from = 0, step = 0;

	if (!page_find_run(p))
		return;
	page_number(p, "from=", &from);
	page_number(p, "step=", &step);
	page_messages_read(p, &c, step);
	page_messages_show(p->run->record, &c);
	page_messages_list(p->run->record, &c, step);
	pyjson_put_object(w, NULL);
	pyjson_put_i64(w, "n", (int64_t)c.n_items);
	pyjson_put_text(w, "processor", c.processor);
	pyjson_put_bool(w, "assumed", c.assumed);
	pyjson_put_array(w, "messages");
	for (size_t i = (size_t)from; i < c.n_items && i < (size_t)from + MESSAGES_MOST; i++)
		if (c.items[i].fault)
			page_put_fault(p, c.items[i].fault);
		else
			page_messages_put(p, &c, c.items[i].message);
	pyjson_end_array(w);
	pyjson_end_object(w);
	arena_release(&c.arena);
}
