/* SPDX-License-Identifier: Apache-2.0 */
#include "view/rebuild_inside.h"

#include "base/mem.h"
#include "base/str.h"
#include "inside/places.h"

#include <stdlib.h>
#include <string.h>

#define REBUILD_BYTES_MAX (64UL << 20)
#define FILES_MAX 1000
#define PATH_BYTES_MAX 4096

struct rebuild *rebuild_new(unsigned epoch)
{
	struct rebuild *b = xcalloc(1, sizeof(*b));

	b->epoch = epoch;
	b->folder = xstrdup(GUEST_WORKSPACE);
	return b;
}

void rebuild_free(struct rebuild *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->n; i++) {
		free(b->files[i].path);
		free(b->files[i].versions);
	}
	free(b->files);
	free(b->folder);
	arena_release(&b->arena);
	free(b);
}

struct window rebuild_split(struct arena *a, const char *text, size_t n)
{
	struct rebuilt_line *lines = NULL;
	struct window w = { 0 };

	for (const char *at = text, *end = text + n; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;

		lines = arena_grow(a, lines, w.n, sizeof(*lines));
		lines[w.n++] = (struct rebuilt_line){ at, (uint32_t)(stop - at), true };
		at = stop + 1;
	}
	w.lines = lines;
	w.total = w.n;
	return w;
}

struct rebuilt_file *rebuild_find(struct rebuild *b, const char *path)
{
	for (size_t i = 0; i < b->n; i++)
		if (str_eq(b->files[i].path, path))
			return &b->files[i];
	return NULL;
}

struct rebuilt_version *rebuild_now(const struct rebuilt_file *f)
{
	struct rebuilt_version *v = f && f->n ? &f->versions[f->n - 1] : NULL;

	return v && v->how != REBUILT_REMOVED ? v : NULL;
}

struct rebuilt_file *rebuild_need(struct rebuild *b, const char *path)
{
	struct rebuilt_file *f = rebuild_find(b, path);

	if (f)
		return f;
	if (b->n == FILES_MAX || strlen(path) > PATH_BYTES_MAX) {
		b->full = true;
		return NULL;
	}
	b->files = xgrow(b->files, b->n, sizeof(*b->files));
	b->files[b->n] = (struct rebuilt_file){ .path = xstrdup(path) };
	return &b->files[b->n++];
}

bool rebuild_keep(struct rebuild *b, struct rebuilt_version *v)
{
	size_t bytes = v->n * sizeof(*v->lines);
	struct rebuilt_line *lines;

	for (size_t i = 0; i < v->n; i++)
		bytes += v->lines[i].fresh ? v->lines[i].n : 0;
	if (b->full || b->bytes + bytes > REBUILD_BYTES_MAX) {
		b->full = true;
		return false;
	}
	b->bytes += bytes;
	lines = arena_array(&b->arena, v->n + 1, sizeof(*lines));
	for (size_t i = 0; i < v->n; i++) {
		lines[i] = v->lines[i];
		if (lines[i].fresh)
			lines[i].text = arena_strndup(&b->arena, lines[i].text, lines[i].n);
		lines[i].fresh = false;
		v->unknown += !lines[i].text;
	}
	v->lines = lines;
	return true;
}

void rebuild_add(struct rebuild *b, const char *path, struct rebuilt_version v)
{
	struct rebuilt_file *f = rebuild_need(b, path);

	if (!f || !rebuild_keep(b, &v))
		return;
	f->versions = xgrow(f->versions, f->n, sizeof(*f->versions));
	f->versions[f->n++] = v;
}
