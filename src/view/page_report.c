/* SPDX-License-Identifier: Apache-2.0 */
#include "view/page_report.h"

#include "base/mem.h"
#include "base/scope.h"
#include "report/effort.h"
#include "report/gather.h"
#include "report/index.h"
#include "report/mix.h"
#include "report/paper.h"
#include "report/spread.h"
#include "report/summary.h"
#include "report/trouble.h"
#include "view/thread_stream.h"

struct report_work {
	struct thread_stream work;
	const struct texts *places;
};

/* --- JSON ------------------------------------------------------------------------------------- */

static void page_report_put_numbers(
		struct pyjson_writer *w, const char *key, const double *values, size_t n)
{
	if (!values)
		return;
	pyjson_put_array(w, key);
	for (size_t i = 0; i < n; i++)
		page_put_real(w, NULL, values[i]);
	pyjson_end_array(w);
}

static void page_report_put_chart(struct pyjson_writer *w, const struct report_table *t)
{
	static const char *const kinds[] = { [CHART_LINES] = "lines",
		[CHART_POINTS] = "points",
		[CHART_HEAT] = "heat",
		[CHART_BARS] = "bars" };
	const struct chart *f = t->chart;
	struct chart_axes axes = chart_axes_of(f);

	pyjson_put_object(w, "figure");
	pyjson_put_text(w, "kind", kinds[f->kind]);
	pyjson_put_text(w, "x", f->x_title);
	pyjson_put_text(w, "y", f->y_title);
	pyjson_put_i64(w, "column", (int64_t)f->bar_column);
	page_put_real(w, "right", axes.x_high);
	page_put_real(w, "bottom", axes.y_low);
	page_report_put_numbers(w, "shades", f->shades, t->n_rows * (t->n_columns - 1));
	pyjson_put_array(w, "lines");
	for (size_t i = 0; i < f->n_lines; i++) {
		const struct chart_line *line = &f->lines[i];

		pyjson_put_object(w, NULL);
		page_put_bytes(w, "name", line->name, strlen(line->name));
		pyjson_put_bool(w, "steps", line->steps);
		page_report_put_numbers(w, "x", line->x, line->n);
		page_report_put_numbers(w, "y", line->y, line->n);
		page_report_put_numbers(w, "low", line->low, line->n);
		page_report_put_numbers(w, "high", line->high, line->n);
		pyjson_end_object(w);
	}
	pyjson_end_array(w);
	pyjson_end_object(w);
}

/* Puts the cells that name a run: an array of row, column and the run's id. */
static void page_report_put_links(struct pyjson_writer *w, const struct report_table *t)
{
	char id[LIBRARY_ID_BYTES];

	pyjson_put_array(w, "links");
	for (size_t i = 0; i < t->n_rows * t->n_columns; i++) {
		if (!t->cells[i].record)
			continue;
		library_id(t->cells[i].record, id);
		pyjson_put_array(w, NULL);
		pyjson_put_i64(w, NULL, (int64_t)(i / t->n_columns));
		pyjson_put_i64(w, NULL, (int64_t)(i % t->n_columns));
		pyjson_put_text(w, NULL, id);
		pyjson_end_array(w);
	}
	pyjson_end_array(w);
}

/* Puts what is said of a table and of its picture. */
static void page_report_put_note(
		struct pyjson_writer *w, const struct report_doc *doc, const struct report_table *t)
{
	const char *outside = t->chart ? chart_outside(doc->arena, t->chart) : NULL;

	if (outside && t->note)
		outside = arena_printf(doc->arena, "%s %s", t->note, outside);
	pyjson_put_text(w, "note", outside ? outside : t->note);
}

static void page_report_put_table(
		struct pyjson_writer *w, const struct report_doc *doc, const struct report_table *t)
{
	pyjson_put_object(w, NULL);
	pyjson_put_text(w, "id", t->id);
	page_put_bytes(w, "title", t->title, strlen(t->title));
	page_report_put_note(w, doc, t);
	pyjson_put_array(w, "columns");
	for (size_t i = 0; i < t->n_columns; i++)
		page_put_bytes(w, NULL, t->columns[i], strlen(t->columns[i]));
	pyjson_end_array(w);
	pyjson_put_array(w, "rows");
	for (size_t i = 0; i < t->n_rows * t->n_columns; i++) {
		const struct cell *cell = &t->cells[i];

		if (i % t->n_columns == 0)
			pyjson_put_array(w, NULL);
		page_put_bytes(w, NULL, cell->text, strlen(cell->text));
		if ((i + 1) % t->n_columns == 0)
			pyjson_end_array(w);
	}
	pyjson_end_array(w);
	page_report_put_links(w, t);
	if (t->chart)
		page_report_put_chart(w, t);
	pyjson_end_object(w);
}

static void page_report_put(struct pyjson_writer *w, const struct report_doc *doc)
{
	pyjson_put_object(w, NULL);
	pyjson_put_array(w, "notes");
	for (size_t i = 0; i < doc->notes.n; i++)
		page_put_bytes(w, NULL, doc->notes.items[i], strlen(doc->notes.items[i]));
	pyjson_end_array(w);
	pyjson_put_array(w, "tables");
	for (size_t i = 0; i < doc->n_tables; i++)
		page_report_put_table(w, doc, doc->tables[i]);
	pyjson_end_array(w);
	pyjson_end_object(w);
}

/* --- the work --------------------------------------------------------------------------------- */

/* Reads the rows of all places that have an index. */
static void page_report_read(struct report_work *q, struct arena *a, struct run_rows *rows)
{
	for (size_t i = 0; i < q->places->n && !thread_stream_is_stopped(&q->work); i++) {
		struct run_index *ix;

		if (run_index_open(q->places->items[i], NULL, &ix, NULL) < 0)
			continue;
		run_index_rows(ix, a, rows, NULL);
		run_index_close(ix);
	}
}

static void page_report_run(struct thread_stream *w)
{
	struct report_work *q = (struct report_work *)w;
	auto_arena struct arena arena = ARENA_INIT;
	auto_buf struct buf json = BUF_INIT(THREAD_STREAM_EVENTS_BYTES_MAX);
	struct pyjson_writer writer = PYJSON_WRITER_INIT(&json, PYJSON_LINE);
	struct report_doc doc = { .arena = &arena };
	struct run_rows rows = { 0 };
	struct report report;

	page_report_read(q, &arena, &rows);
	report_gather(&report, &doc, &rows, &(struct report_choice){ 0 });
	if (report.n_runs && !thread_stream_is_stopped(w)) {
		mix_table(&report);
		paper_tables(&report);
		spread_tables(&report);
		effort_tables(&report);
		trouble_table(&report, TROUBLE_ROWS);
		summary_table(&doc);
	}
	page_report_put(&writer, &doc);
	thread_stream_tell(w, "report", &json);
}

static void page_report_release(struct thread_stream *w)
{
}

void page_report(struct page *p)
{
	struct report_work *q = xcalloc(1, sizeof(*q));

	q->places = p->library->places;
	if (thread_stream_start(&q->work, page_report_run, page_report_release, NULL) < 0) {
		free(q);
		page_refuse(p, 503, "no thread starts");
		return;
	}
	p->answer->stream = &q->work.stream;
}
