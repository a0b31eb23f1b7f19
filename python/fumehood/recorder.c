/* SPDX-License-Identifier: Apache-2.0 */
/* Recorder: the record of an episode that the caller plays. Calls write, so they release the
 * GIL. */
#include "agents.h"

PyTypeObject *recorder_type;

bool recorder_check(const struct recorder_object *self)
{
	if (self->closed || !self->recorder)
		PyErr_SetString(closed_error, "the recorder is closed");
	else if (self->busy)
		PyErr_SetString(state_error, "another thread uses this recorder");
	else
		return true;
	return false;
}

static int recorder_init(struct recorder_object *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "env", "seed", "out", "model", "agent", "temperature", "top_p",
		"suffix", "policy_step", NULL };
	struct fh_recorder_options o = FH_RECORDER_OPTIONS();
	struct fh_error err = FH_ERROR_INIT;
	PyObject *agent = Py_None, *policy_step = Py_None;
	unsigned long long seed = 0;
	long long number = 0;
	struct env_object *env;
	int r;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!|O&$zzOddzO:Recorder", names, env_type,
			    &env, convert_u64, &seed, &o.out, &o.model, &agent, &o.temperature,
			    &o.top_p, &o.suffix, &policy_step))
		return -1;
	if (agent != Py_None && !PyObject_TypeCheck(agent, agent_type)) {
		PyErr_SetString(PyExc_TypeError, "agent is not an Agent");
		return -1;
	}
	o.has_policy_step = policy_step != Py_None;
	if (o.has_policy_step && !convert_i64(policy_step, &number))
		return -1;
	o.policy_step = number;
	if (!env_check(env))
		return -1;
	if (self->recorder || self->closed) {
		PyErr_SetString(state_error, "the recorder is open");
		return -1;
	}
	o.env = env->env;
	o.seed = seed;
	o.agent = agent == Py_None ? NULL : ((struct agent_object *)agent)->agent;
	env->busy = true; /* nobody may close it meanwhile */
	Py_BEGIN_ALLOW_THREADS;
	r = fh_recorder_open(&o, &self->recorder, &err);
	Py_END_ALLOW_THREADS;
	env_leave(env);
	if (r < 0) {
		errors_raise(&err);
		return -1;
	}
	self->env = (struct env_object *)Py_NewRef((PyObject *)env);
	return 0;
}

static void recorder_free(struct recorder_object *self)
{
	struct fh_recorder *recorder = self->recorder;

	self->recorder = NULL;
	Py_BEGIN_ALLOW_THREADS;
	fh_recorder_close(recorder);
	Py_END_ALLOW_THREADS;
}

void recorder_leave(struct recorder_object *self)
{
	self->n_chats--;
	if (self->closed && self->n_chats == 0)
		recorder_free(self);
}

static void recorder_dealloc(struct recorder_object *self)
{
	PyTypeObject *type = Py_TYPE((PyObject *)self);

	recorder_free(self);
	Py_XDECREF((PyObject *)self->env);
	Py_XDECREF(self->folder);
	Py_XDECREF(self->traj);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF((PyObject *)type);
}

static PyObject *recorder_close(struct recorder_object *self, PyObject *unused)
{
	if (self->closed)
		Py_RETURN_NONE;
	if (self->recorder && !recorder_check(self))
		return NULL;
	if (self->recorder) {
		self->folder = step_text(fh_recorder_folder(self->recorder));
		self->traj = step_text(fh_recorder_traj(self->recorder));
	}
	self->closed = true;
	if (self->n_chats == 0)
		recorder_free(self);
	Py_RETURN_NONE;
}

static PyObject *recorder_done(int r, const struct fh_error *err)
{
	return r < 0 ? errors_raise(err) : Py_NewRef(Py_None);
}

static PyObject *recorder_reset(struct recorder_object *self, PyObject *step)
{
	struct fh_error err = FH_ERROR_INIT;
	struct step_back back;
	int r;

	/* The environment is needed for its memory file until the reset is recorded. */
	if (!recorder_check(self) || (self->env && !env_check(self->env)) ||
			step_back_init(&back, step) < 0)
		return NULL;
	self->busy = true;
	Py_BEGIN_ALLOW_THREADS;
	r = fh_recorder_reset(self->recorder, &back.step, &err);
	Py_END_ALLOW_THREADS;
	self->busy = false;
	step_back_release(&back);
	if (r == 0)
		Py_CLEAR(self->env);
	return recorder_done(r, &err);
}

static PyObject *recorder_step(struct recorder_object *self, PyObject *args)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_turn turn = FH_TURN();
	struct step_back back;
	PyObject *step;
	int r;

	if (!PyArg_ParseTuple(args, "sOzzz:step", &turn.action, &step, &turn.response,
			    &turn.thought, &turn.numbers))
		return NULL;
	if (!recorder_check(self) || step_back_init(&back, step) < 0)
		return NULL;
	self->busy = true;
	Py_BEGIN_ALLOW_THREADS;
	r = fh_recorder_step(self->recorder, &turn, &back.step, &err);
	Py_END_ALLOW_THREADS;
	self->busy = false;
	step_back_release(&back);
	return recorder_done(r, &err);
}

static PyObject *recorder_end(struct recorder_object *self, PyObject *args)
{
	struct fh_record_end end = FH_RECORD_END();
	struct fh_error err = FH_ERROR_INIT;
	long long calls, sent, received;
	int r;

	if (!PyArg_ParseTuple(args, "zzzO&O&O&d:end", &end.exit_status, &end.error, &end.numbers,
			    convert_i64, &calls, convert_i64, &sent, convert_i64, &received,
			    &end.cost) ||
			!recorder_check(self))
		return NULL;
	end.calls = calls;
	end.tokens_sent = sent;
	end.tokens_received = received;
	self->busy = true;
	Py_BEGIN_ALLOW_THREADS;
	r = fh_recorder_end(self->recorder, &end, &err);
	Py_END_ALLOW_THREADS;
	self->busy = false;
	return recorder_done(r, &err);
}

static PyObject *recorder_get_folder(struct recorder_object *self, void *unused)
{
	if (self->folder)
		return Py_NewRef(self->folder);
	return recorder_check(self) ? step_text(fh_recorder_folder(self->recorder)) : NULL;
}

static PyObject *recorder_get_traj(struct recorder_object *self, void *unused)
{
	if (self->traj)
		return Py_NewRef(self->traj);
	return recorder_check(self) ? step_text(fh_recorder_traj(self->recorder)) : NULL;
}

static PyMethodDef recorder_methods[] = {
	{ "reset", (PyCFunction)recorder_reset, METH_O, "reset(step)\n--\n\nRecords a reset." },
	{ "step", (PyCFunction)recorder_step, METH_VARARGS,
			"step(action, step, response, thought, numbers)\n--\n\nRecords a step." },
	{ "end", (PyCFunction)recorder_end, METH_VARARGS,
			"end(exit_status, error, numbers, calls, tokens_sent, tokens_received, cost)"
			"\n--\n\nEnds the record." },
	{ "close", (PyCFunction)recorder_close, METH_NOARGS, "close()\n--\n\nCloses the record." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef recorder_getset[] = {
	{ "folder", (getter)recorder_get_folder, NULL, "Path of the record's folder.", NULL },
	{ "traj", (getter)recorder_get_traj, NULL, "Path of the record's .traj.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot recorder_slots[] = {
	{ Py_tp_doc, "A record of an episode: see fumehood.Recorder." },
	{ Py_tp_init, recorder_init },
	{ Py_tp_dealloc, recorder_dealloc },
	{ Py_tp_methods, recorder_methods },
	{ Py_tp_getset, recorder_getset },
	{ 0, NULL },
};

static PyType_Spec recorder_spec = {
	"fumehood._core.Recorder",
	sizeof(struct recorder_object),
	0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	recorder_slots,
};

int recorder_type_make(PyObject *module)
{
	recorder_type = (PyTypeObject *)PyType_FromSpec(&recorder_spec);
	if (!recorder_type)
		return -1;
	return PyModule_AddObjectRef(module, "Recorder", (PyObject *)recorder_type);
}
