/* SPDX-License-Identifier: Apache-2.0 */
#include "view/steps_cache.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/sha256.h"
#include "base/str.h"
#include "view/record.h"
#include "view/record_parts.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The text has a line of JSON for the run, then one for each step, message and fault. Lines are
 * read one by one, so that reading takes little memory.
 */

/* Raise it when steps are read differently: older texts are ignored. */
#define STEPS_CACHE_FORMAT 4
#define STEPS_CACHE_TAIL_BYTES 4096
#define STEP_VALUES 10
#define PLACE_VALUES 2
#define FAULT_VALUES 4
#define MARKS_MAX 65535

_Static_assert(STEPS_CACHE_HASH_BYTES == SHA256_HEX_BYTES, "the hash is a SHA-256");

static const struct {
	const char *name;
	size_t offset; /* place of the string in struct record */
} steps_cache_texts[] = {
	{ "task", offsetof(struct record, task) },
	{ "variant", offsetof(struct record, variant) },
	{ "model", offsetof(struct record, model) },
	{ "agent", offsetof(struct record, agent) },
	{ "exit_status", offsetof(struct record, exit_status) },
	{ "error", offsetof(struct record, error) },
	{ "metric", offsetof(struct record, metric) },
	{ "version", offsetof(struct record, version) },
	{ "assignment", offsetof(struct record, assignment) },
	{ "history", offsetof(struct record, history) },
};

static const char *steps_cache_text_at(const struct record *r, size_t i)
{
	return *(char *const *)((const char *)r + steps_cache_texts[i].offset);
}

/* Offset to which the record counts as read: the end of its last whole event. */
static int64_t steps_cache_end(const struct record *r)
{
	return r->events ? r->splitter.begin : r->splitter.at;
}

/* Hashes the last bytes before an offset of the file. */
static bool steps_cache_hash(int fd, int64_t end, char hash[STEPS_CACHE_HASH_BYTES])
{
	char tail[STEPS_CACHE_TAIL_BYTES];
	size_t n = end < STEPS_CACHE_TAIL_BYTES ? (size_t)end : STEPS_CACHE_TAIL_BYTES;

	if (pread(fd, tail, n, end - (int64_t)n) != (ssize_t)n)
		return false;
	sha256_bytes(tail, n, hash);
	return true;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void steps_cache_put_real(struct pyjson_writer *w, double v)
{
	if (isfinite(v))
		pyjson_put_double(w, NULL, v);
	else
		pyjson_put_null(w, NULL);
}

static void steps_cache_put_spent(struct pyjson_writer *w, const struct record_spent *spent)
{
	steps_cache_put_real(w, spent->cost);
	pyjson_put_i64(w, NULL, spent->sent);
	pyjson_put_i64(w, NULL, spent->received);
}

static void steps_cache_put_run(struct pyjson_writer *w, const struct record *r, const char *hash)
{
	pyjson_put_object(w, NULL);
	pyjson_put_i64(w, "format", STEPS_CACHE_FORMAT);
	pyjson_put_i64(w, "device", (int64_t)r->device);
	pyjson_put_i64(w, "inode", (int64_t)r->inode);
	pyjson_put_i64(w, "end", steps_cache_end(r));
	pyjson_put_i64(w, "mtime_ns", r->mtime_ns);
	pyjson_put_text(w, "hash", hash);
	pyjson_put_bool(w, "events", r->events);
	pyjson_put_bool(w, "whole", r->whole);
	pyjson_put_bool(w, "minimize", r->minimize);
	pyjson_put_i64(w, "coming", r->coming);
	pyjson_put_i64(w, "history_n", r->history_n);
	pyjson_put_i64(w, "max_steps", r->max_steps);
	if (isfinite(r->baseline))
		pyjson_put_double(w, "baseline", r->baseline);
	pyjson_put_array(w, "spent");
	steps_cache_put_spent(w, &r->spent);
	pyjson_end_array(w);
	for (size_t i = 0; i < ARRAY_SIZE(steps_cache_texts); i++)
		if (steps_cache_text_at(r, i))
			pyjson_put_text(w, steps_cache_texts[i].name, steps_cache_text_at(r, i));
	pyjson_end_object(w);
	buf_add_char(w->out, '\n');
}

static void steps_cache_put_step(struct pyjson_writer *w, const struct record_step *s)
{
	pyjson_put_array(w, NULL);
	pyjson_put_i64(w, NULL, s->begin);
	pyjson_put_i64(w, NULL, s->end);
	steps_cache_put_real(w, s->duration_s);
	steps_cache_put_real(w, s->score);
	pyjson_put_i64(w, NULL, s->exit_code);
	pyjson_put_i64(w, NULL, s->marks);
	steps_cache_put_spent(w, &s->spent);
	pyjson_put_text(w, NULL, s->head);
	pyjson_end_array(w);
	buf_add_char(w->out, '\n');
}

void steps_cache_put(const struct record *r, const char *hash, struct buf *out)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(out, PYJSON_LINE);

	steps_cache_put_run(&w, r, hash);
	for (size_t i = 0; i < r->n_steps; i++) {
		w = (struct pyjson_writer)PYJSON_WRITER_INIT(out, PYJSON_LINE);
		steps_cache_put_step(&w, &r->steps[i]);
	}
	for (size_t i = 0; i < r->n_messages; i++)
		buf_printf(out, "[%lld,%lld]\n", (long long)r->messages[i].begin,
				(long long)r->messages[i].end);
	for (size_t i = 0; i < r->n_faults; i++)
		buf_printf(out, "[%lld,%lld,%zu,%zu]\n", (long long)r->faults[i].range.begin,
				(long long)r->faults[i].range.end, r->faults[i].step,
				r->faults[i].message);
}

bool steps_cache_write(const struct record *r, struct buf *out)
{
	auto_close int fd = fd_open_plain(r->path, NULL);
	char hash[STEPS_CACHE_HASH_BYTES];

	/* A .traj that is not whole may go on in another way. */
	if (fd < 0 || !r->opened || (!r->events && !r->whole) ||
			!steps_cache_hash(fd, steps_cache_end(r), hash))
		return false;
	steps_cache_put(r, hash, out);
	return !out->truncated;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Reads a number that may be null, which becomes NaN. */
static bool steps_cache_take_real(const struct pyjson **at, double *out)
{
	const struct pyjson *v = *at;

	*out = NAN;
	*at = v->next;
	return v->kind == PYJSON_NULL || pyjson_double(v, out);
}

static bool steps_cache_take_count(
		const struct pyjson **at, int64_t low, int64_t high, int64_t *out)
{
	const struct pyjson *v = *at;

	*at = v->next;
	return pyjson_i64(v, out) && *out >= low && *out <= high;
}

static bool steps_cache_take_range(
		const struct pyjson **at, int64_t size, int64_t *begin, int64_t *end)
{
	return steps_cache_take_count(at, 0, size, begin) &&
			steps_cache_take_count(at, *begin, size, end);
}

static bool steps_cache_take_spent(const struct pyjson **at, struct record_spent *out)
{
	return steps_cache_take_real(at, &out->cost) &&
			steps_cache_take_count(at, INT64_MIN, INT64_MAX, &out->sent) &&
			steps_cache_take_count(at, INT64_MIN, INT64_MAX, &out->received);
}

static bool steps_cache_take_step(struct record *r, const struct pyjson *at)
{
	struct record_step s = { 0 };
	int64_t exit_code, marks;

	if (!steps_cache_take_range(&at, r->size, &s.begin, &s.end) ||
			!steps_cache_take_real(&at, &s.duration_s) ||
			!steps_cache_take_real(&at, &s.score) ||
			!steps_cache_take_count(&at, INT_MIN, INT_MAX, &exit_code) ||
			!steps_cache_take_count(&at, 0, MARKS_MAX, &marks) ||
			!steps_cache_take_spent(&at, &s.spent) || at->kind != PYJSON_STRING)
		return false;
	s.exit_code = (int)exit_code;
	s.marks = (unsigned)marks;
	s.head = xstrdup(pyjson_text(at));
	r->steps = xgrow(r->steps, r->n_steps, sizeof(*r->steps));
	r->steps[r->n_steps++] = s;
	return true;
}

static bool steps_cache_take_fault(struct record *r, const struct pyjson *at)
{
	struct record_fault f;
	int64_t step, message;

	if (!steps_cache_take_range(&at, r->size, &f.range.begin, &f.range.end) ||
			!steps_cache_take_count(&at, 0, (int64_t)r->n_steps, &step) ||
			!steps_cache_take_count(&at, 0, (int64_t)r->n_messages, &message))
		return false;
	f.step = (size_t)step;
	f.message = (size_t)message;
	parts_add_fault(r, &f);
	return true;
}

static bool steps_cache_take_line(struct record *r, const struct pyjson *line)
{
	const struct pyjson *at = line->first;
	int64_t begin, end;

	if (line->kind != PYJSON_ARRAY)
		return false;
	if (line->n == STEP_VALUES)
		return steps_cache_take_step(r, at);
	if (line->n == FAULT_VALUES)
		return steps_cache_take_fault(r, at);
	if (line->n != PLACE_VALUES || !steps_cache_take_range(&at, r->size, &begin, &end))
		return false;
	parts_add_message(r, begin, end);
	return true;
}

static bool steps_cache_get_bool(const struct pyjson *run, const char *name)
{
	const struct pyjson *v = pyjson_get(run, name);

	return v && v->kind == PYJSON_BOOL && v->boolean;
}

static bool steps_cache_take_run(
		struct record *r, const struct pyjson *run, char hash[STEPS_CACHE_HASH_BYTES])
{
	const struct pyjson *spent = pyjson_get(run, "spent");
	const char *told = pyjson_text(pyjson_get(run, "hash"));
	int64_t format = 0, device = 0, inode = 0, coming;

	if (!pyjson_i64(pyjson_get(run, "format"), &format) || format != STEPS_CACHE_FORMAT ||
			!pyjson_i64(pyjson_get(run, "device"), &device) ||
			!pyjson_i64(pyjson_get(run, "inode"), &inode) ||
			!pyjson_i64(pyjson_get(run, "end"), &r->size) || r->size < 0 ||
			!pyjson_i64(pyjson_get(run, "mtime_ns"), &r->mtime_ns) ||
			strlen(told) != STEPS_CACHE_HASH_BYTES - 1 || !spent ||
			spent->kind != PYJSON_ARRAY || spent->n != 3 ||
			!steps_cache_take_spent(
					&(const struct pyjson *){ spent->first }, &r->spent) ||
			steps_cache_get_bool(run, "events") != r->events)
		return false;
	memcpy(hash, told, STEPS_CACHE_HASH_BYTES);
	r->device = (dev_t)device;
	r->inode = (ino_t)inode;
	r->whole = steps_cache_get_bool(run, "whole");
	r->minimize = steps_cache_get_bool(run, "minimize");
	if (pyjson_i64(pyjson_get(run, "coming"), &coming))
		r->coming = (unsigned)coming & MARKS_MAX;
	pyjson_i64(pyjson_get(run, "history_n"), &r->history_n);
	pyjson_i64(pyjson_get(run, "max_steps"), &r->max_steps);
	pyjson_double(pyjson_get(run, "baseline"), &r->baseline);
	for (size_t i = 0; i < ARRAY_SIZE(steps_cache_texts); i++) {
		const char *text = pyjson_string(pyjson_get(run, steps_cache_texts[i].name));

		if (text)
			*(char **)((char *)r + steps_cache_texts[i].offset) = xstrdup(text);
	}
	return true;
}

static bool steps_cache_take_lines(
		struct record *r, const char *text, size_t n, char hash[STEPS_CACHE_HASH_BYTES])
{
	const char *end = text + n, *stop;

	for (const char *line = text; line < end; line = stop + 1) {
		auto_arena struct arena arena = ARENA_INIT;
		struct pyjson_source source = { .name = "kept", .data = line };
		const struct pyjson *v;

		stop = memchr(line, '\n', (size_t)(end - line));
		if (!stop)
			return false;
		source.n = (size_t)(stop - line);
		if (pyjson_read(&arena, &source, &v, NULL) < 0)
			return false;
		if (!(line == text ? steps_cache_take_run(r, v, hash)
				   : steps_cache_take_line(r, v)))
			return false;
	}
	return n > 0;
}

bool steps_cache_parse(
		struct record *r, const char *text, size_t n, char hash[STEPS_CACHE_HASH_BYTES])
{
	struct record got = { .path = r->path, .events = r->events, .baseline = NAN };

	if (!steps_cache_take_lines(&got, text, n, hash)) {
		parts_release(&got);
		return false;
	}
	got.opened = true;
	splitter_init(&got.splitter, got.events);
	got.splitter.at = got.size;
	if (got.events)
		got.splitter.begin = got.size;
	*r = got;
	return true;
}

/* Tells whether the file is the one that was read, or has grown since. */
static bool steps_cache_fits(const struct record *r, const char *hash)
{
	auto_close int fd = fd_open_plain(r->path, NULL);
	char now[STEPS_CACHE_HASH_BYTES];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != r->device || st.st_ino != r->inode)
		return false;
	if (st.st_size == r->size ? record_mtime_ns(&st) != r->mtime_ns
				  : !r->events || st.st_size < r->size)
		return false;
	return steps_cache_hash(fd, r->size, now) && strcmp(now, hash) == 0;
}

bool steps_cache_read(struct record *r, const char *text, size_t n)
{
	struct record got = { .path = r->path, .events = r->events };
	char hash[STEPS_CACHE_HASH_BYTES];

	if (!steps_cache_parse(&got, text, n, hash))
		return false;
	if (!steps_cache_fits(&got, hash)) {
		parts_release(&got);
		return false;
	}
	/* Scores of a .traj may also lie in another file, which has changed perhaps. */
	parts_add_others(&got);
	*r = got;
	return true;
}
