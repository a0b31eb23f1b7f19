/* SPDX-License-Identifier: Apache-2.0 */
/* Env: an agent's task as an episode of steps. */
#include "core.h"

#include "env/step.h"

#include <fumehood/aside.h>

#include <errno.h>
#include <string.h>

PyTypeObject *env_type;

bool env_check(struct env_object *self)
{
	if (!self->env || self->closing)
		PyErr_SetString(closed_error, "the environment is closed");
	else if (self->busy)
		PyErr_SetString(state_error, "this environment has a step under way");
	else
		return !self->left || wait_settle(self);
	return false;
}

int env_set_polled(struct env_object *self, bool polled)
{
	struct fh_error err = FH_ERROR_INIT;

	if (self->polled == polled)
		return 0;
	/* Only the thread that polls the gym may do this: there is none now. */
	if (!gym_check_polls(self->gym))
		return -1;
	if (fh_env_set_polled(self->env, polled, &err) < 0) {
		errors_raise(&err);
		return -1;
	}
	self->polled = polled;
	return 0;
}

bool env_check_action(struct env_object *self, PyObject *text, struct fh_action *action)
{
	struct fh_error err = FH_ERROR_INIT;

	action->text = convert_text(text);
	if (!action->text || !env_check(self))
		return false;
	if (step_check_action(self->env, action, &err) < 0)
		errors_raise(&err);
	return err.code == 0;
}

/* --- closing --------------------------------------------------------------------- */

/* Closes the environment. Returns true if the gym is marked as polled, and `closing` is locked. */
static bool env_drop_alone(struct env_object *self)
{
	struct fh_env *env = self->env;
	bool polls; /* another thread must not poll while this one closes a polled environment */

	if (!env)
		return false;
	polls = self->polled && !self->gym->polled;
	self->env = NULL;
	if (polls)
		self->gym->polled = self->gym->closes = true;
	Py_BEGIN_ALLOW_THREADS;
	if (polls)
		pthread_mutex_lock(&self->gym->closing);
	fh_env_close(env);
	Py_END_ALLOW_THREADS;
	self->gym->n_envs--;
	return polls;
}

static void env_drop(struct env_object *self)
{
	if (!env_drop_alone(self))
		return;
	env_end_poll(self->gym);
	self->gym->closes = false;
	pthread_mutex_unlock(&self->gym->closing);
}

static void env_dealloc(struct env_object *self)
{
	PyTypeObject *type = Py_TYPE((PyObject *)self);

	env_drop(self);
	Py_XDECREF((PyObject *)self->gym);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF((PyObject *)type);
}

/* Forgets an operation of start_step() or such. May free self. */
static void env_unstart(struct env_object *self)
{
	self->busy = self->started = self->opening = false;
	self->gym->n_started--;
	Py_DECREF((PyObject *)self);
}

bool env_end_poll(struct gym_object *gym)
{
	struct env_object *env;
	bool any = gym->left != NULL;

	while ((env = gym->left)) {
		gym->left = env->next;
		env_drop_alone(env);
		if (env->started)
			env_unstart(env); /* the list holds another reference */
		Py_DECREF((PyObject *)env);
	}
	gym->polled = false;
	return any;
}

void env_leave(struct env_object *self)
{
	self->busy = false;
	if (self->closing)
		env_drop(self);
}

static PyObject *env_close(struct env_object *self, PyObject *unused)
{
	if (!self->env)
		Py_RETURN_NONE;
	if (self->busy && !self->started) {
		/* The thread whose call is under way closes the environment when that ends. */
		self->closing = true;
		fh_env_interrupt(self->env);
		Py_RETURN_NONE;
	}
	if (self->polled && self->gym->polled) {
		/* The thread that waits for polled environments closes it. */
		if (self->closing)
			Py_RETURN_NONE;
		self->closing = true;
		self->next = self->gym->left;
		self->gym->left = (struct env_object *)Py_NewRef((PyObject *)self);
		Py_RETURN_NONE;
	}
	env_drop(self);
	if (self->started)
		env_unstart(self); /* the caller holds another reference */
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

PyObject *env_raise(const struct env_object *self, const struct fh_error *err)
{
	if (!self->closing)
		return errors_raise(err);
	PyErr_SetString(closed_error, "the environment was closed");
	return NULL;
}

PyObject *env_result(const struct env_object *self, const struct fh_step *step)
{
	const void *data;
	size_t n;

	switch (self->gives) {
	case ENV_GIVES_STEP:
		return step_new(step);
	case ENV_GIVES_NOTHING:
		return Py_NewRef(Py_None);
	case ENV_GIVES_FILE:
		data = fh_env_file(self->env, &n);
		return PyBytes_FromStringAndSize(data, (Py_ssize_t)n);
	}
	return NULL;
}

PyObject *env_started(struct env_object *self)
{
	self->busy = self->started = true;
	self->gym->n_started++;
	Py_INCREF((PyObject *)self);
	Py_RETURN_NONE;
}

PyObject *env_go(struct env_object *self, int r, const struct fh_error *err)
{
	if (r < 0)
		return errors_raise(err);
	return self->polled ? env_started(self) : wait_result(self);
}

bool env_prepare(struct env_object *self, bool polled)
{
	if (!env_check(self) || (polled && !gym_check_polls(self->gym)))
		return false;
	self->gives = ENV_GIVES_STEP;
	return env_set_polled(self, polled) == 0;
}

static PyObject *env_any_reset(
		struct env_object *self, PyObject *args, PyObject *keywords, bool polled)
{
	static char *names[] = { "seed", "judge_salt", NULL };
	struct fh_error err = FH_ERROR_INIT;
	unsigned long long seed = 0, salt = 0;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O&$O&:reset", names, convert_u64, &seed,
			    convert_u64, &salt) ||
			!env_prepare(self, polled))
		return NULL;
	return env_go(self,
			fh_env_reset_start(self->env, &FH_RESET(.seed = seed, .judge_salt = salt),
					&err),
			&err);
}

static PyObject *env_any_step(
		struct env_object *self, PyObject *args, PyObject *keywords, bool polled)
{
	static char *names[] = { "action", "timeout_s", "beside_bytes", NULL };
	struct fh_error err = FH_ERROR_INIT;
	struct fh_action action = FH_ACTION();
	long long beside = 0;
	PyObject *text;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "U|$dO&:step", names, &text,
			    &action.timeout_s, convert_i64, &beside))
		return NULL;
	action.text = convert_text(text);
	action.beside_bytes = beside;
	if (!action.text || !env_prepare(self, polled))
		return NULL;
	return env_go(self, fh_env_step_start(self->env, &action, &err), &err);
}

static PyObject *env_check_step(struct env_object *self, PyObject *args)
{
	struct fh_action action = FH_ACTION();
	PyObject *text;

	if (!PyArg_ParseTuple(args, "Ud:check_step", &text, &action.timeout_s) ||
			!env_check_action(self, text, &action))
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *env_any_score(struct env_object *self,
		int (*start)(struct fh_env *env, struct fh_error *err), bool polled)
{
	struct fh_error err = FH_ERROR_INIT;

	return env_prepare(self, polled) ? env_go(self, start(self->env, &err), &err) : NULL;
}

static PyObject *env_reset(struct env_object *self, PyObject *args, PyObject *keywords)
{
	return env_any_reset(self, args, keywords, false);
}

static PyObject *env_start_reset(struct env_object *self, PyObject *args, PyObject *keywords)
{
	return env_any_reset(self, args, keywords, true);
}

static PyObject *env_step(struct env_object *self, PyObject *args, PyObject *keywords)
{
	return env_any_step(self, args, keywords, false);
}

static PyObject *env_start_step(struct env_object *self, PyObject *args, PyObject *keywords)
{
	return env_any_step(self, args, keywords, true);
}

static PyObject *env_validate(struct env_object *self, PyObject *unused)
{
	return env_any_score(self, fh_env_validate_start, false);
}

static PyObject *env_start_validate(struct env_object *self, PyObject *unused)
{
	return env_any_score(self, fh_env_validate_start, true);
}

static PyObject *env_submit(struct env_object *self, PyObject *unused)
{
	return env_any_score(self, fh_env_submit_start, false);
}

static PyObject *env_start_submit(struct env_object *self, PyObject *unused)
{
	return env_any_score(self, fh_env_submit_start, true);
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
	if (!gym_check_polls(self->gym))
		return NULL;
	r = fh_env_end(self->env, self->opening ? NULL : &step, &err);
	/* An opening may fail with -EBUSY, too. */
	if (r == -EBUSY && fh_env_set_polled(self->env, true, NULL) == -EBUSY)
		return errors_raise(&err);
	result = r < 0 ? errors_raise(&err) : env_result(self, &step);
	if (r < 0 && self->opening)
		env_drop(self);
	env_unstart(self); /* the caller holds another reference */
	return result;
}

static PyObject *env_abandon(struct env_object *self, PyObject *unused)
{
	struct fh_error err = FH_ERROR_INIT;

	if (!self->started)
		Py_RETURN_NONE;
	if (!gym_check_polls(self->gym))
		return NULL;
	if (wait_abandon(self, &err) < 0)
		return errors_raise(&err);
	env_unstart(self); /* the caller holds another reference */
	Py_RETURN_NONE;
}

static PyObject *env_interrupt(struct env_object *self, PyObject *unused)
{
	if (self->env)
		fh_env_interrupt(self->env);
	Py_RETURN_NONE;
}

/* --- facts ----------------------------------------------------------------------------------- */

static PyObject *env_info(struct env_object *self, void *unused)
{
	struct fh_env_info i;

	if (!self->env || self->opening) {
		PyErr_SetString(closed_error, "the environment is not open");
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
	return self->env && !self->opening ? step_text(fh_env_warning(self->env))
					   : Py_NewRef(Py_None);
}

static PyObject *env_get_closed(struct env_object *self, void *unused)
{
	return PyBool_FromLong(!self->env || self->closing);
}

static PyObject *env_get_started(struct env_object *self, void *unused)
{
	return PyBool_FromLong(self->started);
}

/* --- the type -------------------------------------------------------------------------------- */

static PyMethodDef env_methods[] = {
	{ "reset", WITH_KEYWORDS(env_reset),
			"reset(seed=0, *, judge_salt=0)\n--\n\n"
			"Begins a new episode, and ends the last one. Returns its first Step.\n\n"
			"judge_salt: salt of the judges' random numbers in this episode, as a Step\n"
			"recorded it; 0 takes that of the environment." },
	{ "step", WITH_KEYWORDS(env_step),
			"step(action, *, timeout_s=0.0, beside_bytes=0)\n--\n\n"
			"Runs an action: a shell command, or lines of commands. Returns a Step.\n\n"
			"timeout_s: 0 takes the task's own timeout. beside_bytes: bytes that the\n"
			"caller records beside the action; they count for max_text_bytes, as those\n"
			"of a Decision. Failures inside the sandbox are\n"
			"outcomes, not errors. StateError: there is no episode, or it has ended." },
	{ "validate", (PyCFunction)env_validate, METH_NOARGS,
			"validate()\n--\n\nScores the submission, as the agent's `validate` does. "
			"A step." },
	{ "submit", (PyCFunction)env_submit, METH_NOARGS,
			"submit()\n--\n\nScores the submission and ends the episode. A step." },
	{ "interrupt", (PyCFunction)env_interrupt, METH_NOARGS,
			"interrupt()\n--\n\nEnds the running command or scoring. Any thread may "
			"call it." },
	{ "start_open", WITH_KEYWORDS(open_start),
			"start_open(gym, task, **options)\n--\n\n"
			"Starts an opening in place of __init__(): Gym.wait() tells when it has\n"
			"ended. Then end() returns None, or raises its error. close() leaves it." },
	{ "start_reset", WITH_KEYWORDS(env_start_reset),
			"start_reset(seed=0, *, judge_salt=0)\n--\n\nStarts a reset: Gym.wait() tells when it has "
			"ended." },
	{ "start_step", WITH_KEYWORDS(env_start_step),
			"start_step(action, *, timeout_s=0.0, beside_bytes=0)\n--\n\nStarts a step: Gym.wait() tells "
			"when it has ended." },
	{ "check_step", (PyCFunction)env_check_step, METH_VARARGS,
			"check_step(action, timeout_s)\n--\n\n"
			"Raises the error with which start_step() would refuse the action." },
	{ "start_validate", (PyCFunction)env_start_validate, METH_NOARGS,
			"start_validate()\n--\n\nStarts a validate: Gym.wait() tells when it has "
			"ended." },
	{ "start_submit", (PyCFunction)env_start_submit, METH_NOARGS,
			"start_submit()\n--\n\nStarts a submit: Gym.wait() tells when it has ended." },
	{ "end", (PyCFunction)env_end, METH_NOARGS,
			"end()\n--\n\n"
			"Returns the result of what was started: a Step, bytes of a file, or None for\n"
			"an opening or a file that was put. BusyError: it has not ended." },
	{ "abandon", (PyCFunction)env_abandon, METH_NOARGS,
			"abandon()\n--\n\n"
			"Interrupts what was started, and drops its result. The next operation waits\n"
			"for its end. Does nothing if nothing was started." },
	{ "close", (PyCFunction)env_close, METH_NOARGS,
			"close()\n--\n\n"
			"Ends the episode and frees the environment. If another thread has a step\n"
			"under way, or waits for its gym, that thread does so at once." },
	{ "__enter__", env_enter, METH_NOARGS, NULL },
	{ "__exit__", (PyCFunction)env_exit, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef env_getset[] = {
	{ "info", (getter)env_info, NULL, "A dict of facts: task, metric, baseline, ...", NULL },
	{ "warning", (getter)env_get_warning, NULL,
			"A sentence about a likely failure of the episodes, or None.", NULL },
	{ "closed", (getter)env_get_closed, NULL, "True after close().", NULL },
	{ "started", (getter)env_get_started, NULL,
			"True from start_step() and others to end() or close().", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot env_slots[] = {
	{ Py_tp_doc, "An environment of a gym: see fumehood.Env." },
	{ Py_tp_init, open_env },
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
