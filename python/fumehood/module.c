/* SPDX-License-Identifier: Apache-2.0 */
#include "agents.h"

static PyMethodDef module_functions[] = {
	{ "aside", aside_run, METH_VARARGS,
			"aside(env, command, timeout_s, polled)\n--\n\n"
			"See fumehood.Env.aside(). polled: starts it, for Env.end()." },
	{ "put_file", aside_put_file, METH_VARARGS,
			"put_file(env, path, data, mode, polled)\n--\n\n"
			"See fumehood.Env.put_file(). polled: starts it, for Env.end()." },
	{ "get_file", aside_get_file, METH_VARARGS,
			"get_file(env, path, max_bytes, polled)\n--\n\n"
			"See fumehood.Env.get_file(). polled: starts it, for Env.end()." },
	{ "tasks", WITH_KEYWORDS(task_tasks),
			"tasks(*, tasks_dir=None, state_dir=None, mlgym_root=None)\n--\n\n"
			"Returns a list of dicts: see fumehood.tasks()." },
	{ "describe", WITH_KEYWORDS(task_describe),
			"describe(task, *, variant=None, tasks_dir=None, state_dir=None, "
			"mlgym_root=None, data_seed=0)\n--\n\n"
			"Returns a list with one dict: see fumehood.describe()." },
	{ "parse_reply", agent_parse, METH_VARARGS,
			"parse_reply(parser, text)\n--\n\n"
			"Reads a reply with the output parser of this name, without a configuration.\n"
			"Returns (thought, action). InputError: the reply is malformed." },
	{ "read_record", record_read, METH_O,
			"read_record(path)\n--\n\n"
			"Returns (path, .traj, events or None) as JSON texts." },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef module = {
	.m_base = PyModuleDef_HEAD_INIT,
	.m_name = "fumehood._core",
	.m_doc = "The C part of the package fumehood, which exports what lies here.",

	.m_methods = module_functions,
	.m_size = -1, /* the types are global: no sub-interpreters */
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
	PyObject *m = PyModule_Create(&module);

	if (!m)
		return NULL;
	if (errors_make(m) < 0 || step_type_make(m) < 0 || gym_type_make(m) < 0 ||
			env_type_make(m) < 0 || agent_type_make(m) < 0 ||
			recorder_type_make(m) < 0 || chat_type_make(m) < 0 ||
			PyModule_AddStringConstant(m, "__version__", fh_version()) < 0)
		Py_CLEAR(m);
	return m;
}
