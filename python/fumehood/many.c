/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of many environments at once, by one thread: the pollable form of the C API.
 *
 * step_many() and reset_many() start an operation in each environment and wait for all of them.
 * wait() gives the environments whose started operation has ended, as they end.
 */
#include "core.h"

#include <math.h>
#include <stdlib.h>

/* An environment's part of a batch. */
struct many_entry {
	struct env_object *env;
	struct fh_action action; /* text NULL: a reset */
	uint64_t seed;
	struct fh_step step;
	bool started; /* the operation has begun, and has not ended */
};

struct many {
	struct gym_object *gym;
	struct many_entry *entries;
	Py_ssize_t n;
	struct fh_error err;             /* error of the first that failed; code 0: none */
	const struct env_object *failed; /* the environment with this error; NULL: none has it */
};

/* Takes the environments of a list. Returns 0, or -1 with an exception. */
static int many_init(struct many *m, struct gym_object *gym, PyObject *envs)
{
	m->gym = gym;
	m->n = PyList_Size(envs);
	m->entries = calloc((size_t)m->n + 1, sizeof(*m->entries));
	if (!m->entries) {
		PyErr_NoMemory();
		return -1;
	}
	for (Py_ssize_t i = 0; i < m->n; i++) {
		struct env_object *env = (struct env_object *)PyList_GetItem(envs, i);

		if (!PyObject_TypeCheck((PyObject *)env, env_type) || env->gym != gym) {
			PyErr_SetString(PyExc_TypeError, "expected environments of this gym");
			return -1;
		}
		if (!env_check(env))
			return -1;
		m->entries[i].env = env;
	}
	return 0;
}

/* Begins all operations, or those before the first that fails. Returns their number. */
static Py_ssize_t many_start(struct many *m)
{
	for (Py_ssize_t i = 0; i < m->n; i++) {
		struct many_entry *e = &m->entries[i];
		struct fh_env *env = e->env->env;
		int r = e->action.text
				? fh_env_step_start(env, &e->action, &m->err)
				: fh_env_reset_start(env, &FH_RESET(.seed = e->seed), &m->err);

		if (r < 0) {
			m->failed = e->env;
			return i;
		}
		e->started = true;
	}
	return m->n;
}

static void many_end(struct many *m, struct fh_env *const *done, int n)
{
	for (int i = 0; i < n; i++) {
		struct fh_error err = FH_ERROR_INIT;
		/* It is in the batch: no other was started. */
		const struct env_object *env = fh_env_user(done[i]);

		if (fh_env_end(done[i], &env->entry->step, &err) < 0 && m->err.code == 0) {
			m->err = err;
			m->failed = env;
		}
		env->entry->started = false;
	}
}

static void many_abandon(struct many *m)
{
	for (Py_ssize_t i = 0; i < m->n; i++)
		if (m->entries[i].started)
			wait_abandon(m->entries[i].env, NULL);
}

/*
 * Begins all and waits for all. If a signal's handler raises, those under way are abandoned.
 * Returns 0, or -1 with the exception of that handler.
 */
static int many_run(struct many *m)
{
	struct fh_env *done[DONE_MAX];
	Py_ssize_t left;
	int n = 0, r = 0;

	Py_BEGIN_ALLOW_THREADS;
	left = many_start(m);
	Py_END_ALLOW_THREADS;
	while (left > 0 && n >= 0 && r == 0) {
		Py_BEGIN_ALLOW_THREADS;
		n = fh_gym_wait(m->gym->gym, SIGNALS_MS, done, DONE_MAX, &m->err);
		if (n > 0)
			many_end(m, done, n);
		Py_END_ALLOW_THREADS;
		left -= n > 0 ? n : 0;
		r = PyErr_CheckSignals();
	}
	many_abandon(m);
	return r;
}

/* Returns the list of Steps, or NULL with the first error of an environment. */
static PyObject *many_result(const struct many *m)
{
	PyObject *list;

	if (m->err.code < 0)
		return m->failed ? env_raise(m->failed, &m->err) : errors_raise(&m->err);
	list = PyList_New(m->n);
	for (Py_ssize_t i = 0; list && i < m->n; i++) {
		PyObject *step = step_new(&m->entries[i].step);

		if (!step)
			Py_CLEAR(list);
		else
			PyList_SetItem(list, i, step);
	}
	return list;
}

/* Marks the first n environments of a batch as in use no more. */
static void many_leave(struct many *m, Py_ssize_t n)
{
	for (Py_ssize_t i = 0; i < n; i++) {
		m->entries[i].env->entry = NULL;
		env_leave(m->entries[i].env);
	}
	env_end_poll(m->gym);
}

/* Marks the environments of a batch as in use. An environment can't be in it twice. */
static int many_enter(struct many *m)
{
	for (Py_ssize_t i = 0; i < m->n; i++) {
		struct env_object *env = m->entries[i].env;

		if (env->busy)
			PyErr_SetString(input_error, "an environment is given twice");
		if (env->busy || env_set_polled(env, true) < 0) {
			many_leave(m, i);
			return -1;
		}
		env->busy = true;
		env->entry = &m->entries[i];
	}
	m->gym->polled = true;
	return 0;
}

static PyObject *many_play(struct many *m)
{
	PyObject *result = NULL;

	if (m->gym->n_started > 0) {
		PyErr_SetString(state_error,
				"operations of start_step() or start_reset() have "
				"not ended: call wait() and end()");
		return NULL;
	}
	if (many_enter(m) < 0)
		return NULL;
	if (many_run(m) == 0)
		result = many_result(m);
	many_leave(m, m->n);
	return result;
}

static int many_set_action(struct many_entry *e, PyObject *action, double timeout_s)
{
	e->action = FH_ACTION(.timeout_s = timeout_s);
	return env_check_action(e->env, action, &e->action) ? 0 : -1;
}

static int many_set_seed(struct many_entry *e, PyObject *seed)
{
	unsigned long long number;

	if (!convert_u64(seed, &number))
		return -1;
	e->seed = number;
	return 0;
}

/* Plays a batch: `values` are the actions, or the seeds if `resets`. */
static PyObject *many_call(struct gym_object *gym, PyObject *envs, PyObject *values, bool resets,
		double timeout_s)
{
	struct many m = { 0 };
	PyObject *result = NULL;
	int r;

	if (!gym_check_polls(gym))
		return NULL;
	if (PyList_Size(envs) != PyList_Size(values))
		return PyErr_Format(PyExc_ValueError, "%zd environments, but %zd values",
				PyList_Size(envs), PyList_Size(values));
	r = many_init(&m, gym, envs);
	for (Py_ssize_t i = 0; r == 0 && i < m.n; i++)
		r = resets ? many_set_seed(&m.entries[i], PyList_GetItem(values, i))
			   : many_set_action(&m.entries[i], PyList_GetItem(values, i), timeout_s);
	if (r == 0)
		result = many_play(&m);
	free(m.entries);
	return result;
}

PyObject *many_step(struct gym_object *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "envs", "actions", "timeout_s", NULL };
	PyObject *envs, *actions;
	double timeout_s = 0;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!|$d:step_many", names, &PyList_Type,
			    &envs, &PyList_Type, &actions, &timeout_s))
		return NULL;
	return many_call(self, envs, actions, false, timeout_s);
}

PyObject *many_reset(struct gym_object *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "envs", "seeds", NULL };
	PyObject *envs, *seeds;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!:reset_many", names, &PyList_Type,
			    &envs, &PyList_Type, &seeds))
		return NULL;
	return many_call(self, envs, seeds, true, 0);
}

/* --- environments one by one ----------------------------------------------------------------- */

/*
 * Waits in slices of SIGNALS_MS. Returns the number of environments, or -1 with an exception. If
 * there are any, the gym is still marked as polled. Returns 0 early if another thread closed an
 * environment.
 */
static int many_wait_some(struct gym_object *self, double timeout_s, struct fh_env **done)
{
	struct fh_error err = FH_ERROR_INIT;
	double left_ms = timeout_s < 0 ? INFINITY : timeout_s * 1000;
	bool closed = false;
	int n;

	do {
		int slice_ms = left_ms < SIGNALS_MS ? (int)left_ms : SIGNALS_MS;

		self->polled = true;
		Py_BEGIN_ALLOW_THREADS;
		n = fh_gym_wait(self->gym, slice_ms, done, DONE_MAX, &err);
		Py_END_ALLOW_THREADS;
		if (n > 0) /* Python looks for signals itself */
			break;
		closed = env_end_poll(self);
		if (n < 0)
			errors_raise(&err);
		else if (PyErr_CheckSignals() < 0)
			n = -1;
		left_ms -= SIGNALS_MS;
	} while (n == 0 && !closed && left_ms > 0);
	return n;
}

PyObject *many_wait(struct gym_object *self, PyObject *args)
{
	struct fh_env *done[DONE_MAX];
	double timeout_s = -1;
	PyObject *list;
	int n;

	if (!PyArg_ParseTuple(args, "|d:wait", &timeout_s) || !gym_check_polls(self))
		return NULL;
	if (timeout_s < 0 && self->n_started == 0) {
		PyErr_SetString(state_error, "nothing was started, so nothing can end");
		return NULL;
	}
	n = many_wait_some(self, timeout_s, done);
	if (n < 0)
		return NULL;
	list = PyList_New(n);
	for (int i = 0; list && i < n; i++)
		PyList_SetItem(list, i, Py_NewRef((PyObject *)fh_env_user(done[i])));
	if (n > 0)
		env_end_poll(self); /* `done` lives until here */
	return list;
}

PyObject *many_fileno(struct gym_object *self, PyObject *unused)
{
	return gym_check(self) ? PyLong_FromLong(fh_gym_lazy_fd(self->gym)) : NULL;
}
