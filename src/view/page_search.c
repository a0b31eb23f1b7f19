/* SPDX-License-Identifier: Apache-2.0 */
#include "view/page_search.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "trajectory/export.h"
#include "view/record.h"
#include "view/thread_stream.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES (256L << 10)
#define ITEMS_AT_ONCE 100

struct search_work {
	struct thread_stream work;
	struct arena arena;
	const char *text;
	/* part of the text that JSON never escapes; records without it are not parsed */
	const char *plain;
	size_t n;
	struct search_run {
		const char *id, *path;
	} * runs;
	/* ranges of one record, which are searched instead of runs; NULL: none. Rejected replies
	 * come before their step. */
	struct search_range {
		struct record_range range;
		size_t step; /* counts from 1 */
	} * ranges;
	const char *path;
};

/* A record that is being searched. */
struct search_record {
	const struct search_work *work;
	int fd;
	struct buf part;
	bool found;
};

/* Finds a text in bytes that a NUL follows. Case does not matter. */
static bool search_has(const char *s, size_t n, const char *text)
{
	const char *end = s + n;

	for (; s < end; s += strlen(s) + 1)
		if (strcasestr(s, text))
			return true;
	return false;
}

/* Takes the longest word of a text. */
static const char *search_plain(struct arena *a, const char *text)
{
	const char *best = text;
	size_t longest = 0;

	for (const char *at = text; *at;) {
		size_t n = 0;

		while (isalnum((unsigned char)at[n]))
			n++;
		if (n > longest) {
			best = at;
			longest = n;
		}
		at += n ? n : 1;
	}
	return arena_strndup(a, best, longest);
}

/* Reads a piece. Returns 0 at the end of the file and after an error. */
static size_t search_read(int fd, struct buf *out, size_t most, int64_t at)
{
	size_t room = buf_reserve(out, most);
	ssize_t n;

	do
		n = room ? pread(fd, out->data + out->len, room, at) : 0;
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return 0;
	out->len += (size_t)n;
	out->data[out->len] = '\0';
	return (size_t)n;
}

/* True if a rejected reply, or the complaint about it, has the text. */
static bool search_fault(const struct search_record *q, const struct pyjson *fault)
{
	auto_buf struct buf reply = BUF_INIT(RECORD_PART_BYTES_MAX);
	struct run_text complaint = run_text_of(fault, "complaint");

	export_add_reply(&reply, fault);
	return search_has(buf_str(&reply), reply.len, q->work->text) ||
			search_has(complaint.text, complaint.n, q->work->text);
}

/* True if one of a step's texts has the wanted one. */
static bool search_step(const struct search_record *q, const struct pyjson *step)
{
	/* The page shows the whole reply of a step that has no thought. */
	static const char *const parts[] = { "action", "observation", "thought", "completion",
		"response" };
	size_t n = ARRAY_SIZE(parts);

	if (run_text_of(step, "thought").n)
		n--;
	for (size_t i = 0; i < n; i++) {
		struct run_text t = run_text_of(step, parts[i]);

		if (search_has(t.text, t.n, q->work->text))
			return true;
	}
	return false;
}

/* True if a step or a rejected reply that lies in this range of the record has the text. */
static bool search_range(struct search_record *q, bool is_event, struct record_range range)
{
	struct pyjson_source source = { .name = "record" };
	auto_arena struct arena arena = ARENA_INIT;
	const struct pyjson *v;
	const char *kind;

	buf_clear(&q->part);
	while ((int64_t)q->part.len < range.end - range.begin)
		if (!search_read(q->fd, &q->part, (size_t)(range.end - range.begin) - q->part.len,
				    range.begin + (int64_t)q->part.len))
			return false;
	if (!search_has(q->part.data, q->part.len, q->work->plain))
		return false;
	source.data = q->part.data;
	source.n = q->part.len;
	if (pyjson_read(&arena, &source, &v, NULL) < 0)
		return false;
	kind = pyjson_text(pyjson_get(v, "event"));
	if (str_eq(kind, "fault"))
		return search_fault(q, v);
	return (!is_event || str_eq(kind, "step")) && search_step(q, v);
}

static void search_take(void *user, enum record_part kind, int64_t begin, int64_t end)
{
	struct search_record *q = user;

	if (!q->found && (kind == PART_EVENT || kind == PART_STEP))
		q->found = search_range(q, kind == PART_EVENT, (struct record_range){ begin, end });
}

/* True if the file has the plain word anywhere. Pieces overlap by its length. */
static bool search_file_has(int fd, const char *word)
{
	auto_buf struct buf piece = BUF_INIT(PIECE_BYTES);
	size_t n, overlap = strlen(word);
	int64_t at = 0;

	while ((n = search_read(fd, &piece, PIECE_BYTES - 1, at)) > overlap || (n && !at)) {
		if (search_has(piece.data, piece.len, word))
			return true;
		at += (int64_t)(n > overlap ? n - overlap : n);
		buf_clear(&piece);
	}
	return false;
}

static bool search_record(struct search_work *w, const char *path)
{
	auto_close int fd = fd_open_plain(path, NULL);
	auto_buf struct buf piece = BUF_INIT(PIECE_BYTES);
	struct search_record q = { .work = w, .fd = fd, .part = BUF_INIT(RECORD_PART_BYTES_MAX) };
	struct splitter splitter;

	if (fd < 0 || !search_file_has(fd, w->plain))
		return false;
	splitter_init(&splitter, str_ends(path, ".jsonl"));
	while (!q.found && !thread_stream_is_stopped(&w->work) &&
			search_read(fd, &piece, PIECE_BYTES - 1, splitter.at)) {
		splitter_bytes(&splitter, piece.data, piece.len, search_take, &q);
		buf_clear(&piece);
	}
	buf_release(&q.part);
	return q.found;
}

/* Searches a run, or a step, and tells it if it has the text. */
static void search_one(struct search_work *w, struct search_record *q, size_t i,
		struct pyjson_writer *found)
{
	if (!w->ranges) {
		if (search_record(w, w->runs[i].path))
			pyjson_put_text(found, NULL, w->runs[i].id);
		return;
	}
	if (search_range(q, false, w->ranges[i].range))
		pyjson_put_i64(found, NULL, (int64_t)w->ranges[i].step);
}

static void search_run(struct thread_stream *work)
{
	struct search_work *w = (struct search_work *)work;
	auto_close int fd = w->ranges ? fd_open_plain(w->path, NULL) : -1;
	struct search_record q = { .work = w, .fd = fd, .part = BUF_INIT(RECORD_PART_BYTES_MAX) };
	size_t i = 0;

	while (i < w->n && !thread_stream_is_stopped(work)) {
		auto_buf struct buf json = BUF_INIT(65536), count = BUF_INIT(32);
		struct pyjson_writer writer = PYJSON_WRITER_INIT(&json, PYJSON_LINE);

		pyjson_put_array(&writer, NULL);
		for (size_t k = 0; k < ITEMS_AT_ONCE && i < w->n && !thread_stream_is_stopped(work);
				k++)
			search_one(w, &q, i++, &writer);
		pyjson_end_array(&writer);
		thread_stream_tell(work, "found", &json);
		buf_printf(&count, "%zu", i);
		thread_stream_tell(work, "searched", &count);
	}
	buf_release(&q.part);
}

static void search_release(struct thread_stream *work)
{
	struct search_work *w = (struct search_work *)work;

	arena_release(&w->arena);
}

static void search_take_runs(struct search_work *w, struct library *l)
{
	library_list(l);
	w->n = l->n;
	w->runs = arena_array(&w->arena, l->n, sizeof(*w->runs));
	for (size_t i = 0; i < l->n; i++)
		w->runs[i] = (struct search_run){ arena_strdup(&w->arena, l->runs[i].id),
			arena_strdup(&w->arena, l->runs[i].path) };
}

static void search_take_steps(struct search_work *w, const struct record *r)
{
	size_t fault = 0;

	w->path = arena_strdup(&w->arena, r->path);
	w->ranges = arena_array(&w->arena, r->n_steps + r->n_faults, sizeof(*w->ranges));
	for (size_t i = 0; i < r->n_steps; i++) {
		for (; fault < r->n_faults && r->faults[fault].step <= i; fault++)
			w->ranges[w->n++] = (struct search_range){ r->faults[fault].range, i + 1 };
		w->ranges[w->n++] = (struct search_range){ { r->steps[i].begin, r->steps[i].end },
			i + 1 };
	}
}

/* Searches the steps of the run that the request names, or all runs. */
void page_search(struct page *p)
{
	char value[PAGE_VALUE_BYTES], id[PAGE_VALUE_BYTES];
	const char *text = page_argument(p, "text=", value);
	struct search_work *w;

	if (!text || !*text) {
		page_refuse(p, 400, "the text is missing or too long");
		return;
	}
	if (page_argument(p, "run=", id) && !page_find_run(p))
		return;
	w = xcalloc(1, sizeof(*w));
	w->arena = (struct arena)ARENA_INIT;
	w->text = arena_strdup(&w->arena, text);
	w->plain = search_plain(&w->arena, text);
	if (p->run)
		search_take_steps(w, p->run->record);
	else
		search_take_runs(w, p->library);
	if (thread_stream_start(&w->work, search_run, search_release, NULL) < 0) {
		search_release(&w->work);
		free(w);
		page_refuse(p, 503, "no thread starts");
		return;
	}
	p->answer->stream = &w->work.stream;
}
