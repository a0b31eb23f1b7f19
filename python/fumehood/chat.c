/* SPDX-License-Identifier: Apache-2.0 */
/* Chat: the conversation of an episode. Calls take microseconds, so they keep the GIL. */
#include "agents.h"

#include <string.h>

static bool chat_check(const struct chat_object *self)
{
	if (!self->chat) {
		PyErr_SetString(closed_error, "the chat is closed");
		return false;
	}
	return !self->recorder || recorder_check(self->recorder);
}

static int chat_init(struct chat_object *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "agent", "env", "recorder", NULL };
	struct fh_chat_options o = FH_CHAT_OPTIONS();
	struct fh_error err = FH_ERROR_INIT;
	struct recorder_object *recorder = NULL;
	PyObject *given = Py_None;
	struct agent_object *agent;
	struct env_object *env;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!|O:Chat", names, agent_type, &agent,
			    env_type, &env, &given))
		return -1;
	if (given != Py_None) {
		if (!PyObject_TypeCheck(given, recorder_type)) {
			PyErr_SetString(PyExc_TypeError, "expected a Recorder");
			return -1;
		}
		recorder = (struct recorder_object *)given;
		if (!recorder_check(recorder))
			return -1;
		o.recorder = recorder->recorder;
	}
	if (self->chat || !agent->agent) {
		PyErr_SetString(state_error,
				self->chat ? "the chat is open" : "the agent is not open");
		return -1;
	}
	if (!env_check(env))
		return -1;
	o.env = env->env;
	if (fh_chat_open(agent->agent, &o, &self->chat, &err) < 0) {
		errors_raise(&err);
		return -1;
	}
	self->agent = (struct agent_object *)Py_NewRef((PyObject *)agent);
	if (recorder) {
		self->recorder = (struct recorder_object *)Py_NewRef(given);
		recorder->n_chats++;
	}
	return 0;
}

static void chat_drop(struct chat_object *self)
{
	if (!self->chat)
		return;
	fh_chat_close(self->chat);
	self->chat = NULL;
	if (self->recorder)
		recorder_leave(self->recorder);
	Py_CLEAR(self->recorder);
	Py_CLEAR(self->agent);
}

static void chat_dealloc(struct chat_object *self)
{
	PyTypeObject *type = Py_TYPE((PyObject *)self);

	chat_drop(self);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF((PyObject *)type);
}

static PyObject *chat_close(struct chat_object *self, PyObject *unused)
{
	chat_drop(self);
	Py_RETURN_NONE;
}

static PyObject *chat_observe(struct chat_object *self, PyObject *step)
{
	struct fh_error err = FH_ERROR_INIT;
	struct step_back back;
	int r;

	if (!chat_check(self) || step_back_init(&back, step) < 0)
		return NULL;
	r = fh_chat_observe(self->chat, &back.step, &err);
	step_back_release(&back);
	return r < 0 ? errors_raise(&err) : Py_NewRef(Py_None);
}

static PyObject *chat_json(struct chat_object *self, PyObject *unused)
{
	return chat_check(self) ? step_text(fh_chat_json(self->chat)) : NULL;
}

static PyObject *chat_history_json(struct chat_object *self, PyObject *unused)
{
	return chat_check(self) ? step_text(fh_chat_history_json(self->chat)) : NULL;
}

/* Returns the fields of fumehood.Decision, or raises the error if r is negative. */
static PyObject *chat_decision(int r, const struct fh_decision *d, const struct fh_error *err)
{
	static const char *const kinds[] = { "action", "ask_again", "give_up" };
	static const char *const faults[] = { NULL, "format", "blocked" };

	if (r < 0)
		return errors_raise(err);
	return Py_BuildValue("(sNNNNNL)", kinds[d->kind], step_text(faults[d->fault]),
			step_text(d->action), step_text(d->thought), step_text(d->response),
			step_text(d->complaint), (long long)d->beside_bytes);
}

static PyObject *chat_reply_text(struct chat_object *self, PyObject *args)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_decision decision;
	const char *content;

	if (!PyArg_ParseTuple(args, "y:reply_text", &content) || !chat_check(self))
		return NULL;
	return chat_decision(
			fh_chat_reply(self->chat, &FH_REPLY(.content = content), &decision, &err),
			&decision, &err);
}

static PyObject *chat_reply_json(struct chat_object *self, PyObject *json)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_decision decision;
	const char *text = convert_text(json);

	if (!text || !chat_check(self))
		return NULL;
	return chat_decision(fh_chat_reply_json(self->chat, text, strlen(text), &decision, &err),
			&decision, &err);
}

static PyObject *chat_act(struct chat_object *self, PyObject *args)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_decision decision;
	const char *action, *text = NULL;

	if (!PyArg_ParseTuple(args, "s|z:act", &action, &text) || !chat_check(self))
		return NULL;
	return chat_decision(
			fh_chat_act(self->chat, action, text, &decision, &err), &decision, &err);
}

static PyMethodDef chat_methods[] = {
	{ "observe", (PyCFunction)chat_observe, METH_O, "observe(step)\n--\n\nAdds a message." },
	{ "json", (PyCFunction)chat_json, METH_NOARGS, "json()\n--\n\nMessages to send." },
	{ "history_json", (PyCFunction)chat_history_json, METH_NOARGS,
			"history_json()\n--\n\nAll messages." },
	{ "reply_text", (PyCFunction)chat_reply_text, METH_VARARGS,
			"reply_text(text)\n--\n\n"
			"Takes a reply as bytes. It has a format fault if they are not UTF-8." },
	{ "reply_json", (PyCFunction)chat_reply_json, METH_O,
			"reply_json(json)\n--\n\nTakes a reply in OpenAI's form." },
	{ "act", (PyCFunction)chat_act, METH_VARARGS,
			"act(action, text=None)\n--\n\nEnds the turn with an action." },
	{ "close", (PyCFunction)chat_close, METH_NOARGS, "close()\n--\n\nFrees the chat." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot chat_slots[] = {
	{ Py_tp_doc, "A conversation of an episode: see fumehood.Chat." },
	{ Py_tp_init, chat_init },
	{ Py_tp_dealloc, chat_dealloc },
	{ Py_tp_methods, chat_methods },
	{ 0, NULL },
};

static PyType_Spec chat_spec = {
	"fumehood._core.Chat",
	sizeof(struct chat_object),
	0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	chat_slots,
};

int chat_type_make(PyObject *module)
{
	PyObject *type = PyType_FromSpec(&chat_spec);
	int r = type ? PyModule_AddObjectRef(module, "Chat", type) : -1;

	Py_XDECREF(type); /* the module holds it */
	return r;
}
