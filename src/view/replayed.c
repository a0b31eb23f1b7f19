/* SPDX-License-Identifier: Apache-2.0 */
#include "view/replayed.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "inside/places.h"
#include "run/replay_files.h"
#include "view/rebuild_inside.h"

#include <string.h>
#include <sys/stat.h>

static char *replayed_path(const struct record *r)
{
	auto_free char *folder = path_dirname(r->path);

	return path_join(folder, REPLAY_FILES);
}

int64_t replayed_time(const struct record *r)
{
	auto_free char *path = replayed_path(r);
	struct stat st;

	if (lstat(path, &st) < 0)
		return 0;
	return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

/* Drops the versions that were rebuilt for steps before `until`. */
static void replayed_drop(struct rebuilt_file *f, size_t until)
{
	size_t n = 0;

	while (n < f->n && f->versions[n].step < until)
		n++;
	if (!n)
		return;
	memmove(f->versions, f->versions + n, (f->n - n) * sizeof(*f->versions));
	f->n -= n;
}

static enum rebuilt_how replayed_how(const struct pyjson *line)
{
	const struct pyjson *gone = pyjson_get(line, "gone");

	if (pyjson_string(pyjson_get(line, "text")))
		return REBUILT_REPLAYED;
	return gone && gone->kind == PYJSON_BOOL && gone->boolean ? REBUILT_REMOVED : REBUILT_DATA;
}

/* Puts a version behind the others of the replay, and before those that were rebuilt. */
static void replayed_put(struct rebuilt_file *f, const struct rebuilt_version *v)
{
	size_t at = f->n_replayed;

	/* A replay notes steps in their order, but the file is untrusted. */
	if (at && f->versions[at - 1].step > v->step)
		return;
	f->versions = xgrow(f->versions, f->n, sizeof(*f->versions));
	memmove(f->versions + at + 1, f->versions + at, (f->n - at) * sizeof(*f->versions));
	f->versions[at] = *v;
	f->n_replayed++;
	f->n++;
}

static void replayed_take(struct rebuild *b, struct arena *scratch, const struct pyjson *line)
{
	const struct run_text path = run_text_of(line, "path"), text = run_text_of(line, "text");
	struct rebuilt_version v = { .how = replayed_how(line), .doubt = b->replayed };
	struct window w = rebuild_split(scratch, text.text, text.n);
	struct rebuilt_file *f;
	int64_t step;

	if (!path.n || !pyjson_i64(pyjson_get(line, "step"), &step) || step < 0 ||
			(size_t)step >= b->replayed || (size_t)step > b->steps)
		return;
	f = rebuild_need(b, arena_printf(scratch, "%s/%s", GUEST_WORKSPACE, path.text));
	v.step = (size_t)step;
	v.lines = w.lines;
	v.n = w.n;
	if (!f || !rebuild_keep(b, &v))
		return;
	if (!f->n_replayed)
		replayed_drop(f, b->replayed);
	replayed_put(f, &v);
}

/* Reads the first line. Returns the first step whose files the replay does not tell. 0: the notes
 * are of another state of the record. */
static size_t replayed_until(const struct pyjson *head, int64_t record_bytes)
{
	int64_t format, bytes, steps, differs;

	if (!pyjson_i64(pyjson_get(head, "format"), &format) || format != 1 ||
			!pyjson_i64(pyjson_get(head, "record_bytes"), &bytes) ||
			bytes != record_bytes || !pyjson_i64(pyjson_get(head, "steps"), &steps) ||
			steps < 0)
		return 0;
	if (pyjson_i64(pyjson_get(head, "differs"), &differs) && differs > 0 && differs <= steps)
		return (size_t)differs;
	return (size_t)steps + 1;
}

static void replayed_begin(struct rebuild *b, const struct pyjson *head, int64_t record_bytes)
{
	const struct pyjson *full = pyjson_get(head, "full");

	b->replayed = replayed_until(head, record_bytes);
	b->lacks_notes = b->replayed && full && full->kind == PYJSON_BOOL && full->boolean;
}

void replayed_read(struct rebuild *b, const char *text, size_t n, int64_t record_bytes)
{
	for (const char *at = text, *end = text + n, *newline; at < end; at = newline + 1) {
		struct pyjson_source source = { .name = REPLAY_FILES, .data = at };
		auto_arena struct arena arena = ARENA_INIT;
		const struct pyjson *line;

		newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			return;
		source.n = (size_t)(newline - at);
		if (pyjson_read(&arena, &source, &line, NULL) < 0)
			return;
		if (b->replayed)
			replayed_take(b, &arena, line);
		else
			replayed_begin(b, line, record_bytes);
		if (!b->replayed)
			return;
	}
}

void replayed_add(struct rebuild *b, const struct record *r)
{
	auto_free char *path = replayed_path(r);
	auto_buf struct buf text = BUF_INIT(REPLAY_FILES_BYTES_MAX + 4096);

	if (fd_read_plain(path, &text, NULL) >= 0)
		replayed_read(b, buf_str(&text), text.len, r->size);
}
