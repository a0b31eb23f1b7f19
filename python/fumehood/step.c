/* SPDX-License-Identifier: Apache-2.0 */
/* Step: the result of a reset or step as a tuple with names. */
#include "core.h"

#include <math.h>
#include <string.h>

PyTypeObject *step_type;

static PyStructSequence_Field step_fields[] = {
	{ "observation", "text for the agent" },
	{ "reward", "reward of this step; 0.0 in a step without a score" },
	{ "terminated", "True if the agent's action ended the episode" },
	{ "truncated", "True if max_steps or another limit ended the episode" },
	{ "step", "number of this step, 1 for the first; 0 after reset" },
	{ "exit_code", "exit code of the command; None: no command has ended" },
	{ "outcome", "'ok', 'timeout', 'output_limit', ...: docs/env.md lists them" },
	{ "duration_s", "seconds that the step took" },
	{ "grading_s", "seconds of duration_s in which submissions were graded" },
	{ "cpu_s", "seconds of CPU time of this step; None: not measured" },
	{ "memory_peak_bytes", "peak memory of the episode in bytes; None: not measured" },
	{ "written_bytes", "bytes by which the episode's files have grown; None: not measured" },
	{ "open_file", "path of the file open in the editor, or 'n/a'" },
	{ "working_dir", "working directory of the agent's shell" },
	{ "state", "JSON object of the agent's state command; None: there is none" },
	{ "score", "{metric: value} of this step's validate or submit; None: no score" },
	{ "baseline", "{metric: value} of the task's baseline" },
	{ "best", "{metric: value}, best of this episode; None: none yet" },
	{ "grade_error", "why a validate or submit gave no score; None: no failure" },
	{ "integrity", "signs of tampering in this step; None: none" },
	{ "state_error", "why the state command was not run; None: it was" },
	{ "exit_status", "how the episode ended: 'submitted', ...; None: it has not" },
	{ "judge_salt", "salt of the episode, in a reset; 0 in steps" },
	{ "restarted", "True if the shell ended in this step, and a new one runs" },
	{ "data_seed", "data seed of the environment, in a reset; 0 in steps" },
	{ "final", "True if the episode has ended and only its last score counts" },
	{ "validated", "{metric: value}, best of the validates of a `final` task; None: none" },
	{ "gap", "last score minus `validated`, by the deciding metric; None: not known" },
	{ "timeout_s", "timeout that the action named; None: the task's" },
	{ NULL, NULL },
};

static PyStructSequence_Desc step_desc = {
	"fumehood.Step",
	"Result of a reset or step. Times are in seconds, sizes in bytes.",
	step_fields,
	sizeof(step_fields) / sizeof(step_fields[0]) - 1,
};

PyObject *step_text(const char *s)
{
	if (!s)
		return Py_NewRef(Py_None);
	return PyUnicode_DecodeUTF8(s, (Py_ssize_t)strlen(s), "replace");
}

PyObject *step_metrics(const struct fh_metric *metrics, size_t n)
{
	PyObject *dict;

	if (!metrics)
		return Py_NewRef(Py_None);
	dict = PyDict_New();
	for (size_t i = 0; dict && i < n; i++) {
		PyObject *value = metrics[i].whole ? PyLong_FromDouble(metrics[i].value)
						   : PyFloat_FromDouble(metrics[i].value);

		if (!value || PyDict_SetItemString(dict, metrics[i].name, value) < 0)
			Py_CLEAR(dict);
		Py_XDECREF(value);
	}
	return dict;
}

static PyObject *step_usage(int64_t bytes)
{
	return bytes < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(bytes);
}

static PyObject *step_seconds(double s)
{
	return s < 0 ? Py_NewRef(Py_None) : PyFloat_FromDouble(s);
}

static PyObject *step_exit_code(int code)
{
	return code < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(code);
}

static PyObject *step_timeout(double seconds)
{
	return seconds > 0 ? PyFloat_FromDouble(seconds) : Py_NewRef(Py_None);
}

static PyObject *step_gap(double gap)
{
	return isnan(gap) ? Py_NewRef(Py_None) : PyFloat_FromDouble(gap);
}

PyObject *step_new(const struct fh_step *s)
{
	PyObject *const values[] = {
		step_text(s->observation),
		PyFloat_FromDouble(s->reward),
		PyBool_FromLong(s->terminated),
		PyBool_FromLong(s->truncated),
		PyLong_FromLong(s->step),
		step_exit_code(s->exit_code),
		PyUnicode_InternFromString(fh_outcome_name(s->outcome)),
		PyFloat_FromDouble(s->duration_s),
		PyFloat_FromDouble(s->grading_s),
		step_seconds(s->cpu_s),
		step_usage(s->memory_peak_bytes),
		step_usage(s->written_bytes),
		step_text(s->open_file),
		step_text(s->working_dir),
		step_text(s->tools_state),
		step_metrics(s->score, s->n_score),
		step_metrics(s->baseline, s->n_baseline),
		step_metrics(s->best, s->n_best),
		step_text(s->grade_error),
		step_text(s->integrity),
		step_text(s->state_error),
		step_text(s->exit_status),
		PyLong_FromUnsignedLongLong(s->judge_salt),
		PyBool_FromLong(s->restarted),
		PyLong_FromUnsignedLongLong(s->data_seed),
		PyBool_FromLong(s->final),
		step_metrics(s->validated, s->n_validated),
		step_gap(s->gap),
		step_timeout(s->timeout_s),
	};
	PyObject *step = PyStructSequence_New(step_type);
	bool missing = !step;

	_Static_assert(sizeof(values) / sizeof(values[0]) ==
					sizeof(step_fields) / sizeof(step_fields[0]) - 1,
			"a value for each field");
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		missing |= !values[i];
		if (step)
			PyStructSequence_SetItem(step, (Py_ssize_t)i, values[i]);
		else
			Py_XDECREF(values[i]);
	}
	if (missing)
		Py_CLEAR(step);
	return step;
}

int step_type_make(PyObject *module)
{
	step_type = PyStructSequence_NewType(&step_desc);
	if (!step_type)
		return -1;
	return PyModule_AddObjectRef(module, "Step", (PyObject *)step_type);
}
