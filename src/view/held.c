/* SPDX-License-Identifier: Apache-2.0 */
#include "view/held.h"

#include "base/fd.h"
#include "base/scope.h"
#include "src/view/page-held.h"
#include "view/page.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Most bytes of all records whose steps are in the page. */
#define RECORDS_BYTES_MAX (100L << 20)
#define HELD_BYTES_MAX (400L << 20)
#define PAUSE_MS 5
/* The page asks for this many steps and messages at a time. */
#define AT_A_TIME 20

/* A page that is being written. The answer to each request is a <script> element of a type that
 * browsers don't run. */
struct held {
	struct library library;
	struct buf page;
	struct arena arena;
	size_t n;
	struct held_run {
		const char *id, *task; /* task: NULL if unknown */
	} * runs;
};

/* --- answers ---------------------------------------------------------------------------------- */

/* Waits for the end of an answer that a thread makes. */
static void held_await(struct page_answer *answer)
{
	struct stream *s = answer->stream;

	while (s->kind->more(s, &answer->text))
		poll(NULL, 0, PAUSE_MS);
	while (!s->kind->close(s))
		poll(NULL, 0, PAUSE_MS);
}

/* Adds an answer. No text in it can end the element, because JSON may escape "<". */
static void held_add(struct held *h, const char *name, const struct buf *text)
{
	const char *at = text->data, *end = at + text->len;

	buf_printf(&h->page, "<script type=\"application/json\" data-answers=\"%s\">", name);
	while (at < end && !h->page.truncated) {
		const char *sign = memchr(at, '<', (size_t)(end - at));
		const char *to = sign ? sign : end;

		buf_add(&h->page, at, (size_t)(to - at));
		if (sign)
			buf_add_str(&h->page, "\\u003c");
		at = sign ? sign + 1 : end;
	}
	buf_add_str(&h->page, "</script>\n");
}

/* Asks the viewer for a path, as the page does, and adds the answer. Leaves out a refusal. */
__attribute__((format(printf, 3, 4))) static void held_ask(
		struct held *h, const char *path, const char *format, ...)
{
	struct page_answer answer = { 0 };
	char query[PAGE_VALUE_BYTES], name[PAGE_VALUE_BYTES + 32];
	const struct page_request q = { .path = path, .query = query, .whole = true };
	va_list args;

	va_start(args, format);
	vsnprintf(query, sizeof(query), format, args);
	va_end(args);
	snprintf(name, sizeof(name), "%s?%s", path, query);
	buf_init(&answer.text, PAGE_ANSWER_BYTES_MAX);
	page_make(&h->library, &q, &answer);
	if (answer.stream)
		held_await(&answer);
	if (answer.status == 200 && !answer.text.truncated)
		held_add(h, name, &answer.text);
	buf_release(&answer.text);
}

/* --- runs ------------------------------------------------------------------------------------- */

static void held_add_files(struct held *h, const char *id)
{
	const struct library_run *run;

	held_ask(h, "api/files", "run=%s", id);
	run = library_open(&h->library, id);
	for (size_t i = 0; run && run->rebuilt && i < run->rebuilt->n; i++)
		for (size_t k = 0; k < run->rebuilt->files[i].n && !h->page.truncated; k++)
			held_ask(h, "api/file", "run=%s&file=%zu&version=%zu", id, i, k);
}

static void held_add_run(struct held *h, const char *id)
{
	const struct library_run *run = library_open(&h->library, id);
	size_t n_steps, n_messages;

	if (!run)
		return;
	n_steps = run->record->n_steps;
	n_messages = run->record->n_messages + run->record->n_faults;
	held_ask(h, "api/run", "run=%s", id);
	for (size_t i = 0; i < n_steps && !h->page.truncated; i += AT_A_TIME)
		held_ask(h, "api/steps", "run=%s&from=%zu&n=%d", id, i + 1, AT_A_TIME);
	for (size_t i = 0; (i == 0 || i < n_messages) && !h->page.truncated; i += AT_A_TIME)
		held_ask(h, "api/messages", "run=%s&from=%zu", id, i);
	held_add_files(h, id);
}

/* Notes the runs. Returns the size of their records. */
static int64_t held_list(struct held *h)
{
	int64_t bytes = 0;

	library_list(&h->library);
	h->n = h->library.n;
	h->runs = arena_array(&h->arena, h->n, sizeof(*h->runs));
	for (size_t i = 0; i < h->n; i++) {
		const struct library_run *r = &h->library.runs[i];
		const char *task = r->row ? r->row->task : NULL;

		h->runs[i].id = arena_strdup(&h->arena, r->id);
		h->runs[i].task = task ? arena_strdup(&h->arena, task) : NULL;
		bytes += r->size;
	}
	return bytes;
}

/* True if no run before this one has its task. */
static bool held_is_first(const struct held *h, size_t run)
{
	const char *task = h->runs[run].task;

	for (size_t i = 0; task && i < run; i++)
		if (str_eq(h->runs[i].task, task))
			return false;
	return task;
}

/* --- the page --------------------------------------------------------------------------------- */

static void held_add_start(struct held *h, bool has_steps)
{
	auto_buf struct buf start = BUF_INIT(256);

	if (has_steps && h->n == 1)
		buf_printf(&start, "#/run/%s", h->runs[0].id);
	else if (has_steps && h->n == 2)
		buf_printf(&start, "#/compare/%s/%s", h->runs[0].id, h->runs[1].id);
	else
		buf_add_str(&start, "#/");
	held_add(h, "start", &start);
}

static void held_fill(struct held *h, bool has_steps)
{
	buf_add_str(&h->page, page_held_head);
	held_add_start(h, has_steps);
	held_ask(h, "api/runs", "%s", "");
	held_ask(h, "api/report", "%s", "");
	for (size_t i = 0; i < h->n && !h->page.truncated; i++)
		if (held_is_first(h, i))
			held_ask(h, "api/points", "run=%s", h->runs[i].id);
	for (size_t i = 0; has_steps && i < h->n && !h->page.truncated; i++)
		held_add_run(h, h->runs[i].id);
	buf_add_str(&h->page, page_held_tail);
}

static int held_save(
		struct held *h, const char *path, struct held_counts *out, struct fh_error *err)
{
	struct held_counts counts = { .has_steps = held_list(h) <= RECORDS_BYTES_MAX };
	int r;

	if (!h->n)
		return error_say(err, ENOENT, "there are no runs in '%s'",
				h->library.places->items[0]);
	held_fill(h, counts.has_steps);
	if (h->page.truncated)
		return error_say(err, EFBIG,
				"the page would have more than %ld MB: name fewer runs",
				HELD_BYTES_MAX >> 20);
	r = fd_write_out(path, h->page.data, h->page.len, 0644, err);
	if (r < 0)
		return r;
	counts.runs = h->n;
	counts.bytes = (int64_t)h->page.len;
	*out = counts;
	return 0;
}

int held_write(const struct texts *places, const char *path, struct held_counts *out,
		struct fh_error *err)
{
	struct held h = {
		.library = { .places = places, .arena = ARENA_INIT },
		.page = BUF_INIT(HELD_BYTES_MAX),
		.arena = ARENA_INIT,
	};
	int r = held_save(&h, path, out, err);

	buf_release(&h.page);
	arena_release(&h.arena);
	library_release(&h.library);
	return r;
}
