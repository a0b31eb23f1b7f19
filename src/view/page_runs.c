/* SPDX-License-Identifier: Apache-2.0 */
#include "view/page_runs.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* Columns of the index that the list has. */
static const char *const page_columns[] = { "task", "model", "agent", "exit_status", "complete",
	"steps", "best", "last", "baseline", "metric", "maximize", "cost", "tokens_sent",
	"tokens_received", "seconds", "tool_s", "graded_s", "failed", "timeouts", "format_errors",
	"integrity", "policy_step", "reward", "started", "problem", "damage" };

#define RUNS_ROW_BYTES_MAX (4L << 20)

/* Finds the fields of the columns. */
static void page_find_fields(const struct row_field *out[])
{
	for (size_t i = 0; i < ARRAY_SIZE(page_columns); i++)
		for (out[i] = row_fields; out[i]->name && !str_eq(out[i]->name, page_columns[i]);)
			out[i]++;
}

static void page_put_field(
		struct pyjson_writer *w, const struct run_row *row, const struct row_field *f)
{
	const char *at = (const char *)row + f->offset;
	const char *text;
	int64_t count;
	double number;

	switch (f->kind) {
	case ROW_TEXT:
		memcpy(&text, at, sizeof(text));
		if (text)
			page_put_bytes(w, NULL, text, strlen(text));
		else
			pyjson_put_null(w, NULL);
		return;
	case ROW_COUNT:
		memcpy(&count, at, sizeof(count));
		if (count < 0)
			pyjson_put_null(w, NULL);
		else
			pyjson_put_i64(w, NULL, count);
		return;
	case ROW_NUMBER:
		memcpy(&number, at, sizeof(number));
		page_put_real(w, NULL, number);
		return;
	}
}

/* Puts a run as an array, because there are thousands. */
static void page_put_run(struct pyjson_writer *w, const struct library_run *r,
		const struct row_field *const fields[])
{
	pyjson_put_array(w, NULL);
	pyjson_put_text(w, NULL, r->id);
	page_put_bytes(w, NULL, r->name, strlen(r->name));
	pyjson_put_i64(w, NULL, r->size);
	pyjson_put_i64(w, NULL, r->mtime_ns / 1000000);
	pyjson_put_text(w, NULL, r->going);
	for (size_t i = 0; r->row && i < ARRAY_SIZE(page_columns); i++)
		page_put_field(w, r->row, fields[i]);
	pyjson_end_array(w);
}

/* Makes the texts of runs that have changed. All viewers of a version share them. */
static void page_show_runs(struct library *l)
{
	const struct row_field *fields[ARRAY_SIZE(page_columns)];
	auto_buf struct buf text = BUF_INIT(RUNS_ROW_BYTES_MAX);

	if (!l->listed)
		return;
	l->listed = false;
	l->version++;
	page_find_fields(fields);
	for (size_t i = 0; i < l->n; i++) {
		struct pyjson_writer w = PYJSON_WRITER_INIT(&text, PYJSON_LINE);
		struct library_run *r = &l->runs[i];

		buf_clear(&text);
		page_put_run(&w, r, fields);
		if (str_eq(r->shown, buf_str(&text)) || text.truncated)
			continue;
		xstrset(&r->shown, buf_str(&text));
		r->changed = l->version;
	}
}

/* Puts the places of runs that were changed or added since a version, in the list as it is now. */
static void page_put_places(struct pyjson_writer *w, const struct library *l, int64_t since)
{
	pyjson_put_array(w, "places");
	for (size_t i = 0; i < l->n; i++)
		if (l->runs[i].changed > since)
			pyjson_put_i64(w, NULL, (int64_t)i);
	pyjson_end_array(w);
}

/* Answers with all runs, or with those that have changed since the version that the page has. */
void page_runs(struct page *p)
{
	static const char *const own[] = { "id", "name", "bytes", "changed", "going" };
	struct pyjson_writer *w = &p->json;
	struct library *l = p->library;
	int64_t since = 0;

	library_list(l);
	page_show_runs(l);
	page_number(p, "since=", &since);
	if (since < l->whole || since > l->version)
		since = 0;
	pyjson_put_object(w, NULL);
	pyjson_put_i64(w, "version", l->version);
	if (since)
		page_put_places(w, l, since);
	pyjson_put_array(w, "columns");
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		pyjson_put_text(w, NULL, own[i]);
	for (size_t i = 0; i < ARRAY_SIZE(page_columns); i++)
		pyjson_put_text(w, NULL, page_columns[i]);
	pyjson_end_array(w);
	pyjson_put_array(w, "runs");
	for (size_t i = 0; i < l->n; i++)
		if (l->runs[i].shown && l->runs[i].changed > since)
			pyjson_put_written(w, NULL, l->runs[i].shown);
	pyjson_end_array(w);
	pyjson_end_object(w);
}

/* Puts the scored steps of a run: an array of steps and scores, in turns. */
static void page_put_points(struct pyjson_writer *w, const char *id, const char *points)
{
	pyjson_put_array(w, id);
	while (points && *points) {
		const char *end = strchr(points, '\n');
		char *rest;

		pyjson_put_i64(w, NULL, strtoll(points, &rest, 10));
		page_put_real(w, NULL, strtod(rest, NULL));
		points = end ? end + 1 : NULL;
	}
	pyjson_end_array(w);
}

/* Finds the task of the run that the request names. NULL: unknown. */
static const char *page_task(const struct page *p)
{
	char value[PAGE_VALUE_BYTES];
	const char *id = page_argument(p, "run=", value);

	for (size_t i = 0; i < p->library->n; i++)
		if (str_eq(p->library->runs[i].id, id))
			return p->library->runs[i].row ? p->library->runs[i].row->task : NULL;
	return NULL;
}

void page_points(struct page *p)
{
	struct pyjson_writer *w = &p->json;
	const char *task;

	library_list(p->library);
	task = page_task(p);
	pyjson_put_object(w, NULL);
	pyjson_put_object(w, "runs");
	for (size_t i = 0; task && i < p->library->n; i++) {
		const struct library_run *r = &p->library->runs[i];

		if (r->row && str_eq(r->row->task, task))
			page_put_points(w, r->id, r->row->points);
	}
	pyjson_end_object(w);
	pyjson_end_object(w);
}
