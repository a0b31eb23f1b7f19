/* SPDX-License-Identifier: Apache-2.0 */
#include "view/page_edits.h"

#include "base/scope.h"
#include "view/rebuild_record.h"
#include "view/replayed.h"

#include <string.h>

#define TEXT_BYTES_MAX (4L << 20) /* most bytes of a version's text in an answer */

/* Brings the rebuilt files of the request's run up to its last step. */
static struct rebuild *page_rebuild(struct page *p)
{
	struct library_run *run = p->run;
	const struct record *r = run->record;
	int64_t replay_time = replayed_time(r);
	struct rebuild *b = run->rebuilt;

	if (b && b->epoch == r->epoch && b->replay_time == replay_time &&
			(b->steps == r->n_steps || (b->steps < r->n_steps && !b->replayed))) {
		rebuild_record(b, r, r->n_steps);
		return b;
	}
	rebuild_free(b);
	b = run->rebuilt = rebuild_new(r->epoch);
	rebuild_record(b, r, r->n_steps);
	b->replay_time = replay_time;
	replayed_add(b, r);
	return b;
}

/* --- answers ---------------------------------------------------------------------------------- */

static const char *edits_how(enum rebuilt_how how)
{
	switch (how) {
	case REBUILT_SHOWN:
		return "shown";
	case REBUILT_CREATED:
		return "created";
	case REBUILT_EDITED:
		return "edited";
	case REBUILT_WRITTEN:
		return "written";
	case REBUILT_COPIED:
		return "copied";
	case REBUILT_REMOVED:
		return "removed";
	case REBUILT_REPLAYED:
		return "replayed";
	case REBUILT_DATA:
		return "data";
	}
	return "";
}

/* Puts a version as an array, because there are thousands. */
static void edits_put_version(struct pyjson_writer *w, const struct rebuilt_version *v)
{
	pyjson_put_array(w, NULL);
	pyjson_put_i64(w, NULL, (int64_t)v->step);
	pyjson_put_text(w, NULL, edits_how(v->how));
	pyjson_put_i64(w, NULL, (int64_t)v->n);
	pyjson_put_i64(w, NULL, (int64_t)v->unknown);
	pyjson_put_i64(w, NULL, (int64_t)v->shown);
	pyjson_put_i64(w, NULL, (int64_t)v->doubt);
	pyjson_end_array(w);
}

void page_edits(struct page *p)
{
	struct pyjson_writer *w = &p->json;
	const struct rebuild *b;

	if (!page_find_run(p))
		return;
	b = page_rebuild(p);
	pyjson_put_object(w, NULL);
	pyjson_put_i64(w, "steps", (int64_t)b->steps);
	pyjson_put_bool(w, "full", b->full || b->lacks_notes);
	if (b->replayed)
		pyjson_put_i64(w, "replayed", (int64_t)b->replayed - 1);
	else if (!p->request->whole && !p->run->record->is_written)
		page_put_bytes(w, "record", p->run->path, strlen(p->run->path));
	pyjson_put_array(w, "files");
	for (size_t i = 0; i < b->n; i++) {
		const struct rebuilt_file *f = &b->files[i];

		pyjson_put_object(w, NULL);
		page_put_bytes(w, "path", f->path, strlen(f->path));
		pyjson_put_array(w, "versions");
		for (size_t k = 0; k < f->n; k++)
			edits_put_version(w, &f->versions[k]);
		pyjson_end_array(w);
		pyjson_end_object(w);
	}
	pyjson_end_array(w);
	pyjson_end_object(w);
}

/* Puts the text, and the ranges of lines in it that are not known, as [first, end] from 0. */
static void edits_put_text(struct pyjson_writer *w, const struct rebuilt_version *v)
{
	auto_buf struct buf text = BUF_INIT(TEXT_BYTES_MAX);
	size_t n = 0;

	while (n < v->n && text.len + v->lines[n].n < TEXT_BYTES_MAX - 1) {
		if (v->lines[n].text)
			buf_add(&text, v->lines[n].text, v->lines[n].n);
		buf_add_char(&text, '\n');
		n++;
	}
	page_put_bytes(w, "text", buf_str(&text), text.len);
	pyjson_put_i64(w, "lines", (int64_t)n);
	pyjson_put_array(w, "holes");
	for (size_t i = 0; i < n; i++) {
		size_t first = i;

		while (i < n && !v->lines[i].text)
			i++;
		if (i == first)
			continue;
		pyjson_put_array(w, NULL);
		pyjson_put_i64(w, NULL, (int64_t)first);
		pyjson_put_i64(w, NULL, (int64_t)i);
		pyjson_end_array(w);
	}
	pyjson_end_array(w);
}

void page_edited_file(struct page *p)
{
	const struct rebuild *b;
	int64_t file = -1, version = -1;

	if (!page_find_run(p))
		return;
	b = page_rebuild(p);
	page_number(p, "file=", &file);
	page_number(p, "version=", &version);
	if (file < 0 || (size_t)file >= b->n || version < 0 ||
			(size_t)version >= b->files[file].n) {
		page_refuse(p, 404, "there is no such file");
		return;
	}
	pyjson_put_object(&p->json, NULL);
	edits_put_text(&p->json, &b->files[file].versions[version]);
	pyjson_end_object(&p->json);
}
