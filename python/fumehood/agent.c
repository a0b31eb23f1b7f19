/* SPDX-License-Identifier: Apache-2.0 */
/* Agent: a configuration of prompts, commands and an output parser, without a model. */
#include "agents.h"

PyTypeObject *agent_type;

static int agent_init(struct agent_object *self, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "config", "mlgym_root", "aliases", "original_tools", NULL };
	struct fh_agent_options o = FH_AGENT_OPTIONS();
	struct fh_error err = FH_ERROR_INIT;
	int r, original = 0;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "|z$zzp:Agent", names, &o.config,
			    &o.mlgym_root, &o.aliases, &original))
		return -1;
	if (self->agent) {
		PyErr_SetString(state_error, "the agent is open");
		return -1;
	}
	o.original_tools = original;
	Py_BEGIN_ALLOW_THREADS;
	r = fh_agent_open(&o, &self->agent, &err);
	Py_END_ALLOW_THREADS;
	if (r < 0)
		errors_raise(&err);
	return r < 0 ? -1 : 0;
}

static void agent_dealloc(struct agent_object *self)
{
	PyTypeObject *type = Py_TYPE((PyObject *)self);

	fh_agent_close(self->agent);
	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF((PyObject *)type);
}

static PyObject *agent_set_up(struct agent_object *self, PyObject *env)
{
	struct env_object *e = (struct env_object *)env;
	struct fh_error err = FH_ERROR_INIT;

	if (!PyObject_TypeCheck(env, env_type))
		return PyErr_Format(PyExc_TypeError, "expected an Env");
	if (!self->agent) {
		PyErr_SetString(state_error, "the agent is not open");
		return NULL;
	}
	if (!env_check(e))
		return NULL;
	if (fh_agent_set_up(self->agent, e->env, &err) < 0)
		return errors_raise(&err);
	Py_RETURN_NONE;
}

/* A tuple of texts. */
static PyObject *agent_texts(const char *const *texts, size_t n)
{
	PyObject *tuple = PyTuple_New((Py_ssize_t)n);

	for (size_t i = 0; tuple && i < n; i++)
		PyTuple_SetItem(tuple, (Py_ssize_t)i, step_text(texts[i]));
	return tuple;
}

static PyObject *agent_pairs(const struct fh_pair *pairs, size_t n)
{
	PyObject *dict = PyDict_New();

	for (size_t i = 0; dict && i < n; i++) {
		PyObject *value = step_text(pairs[i].value);

		if (!value || PyDict_SetItemString(dict, pairs[i].key, value) < 0)
			Py_CLEAR(dict);
		Py_XDECREF(value);
	}
	return dict;
}

static PyObject *agent_info(struct agent_object *self, void *unused)
{
	const struct fh_agent_info *i;

	if (!self->agent) {
		PyErr_SetString(state_error, "the agent is not open");
		return NULL;
	}
	i = fh_agent_info(self->agent);
	return Py_BuildValue("{sNsNsNsNsNsNsNsNsNsNsNsNsisNsNsNsNsNsNsN}", "name",
			step_text(i->name), "path", step_text(i->path), "hash", step_text(i->hash),
			"warnings", agent_texts(i->warnings, i->n_warnings), "system_template",
			step_text(i->system_template), "task_template", step_text(i->task_template),
			"strategy_template", step_text(i->strategy_template), "next_step_template",
			step_text(i->next_step_template), "next_step_no_output_template",
			step_text(i->next_step_no_output_template), "format_error_template",
			step_text(i->format_error_template), "output_parser",
			step_text(i->output_parser), "history_processor",
			step_text(i->history_processor), "history_n", i->history_n, "command_docs",
			step_text(i->command_docs), "submit_command", step_text(i->submit_command),
			"state_command", step_text(i->state_command), "state_code",
			step_text(i->state_code), "env_variables",
			agent_pairs(i->env_variables, i->n_env_variables), "command_files",
			agent_texts(i->command_files, i->n_command_files), "tools",
			step_text(i->tools));
}

PyObject *agent_parse(PyObject *module, PyObject *args)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_parsed parsed;
	const char *parser, *text;
	PyObject *pair;

	if (!PyArg_ParseTuple(args, "ss:parse_reply", &parser, &text))
		return NULL;
	if (fh_reply_parse(parser, &FH_REPLY(.content = text), &parsed, &err) < 0)
		return errors_raise(&err);
	pair = Py_BuildValue("(NN)", step_text(parsed.thought), step_text(parsed.action));
	fh_parsed_release(&parsed);
	return pair;
}

static PyMethodDef agent_methods[] = {
	{ "set_up", (PyCFunction)agent_set_up, METH_O,
			"set_up(env)\n--\n\n"
			"Gives the agent's commands to the environment's episodes, from the next\n"
			"reset on. They replace those of an earlier call." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef agent_getset[] = {
	{ "info", (getter)agent_info, NULL,
			"A dict of the configuration: templates, command_docs, output_parser, ...",
			NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot agent_slots[] = {
	{ Py_tp_doc, "A configuration of an agent: see fumehood.Agent." },
	{ Py_tp_init, agent_init },
	{ Py_tp_dealloc, agent_dealloc },
	{ Py_tp_methods, agent_methods },
	{ Py_tp_getset, agent_getset },
	{ 0, NULL },
};

static PyType_Spec agent_spec = {
	"fumehood._core.Agent",
	sizeof(struct agent_object),
	0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	agent_slots,
};

int agent_type_make(PyObject *module)
{
	agent_type = (PyTypeObject *)PyType_FromSpec(&agent_spec);
	if (!agent_type)
		return -1;
	return PyModule_AddObjectRef(module, "Agent", (PyObject *)agent_type);
}
