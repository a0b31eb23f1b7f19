/* SPDX-License-Identifier: Apache-2.0 */
/* Gym: what the environments of a process share. */
#include "core.h"

#include "base/error.h"
#include "base/path.h"

#include <errno.h>

PyTypeObject *gym_type;

bool gym_check(const struct gym_object *self)
{
	if (!self->gym)
		PyErr_SetString(closed_error, "the gym is closed");
	return self->gym != NULL;
}

bool gym_check_polls(struct gym_object *self)
{
	while (self->closes) {
		Py_BEGIN_ALLOW_THREADS;
		pthread_mutex_lock(&self->closing);
		pthread_mutex_unlock(&self->closing);
		Py_END_ALLOW_THREADS;
	}
	if (self->polled)
		PyErr_SetString(state_error, "another thread waits for this gym's environments");
	return !self->polled && gym_check(self);
}

/* Checks the folder of more tasks, which is first read when a task is opened. */
static int gym_check_folder(const char *tasks_dir)
{
	struct fh_error err = FH_ERROR_INIT;

	if (!tasks_dir || path_is_dir(tasks_dir))
		return 0;
	error_say(&err, ENOENT, "there is no folder '%s' of tasks", tasks_dir);
	errors_raise(&err);
	return -1;
}

static int gym_init(struct gym_object *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "tasks_dir", "state_dir", "mlgym_root", "gpus", NULL };
	struct fh_gym_options o = FH_GYM_OPTIONS();
	struct fh_error err = FH_ERROR_INIT;
	long long n_gpus = 0;
	int r;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$zzzO&:Gym", names, &o.tasks_dir,
			    &o.state_dir, &o.mlgym_root, convert_i64, &n_gpus))
		return -1;
	if (self->gym || n_gpus < 0) {
		PyErr_SetString(input_error,
				self->gym ? "the gym is open" : "gpus should be 0 or more");
		return -1;
	}
	if (gym_check_folder(o.tasks_dir) < 0)
		return -1;
	o.n_gpus = (size_t)n_gpus;
	pthread_mutex_init(&self->closing, NULL);
	Py_BEGIN_ALLOW_THREADS;
	r = fh_gym_open(&o, &self->gym, &err);
	Py_END_ALLOW_THREADS;
	if (r < 0)
		errors_raise(&err);
	return r < 0 ? -1 : 0;
}

static PyObject *gym_close(struct gym_object *self, PyObject *unused)
{
	struct fh_gym *gym = self->gym;

	if (!gym)
		Py_RETURN_NONE;
	if (!gym_check_polls(self))
		return NULL;
	if (self->n_envs > 0)
		return PyErr_Format(state_error, "close its %zd environment%s first", self->n_envs,
				self->n_envs == 1 ? "" : "s");
	self->gym = NULL;
	Py_BEGIN_ALLOW_THREADS;
	fh_gym_close(gym);
	Py_END_ALLOW_THREADS;
	Py_RETURN_NONE;
}

static PyObject *gym_enter(PyObject *self, PyObject *unused)
{
	return Py_NewRef(self);
}

static PyObject *gym_exit(struct gym_object *self, PyObject *args)
{
	return gym_close(self, NULL);
}

static void gym_dealloc(struct gym_object *self)
{
	PyTypeObject *type = Py_TYPE((PyObject *)self);

	Py_BEGIN_ALLOW_THREADS;
	fh_gym_close(self->gym);
	Py_END_ALLOW_THREADS;
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF((PyObject *)type);
}

static PyObject *gym_hide(struct gym_object *self, PyObject *folder)
{
	const char *path = convert_text(folder);
	struct fh_error err = FH_ERROR_INIT;

	if (!path || !gym_check(self))
		return NULL;
	return fh_gym_hide(self->gym, path, &err) < 0 ? errors_raise(&err) : Py_NewRef(Py_None);
}

static PyObject *gym_get_warning(struct gym_object *self, void *unused)
{
	return gym_check(self) ? step_text(fh_gym_warning(self->gym)) : NULL;
}

static PyObject *gym_get_closed(struct gym_object *self, void *unused)
{
	return PyBool_FromLong(!self->gym);
}

static PyMethodDef gym_methods[] = {
	{ "close", (PyCFunction)gym_close, METH_NOARGS,
			"close()\n--\n\nCloses the gym. Close its environments first." },
	{ "hide", (PyCFunction)gym_hide, METH_O,
			"hide(folder)\n--\n\n"
			"Hides a folder from episodes that are reset from now on." },
	{ "step_many", WITH_KEYWORDS(many_step),
			"step_many(envs, actions, *, timeout_s=0.0)\n--\n\n"
			"Runs an action in each environment, all at once. Returns a list of Steps\n"
			"in the order of envs, a list as long as actions. If an action can't run,\n"
			"its error is raised, and none runs." },
	{ "reset_many", WITH_KEYWORDS(many_reset),
			"reset_many(envs, seeds)\n--\n\n"
			"Begins a new episode in each environment, all at once. Returns a list of\n"
			"Steps." },
	{ "wait", (PyCFunction)many_wait, METH_VARARGS,
			"wait(timeout_s=-1.0)\n--\n\n"
			"Waits for operations that start_step() and others started. Returns the\n"
			"environments whose operation has ended; call end() of each. The list is\n"
			"empty after timeout_s seconds, which is never if it is negative, and when\n"
			"another thread has closed an environment." },
	{ "fileno", (PyCFunction)many_fileno, METH_NOARGS,
			"fileno()\n--\n\n"
			"A descriptor that becomes readable when wait() has something to do, if\n"
			"the last wait(0.0) returned an empty list." },
	{ "__enter__", gym_enter, METH_NOARGS, NULL },
	{ "__exit__", (PyCFunction)gym_exit, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef gym_getset[] = {
	{ "warning", (getter)gym_get_warning, NULL,
			"A sentence about limits that this machine can't enforce, or None.", NULL },
	{ "closed", (getter)gym_get_closed, NULL, "True after close().", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot gym_slots[] = {
	{ Py_tp_doc,
			"Gym(*, tasks_dir=None, state_dir=None, mlgym_root=None, gpus=0)\n--\n\n"
			"What the environments of a process share: helpers, loaded tasks, baselines.\n\n"
			"tasks_dir: folder of more tasks. state_dir: folder for baselines and data.\n"
			"mlgym_root: a checkout of MLGym. gpus: number of GPUs to lease.\n"
			"Any thread may use it, but one alone what is started: wait(), step_many().\n"
			"After a fork, open another one in the child." },
	{ Py_tp_init, gym_init },
	{ Py_tp_dealloc, gym_dealloc },
	{ Py_tp_methods, gym_methods },
	{ Py_tp_getset, gym_getset },
	{ 0, NULL },
};

static PyType_Spec gym_spec = {
	"fumehood.Gym",
	sizeof(struct gym_object),
	0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	gym_slots,
};

int gym_type_make(PyObject *module)
{
	gym_type = (PyTypeObject *)PyType_FromSpec(&gym_spec);
	if (!gym_type)
		return -1;
	return PyModule_AddObjectRef(module, "Gym", (PyObject *)gym_type);
}
