/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/info.h"

void info_put_metrics(
		struct pyjson_writer *w, const char *key, const struct fh_metric *metrics, size_t n)
{
	if (!metrics) {
		pyjson_put_null(w, key);
		return;
	}
	pyjson_put_object(w, key);
	for (size_t i = 0; i < n; i++)
		pyjson_put_double(w, metrics[i].name, metrics[i].value);
	pyjson_end_object(w);
}

/* Where this machine can't tell, it is null. */
static void put_known(struct pyjson_writer *w, const char *key, int64_t v)
{
	if (v < 0)
		pyjson_put_null(w, key);
	else
		pyjson_put_i64(w, key, v);
}

static void put_state(struct pyjson_writer *w, const struct fh_step *step)
{
	pyjson_put_object(w, "state");
	pyjson_put_text(w, "open_file", step->open_file ? step->open_file : "n/a");
	pyjson_put_text(w, "working_dir", step->working_dir);
	pyjson_end_object(w);
}

void info_put(struct pyjson_writer *w, const char *key, const struct fh_step *step)
{
	pyjson_put_object(w, key);
	pyjson_put_i64(w, "step", step->step);
	put_known(w, "exit_code", step->exit_code);
	pyjson_put_text(w, "outcome", fh_outcome_name(step->outcome));
	pyjson_put_double(w, "duration_s", step->duration_s);
	if (step->cpu_s < 0)
		pyjson_put_null(w, "cpu_s");
	else
		pyjson_put_double(w, "cpu_s", step->cpu_s);
	put_known(w, "memory_peak_bytes", step->memory_peak_bytes);
	put_known(w, "written_bytes", step->written_bytes);
	put_state(w, step);
	if (step->score)
		info_put_metrics(w, "score", step->score, step->n_score);
	info_put_metrics(w, "baseline", step->baseline, step->n_baseline);
	info_put_metrics(w, "best", step->best, step->n_best);
	if (step->grade_error)
		pyjson_put_text(w, "grade_error", step->grade_error);
	if (step->integrity)
		pyjson_put_text(w, "integrity", step->integrity);
	if (step->judge_salt)
		pyjson_put_u64(w, "judge_salt", step->judge_salt);
	if (step->exit_status)
		pyjson_put_text(w, "exit_status", step->exit_status);
	pyjson_end_object(w);
}

void info_put_reset(struct pyjson_writer *w, const struct fh_step *step)
{
	pyjson_put_text(w, "observation", step->observation);
	info_put(w, "info", step);
}

void info_put_step(struct pyjson_writer *w, const struct fh_step *step)
{
	pyjson_put_text(w, "observation", step->observation);
	pyjson_put_double(w, "reward", step->reward);
	pyjson_put_bool(w, "terminated", step->terminated);
	pyjson_put_bool(w, "truncated", step->truncated);
	info_put(w, "info", step);
}
