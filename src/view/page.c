/* SPDX-License-Identifier: Apache-2.0 */
#include "view/page.h"

#include "base/mem.h"
#include "base/scope.h"
#include "view/admit.h"
#include "view/page_files.h"
#include "view/running_step.h"
#include "view/page_edits.h"
#include "view/page_messages.h"
#include "view/page_order.h"
#include "view/page_report.h"
#include "view/page_runs.h"
#include "view/page_search.h"

#include <math.h>
#include <string.h>

#define PIECE_BYTES (256L << 10) /* most bytes of a piece of a long text */
#define STEPS_MOST 50

/* --- a run ------------------------------------------------------------------------------------ */

/* Puts the replies that were rejected before a step. */
static void page_put_faults(struct page *p, size_t step)
{
	const struct record *r = p->run->record;

	pyjson_put_array(&p->json, "faults");
	for (size_t i = 0; i < r->n_faults; i++)
		if (r->faults[i].step == step)
			page_put_fault(p, &r->faults[i]);
	pyjson_end_array(&p->json);
}

/* Puts what a run without an end is at: "going", and the step that is taken as "live". Replies that
 * were rejected before this step are "faults". */
static void page_put_going(struct page *p)
{
	static const char *const texts[] = { "thought", "action", "output" };
	const struct record *r = p->run->record;
	struct pyjson_writer *w = &p->json;
	auto_arena struct arena arena = ARENA_INIT;
	struct running_step g;

	if (!r->events || r->whole)
		return;
	g = running_step_look(&arena, r->path, r->is_written, (int64_t)r->n_steps);
	pyjson_put_text(w, "going", g.sentence);
	pyjson_put_bool(w, "is_written", r->is_written);
	page_put_faults(p, r->n_steps);
	if (!g.live)
		return;
	pyjson_put_object(w, "live");
	pyjson_put_text(w, "phase", pyjson_text(pyjson_get(g.live, "phase")));
	if (g.seconds >= 0)
		pyjson_put_i64(w, "seconds", g.seconds);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		page_put_cut(p, texts[i], run_text_of(g.live, texts[i]));
	pyjson_end_object(w);
}

/* Puts why not all of the record can be read, if the index knows. */
static void page_put_damage(struct page *p)
{
	const struct run_row *row = p->run->row;
	const char *why = row && row->damage ? row->damage : row ? row->problem : NULL;

	if (why)
		page_put_bytes(&p->json, "damage", why, strlen(why));
}

/* Writes a step of the timeline as an array, because there are thousands. */
static char *page_write_row(const struct record_step *s)
{
	auto_buf struct buf text = BUF_INIT(PAGE_ANSWER_BYTES_MAX);
	struct pyjson_writer w = PYJSON_WRITER_INIT(&text, PYJSON_LINE);

	pyjson_put_array(&w, NULL);
	pyjson_put_text(&w, NULL, s->head);
	pyjson_put_i64(&w, NULL, s->marks);
	page_put_real(&w, NULL, s->duration_s);
	page_put_real(&w, NULL, s->score);
	pyjson_put_i64(&w, NULL, s->exit_code);
	pyjson_put_i64(&w, NULL, s->spent.sent);
	pyjson_put_i64(&w, NULL, s->spent.received);
	page_put_real(&w, NULL, s->spent.cost);
	pyjson_end_array(&w);
	return xstrdup(buf_str(&text));
}

/* Puts steps of the timeline. All viewers share the rows, which take most of an answer's time. */
static void page_put_rows(struct page *p, size_t from)
{
	const struct record *r = p->run->record;

	pyjson_put_array(&p->json, "steps");
	for (size_t i = from; i < r->n_steps; i++) {
		if (!r->steps[i].row)
			r->steps[i].row = page_write_row(&r->steps[i]);
		pyjson_put_written(&p->json, NULL, r->steps[i].row);
	}
	pyjson_end_array(&p->json);
}

/* Puts a run that has only its results left. All that is known of it is in its row. */
static void page_results(struct page *p)
{
	static const struct run_row none = RUN_ROW_INIT;
	const struct run_row *row = p->run->row ? p->run->row : &none;
	struct pyjson_writer *w = &p->json;

	pyjson_put_object(w, NULL);
	pyjson_put_text(w, "id", p->run->id);
	page_put_bytes(w, "name", p->run->name, strlen(p->run->name));
	pyjson_put_text(w, "task", row->task);
	pyjson_put_text(w, "model", row->model);
	pyjson_put_text(w, "agent", row->agent);
	page_put_damage(p);
	pyjson_put_text(w, "metric", row->metric);
	pyjson_put_bool(w, "minimize", !row->maximize);
	page_put_real(w, "baseline", row->baseline);
	pyjson_put_object(w, "results");
	page_put_real(w, "best", row->best);
	page_put_real(w, "last", row->last);
	pyjson_end_object(w);
	pyjson_put_bool(w, "whole", true);
	pyjson_put_i64(w, "bytes", p->run->size);
	pyjson_put_array(w, "steps");
	pyjson_end_array(w);
	pyjson_end_object(w);
}

static void page_run(struct page *p)
{
	struct pyjson_writer *w = &p->json;
	const struct record *r;
	int64_t from = 0;

	if (!page_find_run(p))
		return;
	if (library_has_only_results(p->run)) {
		page_results(p);
		return;
	}
	r = p->run->record;
	page_number(p, "from=", &from);
	pyjson_put_object(w, NULL);
	pyjson_put_text(w, "id", p->run->id);
	page_put_bytes(w, "name", p->run->name, strlen(p->run->name));
	pyjson_put_text(w, "task", r->task);
	pyjson_put_text(w, "variant", r->variant);
	pyjson_put_text(w, "model", r->model);
	pyjson_put_text(w, "agent", r->agent);
	pyjson_put_text(w, "exit_status", r->exit_status);
	pyjson_put_text(w, "error", r->error);
	page_put_damage(p);
	pyjson_put_text(w, "metric", r->metric);
	pyjson_put_text(w, "version", r->version);
	pyjson_put_bool(w, "minimize", r->minimize);
	page_put_real(w, "baseline", r->baseline);
	pyjson_put_i64(w, "max_steps", r->max_steps);
	pyjson_put_bool(w, "events", r->events);
	pyjson_put_bool(w, "whole", r->whole);
	pyjson_put_i64(w, "bytes", r->size);
	pyjson_put_i64(w, "messages", (int64_t)r->n_messages);
	pyjson_put_i64(w, "sent", r->spent.sent);
	pyjson_put_i64(w, "received", r->spent.received);
	page_put_real(w, "cost", r->spent.cost);
	pyjson_put_i64(w, "epoch", r->epoch);
	pyjson_put_i64(w, "n", (int64_t)r->n_steps);
	if (r->assignment && from == 0)
		page_put_cut(p, "assignment",
				(struct run_text){ r->assignment, strlen(r->assignment) });
	page_put_going(p);
	page_put_control(p);
	page_put_rows(p, (size_t)from);
	pyjson_end_object(w);
}

static void page_put_step(struct page *p, size_t i, struct buf *text)
{
	const struct record_step *s = &p->run->record->steps[i];
	struct pyjson_writer *w = &p->json;
	struct arena arena = ARENA_INIT;
	const struct pyjson *v = page_read(p, &arena, s->begin, s->end, text), *info, *state;

	pyjson_put_object(w, NULL);
	pyjson_put_i64(w, "step", (int64_t)i + 1);
	page_put_faults(p, i);
	if (v) {
		page_put_cut(p, "thought", run_text_of(v, "thought"));
		page_put_cut(p, "response",
				run_text_of(v,
						pyjson_get(v, "response") ? "response"
									  : "completion"));
		page_put_cut(p, "action", run_text_of(v, "action"));
		page_put_cut(p, "observation", run_text_of(v, "observation"));
		info = pyjson_get(v, "info");
		state = pyjson_get(v, "state");
		if (info)
			pyjson_put_value(w, "info", info);
		if (pyjson_string(state))
			page_put_cut(p, "state", run_text_of(v, "state"));
	} else {
		page_put_cut(p, "broken", (struct run_text){ buf_str(text), text->len });
	}
	pyjson_end_object(w);
	arena_release(&arena);
}

static void page_steps(struct page *p)
{
	auto_buf struct buf text = BUF_INIT(RECORD_PART_BYTES_MAX);
	int64_t from = 1, n = 1;
	size_t end;

	if (!page_find_run(p))
		return;
	page_number(p, "from=", &from);
	page_number(p, "n=", &n);
	end = p->run->record->n_steps;
	if (from < 1 || (size_t)from > end) {
		page_refuse(p, 404, "there is no such step");
		return;
	}
	n = n < STEPS_MOST ? n : STEPS_MOST;
	if ((size_t)(from - 1 + n) < end)
		end = (size_t)(from - 1 + n);
	pyjson_put_object(&p->json, NULL);
	pyjson_put_array(&p->json, "steps");
	for (size_t i = (size_t)from - 1; i < end; i++)
		page_put_step(p, i, &text);
	pyjson_end_array(&p->json);
	pyjson_end_object(&p->json);
}

/* Finds the step that a request names. NULL: the request is refused. */
static const struct record_step *page_find_step(struct page *p)
{
	int64_t step;

	if (!page_find_run(p))
		return NULL;
	if (page_number(p, "step=", &step) && step >= 1 && (size_t)step <= p->run->record->n_steps)
		return &p->run->record->steps[step - 1];
	page_refuse(p, 404, "there is no such step");
	return NULL;
}

/* Gives a piece of a long text. */
static void page_text(struct page *p)
{
	auto_buf struct buf text = BUF_INIT(RECORD_PART_BYTES_MAX);
	const struct record_step *s = page_find_step(p);
	struct arena arena = ARENA_INIT;
	char value[PAGE_VALUE_BYTES];
	const char *part = page_argument(p, "part=", value);
	struct run_text t;
	int64_t at = 0;
	size_t n;

	if (!s)
		return;
	page_number(p, "at=", &at);
	t = run_text_of(page_read(p, &arena, s->begin, s->end, &text), part ? part : "");
	at = (size_t)at < t.n ? at : (int64_t)t.n;
	n = t.n - (size_t)at;
	if (n > PIECE_BYTES)
		n = str_utf8_cut(t.text + at, n, PIECE_BYTES);
	pyjson_put_object(&p->json, NULL);
	page_put_bytes(&p->json, "text", t.text + at, n);
	if ((size_t)at + n < t.n)
		pyjson_put_i64(&p->json, "next", at + (int64_t)n);
	pyjson_put_i64(&p->json, "bytes", (int64_t)t.n);
	pyjson_end_object(&p->json);
	arena_release(&arena);
}

/* Gives a step as the record has it. */
static void page_raw(struct page *p)
{
	const struct record_step *s = page_find_step(p);

	if (!s)
		return;
	p->answer->mime = "text/plain; charset=utf-8";
	if (record_read(p->run->record, s->begin, s->end, &p->answer->text, NULL) < 0)
		page_refuse(p, 404, "the step can't be read any more");
}

/* --- requests --------------------------------------------------------------------------------- */

static const struct {
	const char *path;
	void (*answer)(struct page *p);
} page_calls[] = {
	{ "api/live", page_live },
	{ "api/runs", page_runs },
	{ "api/points", page_points },
	{ "api/report", page_report },
	{ "api/search", page_search },
	{ "api/run", page_run },
	{ "api/steps", page_steps },
	{ "api/text", page_text },
	{ "api/raw", page_raw },
	{ "api/messages", page_messages },
	{ "api/files", page_edits },
	{ "api/file", page_edited_file },
};

void page_make(struct library *l, const struct page_request *q, struct page_answer *out)
{
	struct page page = { .library = l,
		.request = q,
		.answer = out,
		.json = PYJSON_WRITER_INIT(&out->text, PYJSON_LINE) };

	out->status = 200;
	out->mime = PAGE_JSON;
	for (const struct page_file *f = page_files; f->path; f++) {
		if (!str_eq(f->path, q->path))
			continue;
		out->mime = f->mime;
		buf_add_str(&out->text, f->text);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(page_calls); i++) {
		if (!str_eq(page_calls[i].path, q->path))
			continue;
		page_calls[i].answer(&page);
		if (out->text.truncated)
			page_refuse(&page, 500, "the answer is too long");
		return;
	}
	/* A browser shows this text. */
	out->status = 404;
	out->mime = "text/plain; charset=utf-8";
	buf_add_str(&out->text, admit_reason(404));
}
