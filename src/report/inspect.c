/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "report/inspect_inside.h"
#include "report/zip.h"

#include "fumehood-build.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Logs of Inspect (inspect.aisi.org.uk) are ZIP archives. They hold a file for each sample, a
 * list of the samples, and a header. The header is written last, as Inspect does.
 */

#define INSPECT_VERSION 2 /* version of the format */
#define INSPECT_HEADER_BYTES_MAX (256L << 20)

struct inspect_log {
	const struct inspect_group *group;
	const struct run_row *first; /* any run of the log, for values that all have in common */
	char id[INSPECT_ID_BYTES];
	char *model;
	double begin_s, end_s;
	size_t n_complete;
};

/* --- which runs belong together --------------------------------------------------------------- */

static const size_t inspect_keys[] = {
	offsetof(struct run_row, task),
	offsetof(struct run_row, model),
	offsetof(struct run_row, agent),
	offsetof(struct run_row, version),
	offsetof(struct run_row, root),
	offsetof(struct run_row, judge),
	offsetof(struct run_row, metric),
	offsetof(struct run_row, agent_hash),
};

static const char *inspect_key(const struct run_row *row, size_t i)
{
	const char *text = *(const char *const *)((const char *)row + inspect_keys[i]);

	return text ? text : "";
}

static int inspect_compare_keys(const struct run_row *a, const struct run_row *b)
{
	int order = 0;

	for (size_t i = 0; order == 0 && i < sizeof(inspect_keys) / sizeof(inspect_keys[0]); i++)
		order = strcmp(inspect_key(a, i), inspect_key(b, i));
	return order;
}

bool inspect_same(const struct run_row *a, const struct run_row *b)
{
	return inspect_compare_keys(a, b) == 0;
}

int inspect_compare(const void *a, const void *b)
{
	const struct run_row *x = *(const struct run_row *const *)a,
			     *y = *(const struct run_row *const *)b;
	int order = inspect_compare_keys(x, y);

	return order ? order : strcmp(x->path, y->path);
}

/* --- times of runs ---------------------------------------------------------------------------- */

/* When a run began. MLGym's records have no times: their file was written at the end. */
static double inspect_begin(const struct run_row *row)
{
	double begin = export_time(row->started);
	struct stat st;

	if (!isnan(begin) || stat(row->path, &st) < 0)
		return begin;
	begin = (double)st.st_mtim.tv_sec;
	return isnan(row->tool_s) ? begin : begin - row->tool_s - row->graded_s;
}

static void inspect_set_times(struct inspect_log *log)
{
	log->begin_s = log->end_s = NAN;
	for (size_t i = 0; i < log->group->n; i++) {
		const struct run_row *row = log->group->runs[i];
		double begin = inspect_begin(row);
		double seconds = isnan(row->seconds) ? row->tool_s + row->graded_s : row->seconds;

		log->begin_s = fmin(log->begin_s, begin);
		log->end_s = fmax(log->end_s, begin + (isnan(seconds) ? 0 : seconds));
		log->n_complete += row->complete != 0;
	}
}

/* --- the header ------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	size_t offset;
} scorers[] = {
	{ "best", offsetof(struct run_row, best) },
	{ "last", offsetof(struct run_row, last) },
};

static void inspect_put_scorers(struct pyjson_writer *w)
{
	static const char *const metrics[] = { "mean", "stderr", "max", "min" };

	pyjson_put_array(w, "scorers");
	for (size_t i = 0; i < sizeof(scorers) / sizeof(scorers[0]); i++) {
		pyjson_put_object(w, NULL);
		pyjson_put_text(w, "name", scorers[i].name);
		pyjson_put_array(w, "metrics");
		for (size_t k = 0; k < sizeof(metrics) / sizeof(metrics[0]); k++) {
			pyjson_put_object(w, NULL);
			pyjson_put_text(w, "name", metrics[k]);
			pyjson_end_object(w);
		}
		pyjson_end_array(w);
		pyjson_end_object(w);
	}
	pyjson_end_array(w);
}

static void inspect_put_spec(struct pyjson_writer *w, const struct inspect_log *log)
{
	const struct run_row *row = log->first;
	const char *task = row->task ? row->task : "unknown";

	pyjson_put_object(w, "eval");
	pyjson_put_text(w, "eval_id", log->id);
	pyjson_put_text(w, "run_id", log->id);
	inspect_put_time(w, "created", isnan(log->begin_s) ? 0 : log->begin_s);
	pyjson_put_text(w, "task", task);
	pyjson_put_text(w, "task_id", log->id);
	pyjson_put_text(w, "task_version", row->version ? row->version : "0");
	if (row->agent)
		pyjson_put_text(w, "solver", row->agent);
	pyjson_put_object(w, "dataset");
	pyjson_put_text(w, "name", task);
	pyjson_put_i64(w, "samples", 1);
	pyjson_put_array(w, "sample_ids");
	pyjson_put_text(w, NULL, task);
	pyjson_end_array(w);
	pyjson_end_object(w);
	pyjson_put_text(w, "model", log->model);
	pyjson_put_object(w, "config");
	pyjson_put_i64(w, "epochs", (int64_t)log->group->n);
	pyjson_end_object(w);
	pyjson_put_object(w, "packages");
	pyjson_put_text(w, "fumehood", FUMEHOOD_VERSION);
	pyjson_end_object(w);
	pyjson_put_object(w, "metadata");
	pyjson_put_text(w, "metric", row->metric);
	pyjson_put_bool(w, "maximize", row->maximize != 0);
	pyjson_put_text(w, "root", row->root);
	pyjson_put_text(w, "judge", row->judge);
	pyjson_put_text(w, "agent_hash", row->agent_hash);
	pyjson_end_object(w);
	inspect_put_scorers(w);
	pyjson_end_object(w);
	pyjson_put_object(w, "plan");
	pyjson_put_array(w, "steps");
	pyjson_put_object(w, NULL);
	pyjson_put_text(w, "solver", row->agent ? row->agent : "none");
	pyjson_end_object(w);
	pyjson_end_array(w);
	pyjson_end_object(w);
}

static void inspect_put_metric(struct pyjson_writer *w, const char *name, double value)
{
	if (!isfinite(value))
		return;
	pyjson_put_object(w, name);
	pyjson_put_text(w, "name", name);
	pyjson_put_double(w, "value", value);
	pyjson_end_object(w);
}

static void inspect_put_score(struct pyjson_writer *w, const struct inspect_log *log, size_t which)
{
	double sum = 0, squares = 0, low = NAN, high = NAN, mean;
	size_t n = 0;

	for (size_t pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < log->group->n; i++) {
			const struct run_row *row = log->group->runs[i];
			double v;

			memcpy(&v, (const char *)row + scorers[which].offset, sizeof(v));
			if (!isfinite(v))
				continue;
			sum += pass ? 0 : v;
			n += !pass;
			squares += pass ? (v - sum / (double)n) * (v - sum / (double)n) : 0;
			low = fmin(low, v);
			high = fmax(high, v);
		}
	mean = n ? sum / (double)n : NAN;
	pyjson_put_object(w, NULL);
	pyjson_put_text(w, "name", scorers[which].name);
	pyjson_put_text(w, "scorer", scorers[which].name);
	pyjson_put_i64(w, "scored_samples", (int64_t)n);
	pyjson_put_i64(w, "unscored_samples", (int64_t)(log->group->n - n));
	pyjson_put_object(w, "metrics");
	inspect_put_metric(w, "mean", mean);
	inspect_put_metric(w, "stderr", n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : NAN);
	inspect_put_metric(w, "max", high);
	inspect_put_metric(w, "min", low);
	pyjson_end_object(w);
	pyjson_end_object(w);
}

static struct dump_usage inspect_sum(const struct inspect_group *group)
{
	struct dump_usage sum = { .cost = NAN };

	for (size_t i = 0; i < group->n; i++) {
		struct dump_usage used = inspect_usage(group->runs[i]);

		if (isnan(used.sent + used.received))
			continue;
		sum.sent += used.sent;
		sum.received += used.received;
		sum.cost = isnan(sum.cost) ? used.cost : sum.cost + fmax(used.cost, 0);
	}
	return sum;
}

static void inspect_put_header(struct buf *out, const struct inspect_log *log)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(out, PYJSON_LINE);
	struct dump_usage sum = inspect_sum(log->group);

	pyjson_put_object(&w, NULL);
	pyjson_put_i64(&w, "version", INSPECT_VERSION);
	pyjson_put_text(&w, "status", log->n_complete ? "success" : "cancelled");
	inspect_put_spec(&w, log);
	pyjson_put_object(&w, "results");
	pyjson_put_i64(&w, "total_samples", (int64_t)log->group->n);
	pyjson_put_i64(&w, "completed_samples", (int64_t)log->n_complete);
	pyjson_put_array(&w, "scores");
	for (size_t i = 0; i < sizeof(scorers) / sizeof(scorers[0]); i++)
		inspect_put_score(&w, log, i);
	pyjson_end_array(&w);
	pyjson_end_object(&w);
	pyjson_put_object(&w, "stats");
	inspect_put_time(&w, "started_at", log->begin_s);
	inspect_put_time(&w, "completed_at", log->end_s);
	inspect_put_usage(&w, log->model, &sum);
	pyjson_end_object(&w);
	pyjson_end_object(&w);
}

static void inspect_put_start(struct buf *out, const struct inspect_log *log)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(out, PYJSON_LINE);

	pyjson_put_object(&w, NULL);
	pyjson_put_i64(&w, "version", INSPECT_VERSION);
	inspect_put_spec(&w, log);
	pyjson_end_object(&w);
}

/* --- the archive ------------------------------------------------------------------------------ */

static int inspect_add(
		struct zip *z, const char *name, const struct buf *text, struct fh_error *err)
{
	if (text->truncated)
		return error_say(err, EFBIG, "'%s' of the log would be larger than %zu bytes", name,
				text->cap);
	return zip_add(z, name, buf_str(text), text->len, err);
}

static int inspect_add_sample(struct zip *z, const struct inspect_log *log, size_t i,
		struct pyjson_writer *summaries, struct fh_error *err)
{
	const struct run_row *row = log->group->runs[i];
	auto_buf struct buf text = BUF_INIT(DUMP_BYTES_MAX);
	auto_free char *name = NULL;
	struct dump_run run;
	struct inspect_sample s = {
		.run = &run, .model = log->model, .epoch = (int)i + 1, .begin_s = inspect_begin(row)
	};
	int r = dump_run_read(row, &run, err);

	if (r < 0)
		return r;
	inspect_id(s.id, log->id, row->path, (char *)NULL);
	inspect_put_sample(&text, &s);
	inspect_put_summary(summaries, &s);
	dump_run_release(&run);
	name = xasprintf("samples/%s_epoch_%d.json", row->task ? row->task : "unknown", s.epoch);
	return inspect_add(z, name, &text, err);
}

static int inspect_fill(struct zip *z, const struct inspect_log *log, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(INSPECT_HEADER_BYTES_MAX),
			    list = BUF_INIT(INSPECT_HEADER_BYTES_MAX);
	struct pyjson_writer summaries = PYJSON_WRITER_INIT(&list, PYJSON_LINE);
	int r;

	inspect_put_start(&text, log);
	r = inspect_add(z, "_journal/start.json", &text, err);
	if (r < 0)
		return r;
	pyjson_put_array(&summaries, NULL);
	for (size_t i = 0; i < log->group->n; i++) {
		r = inspect_add_sample(z, log, i, &summaries, err);
		if (r < 0)
			return r;
	}
	pyjson_end_array(&summaries);
	r = inspect_add(z, "summaries.json", &list, err);
	if (r < 0)
		return r;
	buf_clear(&text);
	inspect_put_header(&text, log);
	r = inspect_add(z, "header.json", &text, err);
	if (r < 0)
		return r;
	return zip_end(z, err);
}

/* Name of a log's file: "2026-01-31T12-00-00+00-00_titanicSurvival_<id>.eval". */
static char *inspect_file(const struct inspect_log *log)
{
	char date[64];
	char *name = xasprintf("%s_%.100s_%s.eval",
			inspect_date(date, isnan(log->begin_s) ? 0 : log->begin_s, '-'),
			log->first->task ? log->first->task : "unknown", log->id);

	for (char *c = name; *c; c++)
		if (*c == '/' || *c == ':' || (unsigned char)*c < ' ')
			*c = '-';
	return name;
}

static char *inspect_model(const char *model)
{
	char *name = xstrdup(model ? model : "unknown"), *colon = strchr(name, ':');

	if (colon)
		*colon = '/';
	return name;
}

int inspect_write(struct arena *a, const char *folder, const struct inspect_group *group,
		const char **out_path, struct fh_error *err)
{
	const struct run_row *first = group->runs[0];
	auto_free char *model = inspect_model(first->model), *name = NULL, *path = NULL;
	struct inspect_log log = { .group = group, .first = first, .model = model };
	auto_whole struct fd_whole file = { 0 };
	auto_zip struct zip z = ZIP_INIT(-1);
	int r;

	inspect_id(log.id, inspect_key(first, 0), inspect_key(first, 1), inspect_key(first, 2),
			inspect_key(first, 3), inspect_key(first, 4), inspect_key(first, 5),
			inspect_key(first, 6), inspect_key(first, 7), (char *)NULL);
	inspect_set_times(&log);
	name = inspect_file(&log);
	path = path_join(folder, name);
	r = fd_whole_open(path, 0644, &file, err);
	if (r < 0)
		return r;
	z.fd = file.fd;
	r = inspect_fill(&z, &log, err);
	if (r < 0)
		return r;
	r = fd_whole_end(&file, err);
	if (r < 0)
		return r;
	*out_path = arena_strdup(a, path);
	return 0;
}
