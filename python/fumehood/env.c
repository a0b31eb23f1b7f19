/* SPDX-License-Identifier: Apache-2.0 */
/* Env: an agent's task as an episode of steps. */
#include "core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

PyTypeObject *env_type;

bool env_check(const struct env_object *self)
{
	if (!self->env)
		PyErr_SetString(closed_error, "the environment is closed");
	else if (self->busy)
		PyErr_SetString(state_error, "this environment has a step under way");
	else
		return gym_check(self->gym);
	return false;
}

const char *env_text(PyObject *text)
{
	Py_ssize_t n;
	const char *s;

	if (!PyUnicode_Check(text)) {
		PyErr_Format(PyExc_TypeError, "expected str, not %R", (PyObject *)Py_TYPE(text));
		return NULL;
	}
	s = PyUnicode_AsUTF8AndSize(text, &n);
	if (s && strlen(s) != (size_t)n) {
		PyErr_SetString(PyExc_ValueError, "the text holds a NUL character");
		return NULL;
	}
	return s;
}

/* --- opening and closing --------------------------------------------------------------------- */

static int env_reward_kind(const char *word, enum fh_reward_kind *out)
{
	static const char *const words[] = { "delta", "improvement", "none" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i], word) == 0) {
			*out = (enum fh_reward_kind)i;
			return 0;
		}
	PyErr_Format(input_error, "no reward '%s': there are delta, improvement and none", word);
	return -1;
}

/* Binds of a sequence of (source, target) pairs. The texts live as long as the sequence. */
static int env_binds(PyObject *list, struct fh_bind **out, size_t *out_n)
{
	Py_ssize_t n = list == Py_None ? 0 : PySequence_Size(list);
	struct fh_bind *binds = NULL;

	if (n > 0)
		binds = calloc((size_t)n, sizeof(*binds));
	for (Py_ssize_t i = 0; binds && i < n; i++) {
		PyObject *pair = PySequence_GetItem(list, i);
		bool ok = pair && PyTuple_Check(pair) &&
				PyArg_ParseTuple(pair, "ss", &binds[i].source, &binds[i].target);

		Py_XDECREF(pair); /* the list still holds it */
		if (!ok) {
			PyErr_SetString(PyExc_TypeError, "binds are tuples (source, target)");
			free(binds);
			return -1;
		}
	}
	*out = binds;
	*out_n = binds ? (size_t)n : 0;
	return n < 0 ? -1 : 0;
}

static int env_init(struct env_object *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "gym", "task", "variant", "reward", "max_steps", "binds", "python",
		"memory", "memory_file", "web_hosts", "judge_salt", "max_text_bytes", "gpus",
		"data_seed", NULL };
	struct fh_env_options o = FH_ENV_OPTIONS();
	struct fh_error err = FH_ERROR_INIT;
	unsigned long long salt = 0, data_seed = 0;
	long long text_bytes = 0;
	const char *reward = "delta";
	struct fh_bind *binds = NULL;
	PyObject *list = Py_None;
	struct gym_object *gym;
	Py_ssize_t n_gpus = 0;
	int r, memory = 0;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!s|$zsiOzpzzKLnK:Env", names, gym_type,
			    &gym, &o.task, &o.variant, &reward, &o.max_steps, &list, &o.python,
			    &memory, &o.memory_file, &o.web_hosts, &salt, &text_bytes, &n_gpus,
			    &data_seed))
		return -1;
	if (self->env) {
		PyErr_SetString(state_error, "the environment is open");
		return -1;
	}
	if (!gym->gym) {
		PyErr_SetString(closed_error, "the gym is closed");
		return -1;
	}
	if (env_reward_kind(reward, &o.reward) < 0 || env_binds(list, &binds, &o.n_binds) < 0)
		return -1;
	o.binds = binds;
	o.memory = memory;
	o.judge_salt = salt;
	o.max_text_bytes = text_bytes;
	o.n_gpus = n_gpus < 0 ? SIZE_MAX : (size_t)n_gpus;
	o.data_seed = data_seed;
	o.polled = true;
	gym->n_envs++;
	Py_BEGIN_ALLOW_THREADS;
	r = fh_env_open(gym->gym, &o, &self->env, &err);
	Py_END_ALLOW_THREADS;
	free(binds);
	if (r < 0) {
		gym->n_envs--;
		errors_raise(&err);
		return -1;
	}
	self->gym = (struct gym_object *)Py_NewRef((PyObject *)gym);
	return 0;
}

/* Forgets an operation of start_step() or such. May free self. `env`: address of its fh_env. */
static void env_unstart(struct env_object *self, struct fh_env *env)
{
	PyObject *key = PyLong_FromVoidPtr(env);

	self->busy = self->started = false;
	if (!key || PyDict_DelItem(self->gym->started, key) < 0)
		PyErr_Clear();
	Py_XDECREF(key);
}

static void env_drop(struct env_object *self)
{
	struct fh_env *env = self->env;

	if (!env)
		return;
	self->env = NULL;
	Py_BEGIN_ALLOW_THREADS;
	fh_env_close(env);
	Py_END_ALLOW_THREADS;
	self->gym->n_envs--;
}

static void env_dealloc(struct env_object *self)
{
	PyTypeObject *type = Py_TYPE((PyObject *)self);

	env_drop(self);
	Py_XDECREF((PyObject *)self->gym);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF((PyObject *)type);
}

static PyObject *env_close(struct env_object *self, PyObject *unused)
{
	struct fh_env *env = self->env;
	bool started = self->started;

	if (env && !(started ? gym_check(self->gym) : env_check(self)))
		return NULL;
	env_drop(self);
	if (started)
		env_unstart(self, env); /* the caller holds another reference */
	Py_RETURN_NONE;
}

static PyObject *env_enter(PyObject *self, PyObject *unused)
{
	return Py_NewRef(self);
}

static PyObject *env_exit(struct env_object *self, PyObject *args)
{
	return env_close(self, NULL);
}

/* --- steps ----------------------------------------------------------------------------------- */

/*
 * Waits until what was started has ended, and returns its Step. If a signal's handler raises, the
 * operation is interrupted, its result is dropped and the exception goes on.
 */
static PyObject *env_finish(struct env_object *self)
{
	PyObject *type = NULL, *value = NULL, *trace = NULL;
	struct fh_error err = FH_ERROR_INIT;
	struct fh_env *done;
	struct fh_step step;
	int r;

	self->busy = self->gym->polled = true;
	do {
		Py_BEGIN_ALLOW_THREADS;
		r = fh_gym_wait(self->gym->gym, SIGNALS_MS, &done, 1, &err);
		Py_END_ALLOW_THREADS;
		if (r == 0 && !type && PyErr_CheckSignals() < 0) {
			PyErr_Fetch(&type, &value, &trace);
			fh_env_interrupt(self->env);
		}
	} while (r == 0);
	if (r > 0)
		r = fh_env_end(self->env, &step, &err);
	self->busy = self->gym->polled = false;
	if (type) {
		PyErr_Restore(type, value, trace);
		return NULL;
	}
	return r < 0 ? errors_raise(&err) : step_new(&step);
}

/* As env_check(). Also fails if the gym has operations of start_step() or such under way. */
static bool env_check_alone(const struct env_object *self)
{
	if (!env_check(self))
		return false;
	if (PyDict_Size(self->gym->started) == 0)
		return true;
	PyErr_SetString(state_error,
			"started operations of this gym have not ended: call wait() and "
			"end()");
	return false;
}

/* Fills an action from step()'s arguments. The text lives as long as they do. */
static int env_action(PyObject *args, PyObject *keywords, struct fh_action *out)
{
	static char *names[] = { "action", "timeout_s", NULL };
	PyObject *text;

	if (!PyArg_ParseTupleAndKeywords(
			    args, keywords, "U|$d:step", names, &text, &out->timeout_s))
		return -1;
	out->text = env_text(text);
	return out->text ? 0 : -1;
}

static int env_seed(PyObject *args, PyObject *keywords, unsigned long long *out)
{
	static char *names[] = { "seed", NULL };
	PyObject *seed = NULL;

	*out = 0;
	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O!:reset", names, &PyLong_Type, &seed))
		return -1;
	if (seed)
		*out = PyLong_AsUnsignedLongLong(seed);
	return PyErr_Occurred() ? -1 : 0;
}

static PyObject *env_reset(struct env_object *self, PyObject *args, PyObject *keywords)
{
	struct fh_error err = FH_ERROR_INIT;
	unsigned long long seed;

	if (env_seed(args, keywords, &seed) < 0 || !env_check_alone(self))
		return NULL;
	if (fh_env_reset_start(self->env, &FH_RESET(.seed = seed), &err) < 0)
		return errors_raise(&err);
	return env_finish(self);
}

static PyObject *env_step(struct env_object *self, PyObject *args, PyObject *keywords)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_action action = FH_ACTION();

	if (env_action(args, keywords, &action) < 0 || !env_check_alone(self))
		return NULL;
	if (fh_env_step_start(self->env, &action, &err) < 0)
		return errors_raise(&err);
	return env_finish(self);
}

static PyObject *env_score(
		struct env_object *self, int (*start)(struct fh_env *env, struct fh_error *err))
{
	struct fh_error err = FH_ERROR_INIT;

	if (!env_check_alone(self))
		return NULL;
	return start(self->env, &err) < 0 ? errors_raise(&err) : env_finish(self);
}

static PyObject *env_validate(struct env_object *self, PyObject *unused)
{
	return env_score(self, fh_env_validate_start);
}

static PyObject *env_submit(struct env_object *self, PyObject *unused)
{
	return env_score(self, fh_env_submit_start);
}

static PyObject *env_interrupt(struct env_object *self, PyObject *unused)
{
	if (self->env)
		fh_env_interrupt(self->env);
	Py_RETURN_NONE;
}

/* --- steps of many environments -------------------------------------------------------------- */

/* Notes an operation as started. The gym's reference keeps the environment open until it ends. */
static PyObject *env_started(struct env_object *self, int r, const struct fh_error *err)
{
	PyObject *key;

	if (r < 0)
		return errors_raise(err);
	self->busy = self->started = true;
	key = PyLong_FromVoidPtr(self->env);
	r = key ? PyDict_SetItem(self->gym->started, key, (PyObject *)self) : -1;
	Py_XDECREF(key);
	return r < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *env_start_reset(struct env_object *self, PyObject *args, PyObject *keywords)
{
	struct fh_error err = FH_ERROR_INIT;
	unsigned long long seed;

	if (env_seed(args, keywords, &seed) < 0 || !env_check(self))
		return NULL;
	return env_started(
			self, fh_env_reset_start(self->env, &FH_RESET(.seed = seed), &err), &err);
}

static PyObject *env_start_step(struct env_object *self, PyObject *args, PyObject *keywords)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_action action = FH_ACTION();

	if (env_action(args, keywords, &action) < 0 || !env_check(self))
		return NULL;
	return env_started(self, fh_env_step_start(self->env, &action, &err), &err);
}

static PyObject *env_start_validate(struct env_object *self, PyObject *unused)
{
	struct fh_error err = FH_ERROR_INIT;

	if (!env_check(self))
		return NULL;
	return env_started(self, fh_env_validate_start(self->env, &err), &err);
}

static PyObject *env_start_submit(struct env_object *self, PyObject *unused)
{
	struct fh_error err = FH_ERROR_INIT;

	if (!env_check(self))
		return NULL;
	return env_started(self, fh_env_submit_start(self->env, &err), &err);
}

static PyObject *env_end(struct env_object *self, PyObject *unused)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_step step;
	PyObject *result;
	int r;

	if (!self->env || !self->started) {
		PyErr_SetString(state_error, "nothing was started in this environment");
		return NULL;
	}
	r = fh_env_end(self->env, &step, &err);
	if (r == -EBUSY)
		return errors_raise(&err);
	result = r < 0 ? errors_raise(&err) : step_new(&step);
	env_unstart(self, self->env);
	return result;
}

/* --- facts ----------------------------------------------------------------------------------- */

static PyObject *env_info(struct env_object *self, void *unused)
{
	struct fh_env_info i;

	if (!self->env) {
		PyErr_SetString(closed_error, "the environment is closed");
		return NULL;
	}
	fh_env_info(self->env, &i);
	return Py_BuildValue("{sNsNsNsNsNsNsNsisdsNsNsNsKsN}", "task", step_text(i.task), "variant",
			step_text(i.variant), "name", step_text(i.name), "description",
			step_text(i.description), "metric", step_text(i.metric), "maximize",
			PyBool_FromLong(i.maximize), "submission", step_text(i.submission),
			"max_steps", i.max_steps, "training_timeout_s", i.training_timeout_s,
			"task_hash", step_text(i.task_hash), "fingerprint",
			step_text(i.fingerprint), "baseline",
			step_metrics(i.baseline, i.n_baseline), "data_seed",
			(unsigned long long)i.data_seed, "final", PyBool_FromLong(i.final));
}

static PyObject *env_get_warning(struct env_object *self, void *unused)
{
	return self->env ? step_text(fh_env_warning(self->env)) : Py_NewRef(Py_None);
}

static PyObject *env_get_closed(struct env_object *self, void *unused)
{
	return PyBool_FromLong(!self->env);
}

/* --- the type -------------------------------------------------------------------------------- */

static PyMethodDef env_methods[] = {
	{ "reset", WITH_KEYWORDS(env_reset),
			"reset(seed=0)\n--\n\n"
			"Begins a new episode, and ends the last one. Returns its first Step." },
	{ "step", WITH_KEYWORDS(env_step),
			"step(action, *, timeout_s=0.0)\n--\n\n"
			"Runs an action: a shell command, or lines of commands. Returns a Step.\n\n"
			"timeout_s: 0 takes the task's own timeout. Failures inside the sandbox are\n"
			"outcomes, not errors. StateError: there is no episode, or it has ended." },
	{ "validate", (PyCFunction)env_validate, METH_NOARGS,
			"validate()\n--\n\nScores the submission, as the agent's `validate` does. "
			"A step." },
	{ "submit", (PyCFunction)env_submit, METH_NOARGS,
			"submit()\n--\n\nScores the submission and ends the episode. A step." },
	{ "interrupt", (PyCFunction)env_interrupt, METH_NOARGS,
			"interrupt()\n--\n\nEnds the running command or scoring. Any thread may "
			"call it." },
	{ "start_reset", WITH_KEYWORDS(env_start_reset),
			"start_reset(seed=0)\n--\n\nStarts a reset: Gym.wait() tells when it has "
			"ended." },
	{ "start_step", WITH_KEYWORDS(env_start_step),
			"start_step(action, *, timeout_s=0.0)\n--\n\nStarts a step: Gym.wait() tells "
			"when it has ended." },
	{ "start_validate", (PyCFunction)env_start_validate, METH_NOARGS,
			"start_validate()\n--\n\nStarts a validate: Gym.wait() tells when it has "
			"ended." },
	{ "start_submit", (PyCFunction)env_start_submit, METH_NOARGS,
			"start_submit()\n--\n\nStarts a submit: Gym.wait() tells when it has ended." },
	{ "end", (PyCFunction)env_end, METH_NOARGS,
			"end()\n--\n\nReturns the Step of what was started. BusyError: it has not "
			"ended." },
	{ "close", (PyCFunction)env_close, METH_NOARGS,
			"close()\n--\n\nEnds the episode and frees the environment." },
	{ "__enter__", env_enter, METH_NOARGS, NULL },
	{ "__exit__", (PyCFunction)env_exit, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef env_getset[] = {
	{ "info", (getter)env_info, NULL, "A dict of facts: task, metric, baseline, ...", NULL },
	{ "warning", (getter)env_get_warning, NULL,
			"A sentence about a likely failure of the episodes, or None.", NULL },
	{ "closed", (getter)env_get_closed, NULL, "True after close().", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot env_slots[] = {
	{ Py_tp_doc, "An environment of a gym: see fumehood.Env." },
	{ Py_tp_init, env_init },
	{ Py_tp_dealloc, env_dealloc },
	{ Py_tp_methods, env_methods },
	{ Py_tp_getset, env_getset },
	{ 0, NULL },
};

static PyType_Spec env_spec = {
	"fumehood._core.Env",
	sizeof(struct env_object),
	0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	env_slots,
};

int env_type_make(PyObject *module)
{
	env_type = (PyTypeObject *)PyType_FromSpec(&env_spec);
	if (!env_type)
		return -1;
	return PyModule_AddObjectRef(module, "Env", (PyObject *)env_type);
}
