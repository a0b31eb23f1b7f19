/* SPDX-License-Identifier: Apache-2.0 */
/* tasks() and describe(): what tasks ask for, as dicts. tasks.py makes its classes of them. */
#include "core.h"

#include <fumehood/task.h>

/* A tuple of texts. */
static PyObject *task_texts(const char *const *texts, size_t n)
{
	PyObject *tuple = PyTuple_New((Py_ssize_t)n);

	for (size_t i = 0; tuple && i < n; i++)
		PyTuple_SetItem(tuple, (Py_ssize_t)i, step_text(texts[i]));
	return tuple;
}

/* A tuple of pairs (name, problem). */
static PyObject *task_variants(const struct fh_task_info *t)
{
	PyObject *tuple = PyTuple_New((Py_ssize_t)t->n_variants);

	for (size_t i = 0; tuple && i < t->n_variants; i++)
		PyTuple_SetItem(tuple, (Py_ssize_t)i,
				Py_BuildValue("(NN)", step_text(t->variants[i].name),
						step_text(t->variants[i].problem)));
	return tuple;
}

static PyObject *task_dict(const struct fh_task_info *t)
{
	return Py_BuildValue("{sNsNsNsNsNsNsNsNsNsisdsdsNsNsNsNsNsNsNsNsNsNsN}", "id",
			step_text(t->id), "variant", step_text(t->variant), "problem",
			step_text(t->problem), "variants", task_variants(t), "warnings",
			task_texts(t->warnings, t->n_warnings), "name", step_text(t->name),
			"description", step_text(t->description), "metric", step_text(t->metric),
			"maximize", PyBool_FromLong(t->maximize), "max_steps", t->max_steps,
			"training_timeout_s", t->training_timeout_s, "short_timeout_s",
			t->short_timeout_s, "folder", step_text(t->folder), "grader",
			step_text(t->grader), "submission", step_text(t->submission), "final",
			PyBool_FromLong(t->final), "starter", task_texts(t->starter, t->n_starter),
			"data", task_texts(t->data, t->n_data), "published",
			step_metrics(t->published, t->n_published), "baseline",
			step_metrics(t->baseline, t->n_baseline), "missing",
			task_texts(t->missing, t->n_missing), "comparable",
			PyBool_FromLong(t->comparable), "why_comparable",
			step_text(t->why_comparable));
}

/* Frees the list. Returns its items as a list of dicts, or raises the error if r is negative. */
static PyObject *task_list(int r, struct fh_tasks *tasks, const struct fh_error *err)
{
	const struct fh_task_info *t;
	PyObject *list;

	if (r < 0)
		return errors_raise(err);
	list = PyList_New(0);
	for (size_t i = 0; list && (t = fh_tasks_at(tasks, i)); i++) {
		PyObject *item = task_dict(t);

		if (!item || PyList_Append(list, item) < 0)
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	fh_tasks_free(tasks);
	return list;
}

PyObject *task_tasks(PyObject *module, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "tasks_dir", "state_dir", "mlgym_root", NULL };
	struct fh_gym_options o = FH_GYM_OPTIONS();
	struct fh_error err = FH_ERROR_INIT;
	struct fh_tasks *tasks = NULL;
	int r;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$zzz:tasks", names, &o.tasks_dir,
			    &o.state_dir, &o.mlgym_root))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	r = fh_tasks_list(&o, &tasks, &err);
	Py_END_ALLOW_THREADS;
	return task_list(r, tasks, &err);
}

PyObject *task_describe(PyObject *module, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "task", "variant", "tasks_dir", "state_dir", "mlgym_root",
		"data_seed", NULL };
	struct fh_gym_options o = FH_GYM_OPTIONS();
	struct fh_env_options env = FH_ENV_OPTIONS();
	struct fh_error err = FH_ERROR_INIT;
	struct fh_tasks *tasks = NULL;
	unsigned long long data_seed = 0;
	int r;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|$zzzzO&:describe", names, &env.task,
			    &env.variant, &o.tasks_dir, &o.state_dir, &o.mlgym_root, convert_u64,
			    &data_seed))
		return NULL;
	env.data_seed = data_seed;
	Py_BEGIN_ALLOW_THREADS;
	r = fh_tasks_describe(&o, &env, &tasks, &err);
	Py_END_ALLOW_THREADS;
	return task_list(r, tasks, &err);
}
