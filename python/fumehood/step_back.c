/* SPDX-License-Identifier: Apache-2.0 */
/* Steps for the C API: step.c the other way round. */
#include "agents.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define METRICS_MAX 256 /* most metrics of a Step */

/* Reads the fields of a Step. After a failure an exception is set, and all reads give zeros. */
struct step_reader {
	PyObject *step;
	struct fh_metric *metrics; /* METRICS_MAX */
	size_t n_metrics;
};

/* Returns a field of the Step, which holds it. NULL: it is None. */
static PyObject *reader_get(const struct step_reader *r, const char *name)
{
	PyObject *value = PyErr_Occurred() ? NULL : PyObject_GetAttrString(r->step, name);

	Py_XDECREF(value);
	return value == Py_None ? NULL : value;
}

static const char *reader_text(const struct step_reader *r, const char *name)
{
	PyObject *value = reader_get(r, name);

	return value ? convert_text(value) : NULL;
}

static bool reader_flag(const struct step_reader *r, const char *name)
{
	PyObject *value = reader_get(r, name);

	return value && PyObject_IsTrue(value) > 0;
}

static double reader_double(const struct step_reader *r, const char *name, double none)
{
	PyObject *value = reader_get(r, name);

	return value ? PyFloat_AsDouble(value) : none;
}

static int64_t reader_i64(const struct step_reader *r, const char *name)
{
	PyObject *value = reader_get(r, name);

	return value ? PyLong_AsLongLong(value) : -1;
}

static uint64_t reader_u64(const struct step_reader *r, const char *name)
{
	PyObject *value = reader_get(r, name);

	return value ? PyLong_AsUnsignedLongLong(value) : 0;
}

static enum fh_outcome reader_outcome(const struct step_reader *r)
{
	const char *word = reader_text(r, "outcome");

	for (int i = 0; word && i <= FH_OUTCOME_INTERRUPTED; i++)
		if (strcmp(fh_outcome_name((enum fh_outcome)i), word) == 0)
			return (enum fh_outcome)i;
	if (!PyErr_Occurred())
		PyErr_Format(PyExc_ValueError, "no outcome '%s'", word ? word : "None");
	return FH_OUTCOME_OK;
}

static const struct fh_metric *reader_score(struct step_reader *r, const char *name, size_t *out_n)
{
	PyObject *dict = reader_get(r, name), *key, *value;
	const struct fh_metric *first = r->metrics + r->n_metrics;
	Py_ssize_t at = 0;

	*out_n = 0;
	if (!dict)
		return NULL;
	if (!PyDict_Check(dict)) {
		PyErr_Format(PyExc_TypeError, "%s is not a dict", name);
		return NULL;
	}
	while (PyDict_Next(dict, &at, &key, &value) && r->n_metrics < METRICS_MAX) {
		r->metrics[r->n_metrics++] = (struct fh_metric){
			.name = convert_text(key),
			.value = PyFloat_AsDouble(value),
			.whole = PyLong_Check(value),
		};
		if (PyErr_Occurred())
			return NULL;
		(*out_n)++;
	}
	return first;
}

int step_back_init(struct step_back *back, PyObject *step)
{
	struct step_reader r = { .step = step };

	if (!PyObject_TypeCheck(step, step_type)) {
		PyErr_Format(PyExc_TypeError, "expected a Step, not %R", (PyObject *)Py_TYPE(step));
		return -1;
	}
	r.metrics = back->metrics = calloc(METRICS_MAX, sizeof(*back->metrics));
	if (!r.metrics) {
		PyErr_NoMemory();
		return -1;
	}
	back->step = (struct fh_step){
		.observation = reader_text(&r, "observation"),
		.reward = reader_double(&r, "reward", 0),
		.terminated = reader_flag(&r, "terminated"),
		.truncated = reader_flag(&r, "truncated"),
		.step = (int)reader_i64(&r, "step"),
		.exit_code = (int)reader_i64(&r, "exit_code"),
		.outcome = reader_outcome(&r),
		.duration_s = reader_double(&r, "duration_s", 0),
		.grading_s = reader_double(&r, "grading_s", 0),
		.cpu_s = reader_double(&r, "cpu_s", -1),
		.memory_peak_bytes = reader_i64(&r, "memory_peak_bytes"),
		.written_bytes = reader_i64(&r, "written_bytes"),
		.open_file = reader_text(&r, "open_file"),
		.working_dir = reader_text(&r, "working_dir"),
		.tools_state = reader_text(&r, "state"),
		.grade_error = reader_text(&r, "grade_error"),
		.integrity = reader_text(&r, "integrity"),
		.state_error = reader_text(&r, "state_error"),
		.exit_status = reader_text(&r, "exit_status"),
		.judge_salt = reader_u64(&r, "judge_salt"),
		.restarted = reader_flag(&r, "restarted"),
		.data_seed = reader_u64(&r, "data_seed"),
		.final = reader_flag(&r, "final"),
		.gap = reader_double(&r, "gap", NAN),
		.timeout_s = reader_double(&r, "timeout_s", 0),
	};
	back->step.score = reader_score(&r, "score", &back->step.n_score);
	back->step.baseline = reader_score(&r, "baseline", &back->step.n_baseline);
	back->step.best = reader_score(&r, "best", &back->step.n_best);
	back->step.validated = reader_score(&r, "validated", &back->step.n_validated);
	if (back->step.observation)
		back->step.observation_bytes = strlen(back->step.observation);
	else if (!PyErr_Occurred())
		PyErr_SetString(PyExc_ValueError, "a Step without an observation");
	if (!PyErr_Occurred())
		return 0;
	step_back_release(back);
	return -1;
}

void step_back_release(struct step_back *back)
{
	free(back->metrics);
	back->metrics = NULL;
}
