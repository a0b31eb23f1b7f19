/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/info.h"

#include <math.h>
#include <string.h>

void info_put_metrics(
		struct pyjson_writer *w, const char *key, const struct fh_metric *metrics, size_t n)
{
	if (!metrics) {
		pyjson_put_null(w, key);
		return;
	}
	pyjson_put_object(w, key);
	for (size_t i = 0; i < n; i++) {
		const struct fh_metric *m = &metrics[i];

		if (m->whole && fabs(m->value) < 0x1p63)
			pyjson_put_i64(w, m->name, (int64_t)m->value);
		else
			pyjson_put_double(w, m->name, m->value);
	}
	pyjson_end_object(w);
}

/* Writes a number as JSON; writes null for a negative number, which means unknown. */
static void info_put_known(struct pyjson_writer *w, const char *key, int64_t v)
{
	if (v < 0)
		pyjson_put_null(w, key);
	else
		pyjson_put_i64(w, key, v);
}

/* Parses what the agent's state command printed. NULL: it is not a JSON object. */
static const struct pyjson *info_read_tools(struct arena *a, const char *text)
{
	struct pyjson_source source = {
		.name = "state", .data = text, .n = text ? strlen(text) : 0
	};
	const struct pyjson *object;

	if (!text || pyjson_read(a, &source, &object, NULL) < 0 || object->kind != PYJSON_OBJECT)
		return NULL;
	return object;
}

/* Writes `state` with every key that the agent's state command prints, in the same order. */
static void info_put_state(struct pyjson_writer *w, const struct fh_step *step)
{
	auto_arena struct arena arena = ARENA_INIT;
	const struct pyjson *tools = info_read_tools(&arena, step->tools_state);

	pyjson_put_object(w, "state");
	for (const struct pyjson *v = tools ? tools->first : NULL; v; v = v->next)
		pyjson_put_value(w, v->key, v);
	if (!pyjson_get(tools, "open_file"))
		pyjson_put_text(w, "open_file", step->open_file ? step->open_file : "n/a");
	if (!pyjson_get(tools, "working_dir"))
		pyjson_put_text(w, "working_dir", step->working_dir);
	pyjson_end_object(w);
}

/* Writes both scores of a task that scores the end of its episode by other answers (`final`). */
static void info_put_final(struct pyjson_writer *w, const struct fh_step *step)
{
	if (!step->final)
		return;
	pyjson_put_object(w, "final");
	info_put_metrics(w, "score", step->best, step->n_best);
	info_put_metrics(w, "validated", step->validated, step->n_validated);
	if (isnan(step->gap))
		pyjson_put_null(w, "gap");
	else
		pyjson_put_double(w, "gap", step->gap);
	pyjson_end_object(w);
}

void info_put_info(struct pyjson_writer *w, const struct fh_step *step)
{
	pyjson_put_object(w, "info");
	pyjson_put_i64(w, "step", step->step);
	info_put_known(w, "exit_code", step->exit_code);
	pyjson_put_text(w, "outcome", fh_outcome_name(step->outcome));
	if (step->timeout_s > 0)
		pyjson_put_double(w, "timeout_s", step->timeout_s);
	pyjson_put_double(w, "duration_s", step->duration_s);
	if (step->score || step->grade_error || step->grading_s > 0)
		pyjson_put_double(w, "grading_s", step->grading_s);
	if (step->cpu_s < 0)
		pyjson_put_null(w, "cpu_s");
	else
		pyjson_put_double(w, "cpu_s", step->cpu_s);
	info_put_known(w, "memory_peak_bytes", step->memory_peak_bytes);
	info_put_known(w, "written_bytes", step->written_bytes);
	info_put_state(w, step);
	if (step->score)
		info_put_metrics(w, "score", step->score, step->n_score);
	info_put_metrics(w, "baseline", step->baseline, step->n_baseline);
	info_put_metrics(w, "best", step->best, step->n_best);
	info_put_final(w, step);
	if (step->grade_error)
		pyjson_put_text(w, "grade_error", step->grade_error);
	if (step->integrity)
		pyjson_put_text(w, "integrity", step->integrity);
	if (step->judge_salt)
		pyjson_put_u64(w, "judge_salt", step->judge_salt);
	if (step->data_seed)
		pyjson_put_u64(w, "data_seed", step->data_seed);
	if (step->exit_status)
		pyjson_put_text(w, "exit_status", step->exit_status);
	pyjson_end_object(w);
}

void info_put_reset(struct pyjson_writer *w, const struct fh_step *step)
{
	pyjson_put_text(w, "observation", step->observation);
	info_put_info(w, step);
}

void info_put_step(struct pyjson_writer *w, const struct fh_step *step)
{
	pyjson_put_text(w, "observation", step->observation);
	pyjson_put_double(w, "reward", step->reward);
	pyjson_put_bool(w, "terminated", step->terminated);
	pyjson_put_bool(w, "truncated", step->truncated);
	info_put_info(w, step);
}
