/* SPDX-License-Identifier: Apache-2.0 */
#include "report/formats.h"

#include "base/str.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* A row for each step, as JSON lines or CSV. The names of the columns are the same. */

int dump_flush(struct dump_out *out, struct fh_error *err)
{
	int r;

	if (out->text.truncated)
		return error_say(err, EFBIG, "a run has more than %ld bytes of text",
				DUMP_BYTES_MAX);
	r = fd_write_full(out->fd, buf_str(&out->text), out->text.len);
	buf_clear(&out->text);
	return r < 0 ? error_set(err, -r, "write '%s'", out->name) : 0;
}

enum cells_form { CELLS_JSON, CELLS_CSV, CELLS_HEADER };

struct cells {
	struct pyjson_writer w;
	enum cells_form form;
	bool filled; /* CSV: a cell precedes */
};

/* Appends a cell of CSV. Bytes that are not UTF-8 become the text \xNN, and so does NUL. */
static void cells_quote(struct buf *out, const char *text, size_t n)
{
	auto_buf struct buf clean = BUF_INIT(DUMP_BYTES_MAX);
	const char *at;

	str_add_utf8(&clean, text, n);
	at = buf_str(&clean);
	if (!at[strcspn(at, ",\"\r\n")]) {
		buf_add(out, at, clean.len);
		return;
	}
	buf_add_char(out, '"');
	for (const char *quote; (quote = strchr(at, '"')); at = quote + 1) {
		buf_add(out, at, (size_t)(quote - at) + 1);
		buf_add_char(out, '"');
	}
	buf_add_str(out, at);
	buf_add_char(out, '"');
}

/* Begins a cell of CSV. Returns false if the form is JSON, or a header that is now written. */
static bool cells_begin(struct cells *c, const char *name)
{
	if (c->form == CELLS_JSON)
		return false;
	if (c->filled)
		buf_add_char(c->w.out, ',');
	c->filled = true;
	if (c->form == CELLS_HEADER)
		buf_add_str(c->w.out, name);
	return c->form == CELLS_CSV;
}

static void cells_text(struct cells *c, const char *name, const char *text)
{
	if (cells_begin(c, name))
		cells_quote(c->w.out, text ? text : "", text ? strlen(text) : 0);
	else if (c->form == CELLS_JSON)
		pyjson_put_text(&c->w, name, text);
}

/* A value of the record: a text, a truth value or a number. NULL: unknown. */
static void cells_value(struct cells *c, const char *name, const struct pyjson *v)
{
	if (c->form == CELLS_JSON && v)
		pyjson_put_value(&c->w, name, v);
	else if (!v || v->kind == PYJSON_NULL)
		cells_text(c, name, NULL);
	else if (cells_begin(c, name))
		cells_quote(c->w.out,
				v->kind == PYJSON_BOOL ? v->boolean ? "true" : "false" : v->text,
				v->kind == PYJSON_BOOL ? 5 - (size_t)v->boolean : v->len);
}

static void cells_number(struct cells *c, const char *name, double v)
{
	if (!isfinite(v))
		cells_text(c, name, NULL);
	else if (cells_begin(c, name))
		str_add_double(c->w.out, v);
	else if (c->form == CELLS_JSON)
		pyjson_put_double(&c->w, name, v);
}

static void cells_count(struct cells *c, const char *name, double v)
{
	if (!isfinite(v) || v < 0)
		cells_text(c, name, NULL);
	else if (cells_begin(c, name))
		buf_printf(c->w.out, "%.0f", v);
	else if (c->form == CELLS_JSON)
		pyjson_put_i64(&c->w, name, (int64_t)v);
}

/* --- the columns ------------------------------------------------------------------------------ */

static const char *steps_kind(const char *action)
{
	char letter = action_letter_of(action);
	const struct action_letter *kind = action_letters;

	while (kind->letter != letter)
		kind++;
	return kind->name;
}

static void steps_run_columns(struct cells *c, const struct run_row *row)
{
	cells_text(c, "record", row->path);
	cells_text(c, "task", row->task);
	cells_text(c, "task_hash", row->version);
	cells_text(c, "model", row->model);
	cells_text(c, "agent", row->agent);
	cells_count(c, "run", (double)row->number);
	cells_count(c, "policy_step", (double)row->policy_step);
	cells_text(c, "exit_status", row->exit_status);
	cells_text(c, "metric", row->metric);
	cells_number(c, "baseline", row->baseline);
	cells_number(c, "run_best", row->best);
	cells_number(c, "run_last", row->last);
}

static void steps_columns(struct cells *c, const struct dump_step *step, size_t number)
{
	const struct pyjson *event = step->event, *info = pyjson_get(event, "info");

	cells_count(c, "step", (double)number);
	cells_value(c, "time", pyjson_get(event, "time"));
	cells_text(c, "kind", step->texts ? steps_kind(pyjson_text(step->texts->action)) : NULL);
	cells_value(c, "thought", step->texts ? step->texts->thought : NULL);
	cells_value(c, "action", step->texts ? step->texts->action : NULL);
	cells_value(c, "response", step->texts ? step->texts->response : NULL);
	cells_value(c, "observation", step->texts ? step->texts->observation : NULL);
	cells_value(c, "reward", pyjson_get(event, "reward"));
	cells_number(c, "score", step->score);
	cells_number(c, "best", step->best);
	cells_value(c, "outcome", pyjson_get(info, "outcome"));
	cells_value(c, "exit_code", pyjson_get(info, "exit_code"));
	cells_value(c, "grade_error", pyjson_get(info, "grade_error"));
	cells_value(c, "integrity", pyjson_get(info, "integrity"));
	cells_number(c, "duration_s", step->duration_s);
	cells_value(c, "grading_s", pyjson_get(info, "grading_s"));
	cells_value(c, "cpu_s", pyjson_get(info, "cpu_s"));
	cells_number(c, "model_s", step->model_s);
	cells_number(c, "cost", step->used.cost);
	cells_count(c, "tokens_sent", step->used.sent);
	cells_count(c, "tokens_received", step->used.received);
	cells_count(c, "calls", step->used.calls);
	cells_value(c, "terminated", pyjson_get(event, "terminated"));
	cells_value(c, "truncated", pyjson_get(event, "truncated"));
}

/* --- rows ------------------------------------------------------------------------------------- */

static void steps_row(struct dump_out *out, enum cells_form form, const struct run_row *row,
		const struct dump_step *step, size_t number)
{
	struct cells c = { .w = PYJSON_WRITER_INIT(&out->text, PYJSON_LINE), .form = form };

	if (form == CELLS_JSON)
		pyjson_put_object(&c.w, NULL);
	steps_run_columns(&c, row);
	steps_columns(&c, step, number);
	if (form == CELLS_JSON)
		pyjson_end_object(&c.w);
	buf_add_str(&out->text, form == CELLS_JSON ? "\n" : "\r\n");
}

static void steps_add(struct dump_out *out, const struct dump_run *run)
{
	for (size_t i = 0; i < run->n_steps; i++)
		steps_row(out, CELLS_JSON, run->row, &run->steps[i], i + 1);
}

static void steps_begin_csv(struct dump_out *out)
{
	const struct run_row row = RUN_ROW_INIT;
	const struct dump_step step = { 0 };

	steps_row(out, CELLS_HEADER, &row, &step, 0);
}

static void steps_add_csv(struct dump_out *out, const struct dump_run *run)
{
	for (size_t i = 0; i < run->n_steps; i++)
		steps_row(out, CELLS_CSV, run->row, &run->steps[i], i + 1);
}

const struct dump_format dump_steps = { .name = "steps", .add = steps_add };

const struct dump_format dump_steps_csv = {
	.name = "csv", .begin = steps_begin_csv, .add = steps_add_csv
};
