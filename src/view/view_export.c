/* SPDX-License-Identifier: Apache-2.0 */
#include "view/view_export.h"

#include "base/fd.h"
#include "base/scope.h"
#include "src/view/page-export.h"
#include "view/page.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Most bytes of all records whose steps are in the page. */
#define RECORDS_BYTES_MAX (100L << 20)
#define VIEW_EXPORT_BYTES_MAX (400L << 20)
#define PAUSE_MS 5
/* The page asks for this many steps and messages at a time. */
#define AT_A_TIME 20

/* A page that is being written. The answer to each request is a <script> element of a type that
 * browsers don't run. */
struct view_export {
	struct library library;
	struct buf page;
	struct arena arena;
	size_t n;
	struct view_export_run {
		const char *id, *task; /* task: NULL if unknown */
	} * runs;
};

/* --- answers ---------------------------------------------------------------------------------- */

/* Waits for the end of an answer that a thread makes. */
static void view_export_await(struct page_answer *answer)
{
	struct stream *s = answer->stream;

	while (s->kind->more(s, &answer->text))
		poll(NULL, 0, PAUSE_MS);
	while (!s->kind->close(s))
		poll(NULL, 0, PAUSE_MS);
}

/* Adds an answer. No text in it can end the element, because JSON may escape "<". */
static void view_export_add(struct view_export *x, const char *name, const struct buf *text)
{
	const char *at = text->data, *end = at + text->len;

	buf_printf(&x->page, "<script type=\"application/json\" data-answers=\"%s\">", name);
	while (at < end && !x->page.truncated) {
		const char *sign = memchr(at, '<', (size_t)(end - at));
		const char *to = sign ? sign : end;

		buf_add(&x->page, at, (size_t)(to - at));
		if (sign)
			buf_add_str(&x->page, "\\u003c");
		at = sign ? sign + 1 : end;
	}
	buf_add_str(&x->page, "</script>\n");
}

/* Asks the viewer for a path, as the page does, and adds the answer. Leaves out a refusal. */
__attribute__((format(printf, 3, 4))) static void view_export_ask(
		struct view_export *x, const char *path, const char *format, ...)
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
	page_make(&x->library, &q, &answer);
	if (answer.stream)
		view_export_await(&answer);
	if (answer.status == 200 && !answer.text.truncated)
		view_export_add(x, name, &answer.text);
	buf_release(&answer.text);
}

/* --- runs ------------------------------------------------------------------------------------- */

static void view_export_add_files(struct view_export *x, const char *id)
{
	const struct library_run *run;

	view_export_ask(x, "api/files", "run=%s", id);
	run = library_open(&x->library, id);
	for (size_t i = 0; run && run->rebuilt && i < run->rebuilt->n; i++)
		for (size_t k = 0; k < run->rebuilt->files[i].n && !x->page.truncated; k++)
			view_export_ask(x, "api/file", "run=%s&file=%zu&version=%zu", id, i, k);
}

static void view_export_add_run(struct view_export *x, const char *id)
{
	const struct library_run *run = library_open(&x->library, id);
	size_t n_steps, n_messages;

	if (!run)
		return;
	n_steps = run->record->n_steps;
	n_messages = run->record->n_messages + run->record->n_faults;
	view_export_ask(x, "api/run", "run=%s", id);
	for (size_t i = 0; i < n_steps && !x->page.truncated; i += AT_A_TIME)
		view_export_ask(x, "api/steps", "run=%s&from=%zu&n=%d", id, i + 1, AT_A_TIME);
	for (size_t i = 0; (i == 0 || i < n_messages) && !x->page.truncated; i += AT_A_TIME)
		view_export_ask(x, "api/messages", "run=%s&from=%zu", id, i);
	view_export_add_files(x, id);
}

/* Notes the runs. Returns the size of their records. */
static int64_t view_export_list(struct view_export *x)
{
	int64_t bytes = 0;

	library_list(&x->library);
	x->n = x->library.n;
	x->runs = arena_array(&x->arena, x->n, sizeof(*x->runs));
	for (size_t i = 0; i < x->n; i++) {
		const struct library_run *r = &x->library.runs[i];
		const char *task = r->row ? r->row->task : NULL;

		x->runs[i].id = arena_strdup(&x->arena, r->id);
		x->runs[i].task = task ? arena_strdup(&x->arena, task) : NULL;
		bytes += r->size;
	}
	return bytes;
}

/* True if no run before this one has its task. */
static bool view_export_is_first(const struct view_export *x, size_t run)
{
	const char *task = x->runs[run].task;

	for (size_t i = 0; task && i < run; i++)
		if (str_eq(x->runs[i].task, task))
			return false;
	return task;
}

/* --- the page --------------------------------------------------------------------------------- */

static void view_export_add_start(struct view_export *x, bool has_steps)
{
	auto_buf struct buf start = BUF_INIT(256);

	if (has_steps && x->n == 1)
		buf_printf(&start, "#/run/%s", x->runs[0].id);
	else if (has_steps && x->n == 2)
		buf_printf(&start, "#/compare/%s/%s", x->runs[0].id, x->runs[1].id);
	else
		buf_add_str(&start, "#/");
	view_export_add(x, "start", &start);
}

static void view_export_fill(struct view_export *x, bool has_steps)
{
	buf_add_str(&x->page, page_export_head);
	view_export_add_start(x, has_steps);
	view_export_ask(x, "api/runs", "%s", "");
	view_export_ask(x, "api/report", "%s", "");
	for (size_t i = 0; i < x->n && !x->page.truncated; i++)
		if (view_export_is_first(x, i))
			view_export_ask(x, "api/points", "run=%s", x->runs[i].id);
	for (size_t i = 0; has_steps && i < x->n && !x->page.truncated; i++)
		view_export_add_run(x, x->runs[i].id);
	buf_add_str(&x->page, page_export_tail);
}

static int view_export_save(struct view_export *x, const char *path, struct view_export_counts *out,
		struct fh_error *err)
{
	struct view_export_counts counts = { .has_steps = view_export_list(x) <=
				RECORDS_BYTES_MAX };
	int r;

	if (!x->n)
		return error_say(err, ENOENT, "there are no runs in '%s'",
				x->library.places->items[0]);
	view_export_fill(x, counts.has_steps);
	if (x->page.truncated)
		return error_say(err, EFBIG,
				"the page would have more than %ld MB: name fewer runs",
				VIEW_EXPORT_BYTES_MAX >> 20);
	r = fd_write_out(path, x->page.data, x->page.len, 0644, err);
	if (r < 0)
		return r;
	counts.runs = x->n;
	counts.bytes = (int64_t)x->page.len;
	*out = counts;
	return 0;
}

int view_export_write(const struct texts *places, const char *path, struct view_export_counts *out,
		struct fh_error *err)
{
	struct view_export x = {
		.library = { .places = places, .stop_fd = -1, .arena = ARENA_INIT },
		.page = BUF_INIT(VIEW_EXPORT_BYTES_MAX),
		.arena = ARENA_INIT,
	};
	int r = view_export_save(&x, path, out, err);

	buf_release(&x.page);
	arena_release(&x.arena);
	library_release(&x.library);
	return r;
}
