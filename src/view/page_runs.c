/* SPDX-License-Identifier: Apache-2.0 */
#include "view/page_runs.h"

#include "base/scope.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* Columns of the index that the list has. */
static const char *const page_columns[] = { "task", "model", "agent", "exit_status", "complete",
	"steps", "best", "last", "baseline", "metric", "maximize", "cost", "tokens_sent",
	"tokens_received", "seconds", "failed", "timeouts", "format_errors", "integrity",
	"policy_step", "reward", "started", "problem" };

static const struct row_field *page_field(const char *name)
{
	const struct row_field *f = row_fields;

	while (f->name && !str_eq(f->name, name))
		f++;
	return f;
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
static void page_put_run(struct pyjson_writer *w, const struct library_run *r)
{
	pyjson_put_array(w, NULL);
	pyjson_put_text(w, NULL, r->id);
	page_put_bytes(w, NULL, r->name, strlen(r->name));
	pyjson_put_i64(w, NULL, r->size);
	pyjson_put_i64(w, NULL, r->mtime_ns / 1000000);
	for (size_t i = 0; r->row && i < ARRAY_SIZE(page_columns); i++)
		page_put_field(w, r->row, page_field(page_columns[i]));
	pyjson_end_array(w);
}

void page_runs(struct page *p)
{
	static const char *const own[] = { "id", "name", "bytes", "changed" };
	struct pyjson_writer *w = &p->json;

	library_list(p->library);
	pyjson_put_object(w, NULL);
	pyjson_put_array(w, "columns");
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		pyjson_put_text(w, NULL, own[i]);
	for (size_t i = 0; i < ARRAY_SIZE(page_columns); i++)
		pyjson_put_text(w, NULL, page_columns[i]);
	pyjson_end_array(w);
	pyjson_put_array(w, "runs");
	for (size_t i = 0; i < p->library->n; i++)
		page_put_run(w, &p->library->runs[i]);
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
	const char *id = page_argument_of(p, "run=", value);

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
