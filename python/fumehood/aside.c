/* SPDX-License-Identifier: Apache-2.0 */
/* Work in an episode's sandbox that is not a step: commands, and files put in. */
#include "core.h"

#include <fumehood/aside.h>

PyObject *aside_run(PyObject *module, PyObject *args)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_action action = FH_ACTION();
	struct env_object *env;
	PyObject *text;

	if (!PyArg_ParseTuple(args, "O!Ud:aside", env_type, &env, &text, &action.timeout_s))
		return NULL;
	action.text = env_text(text);
	if (!action.text || !env_prepare(env, false))
		return NULL;
	return env_go(env, fh_env_aside_start(env->env, &action, &err), &err);
}

PyObject *aside_put_file(PyObject *module, PyObject *args)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_file file = FH_FILE();
	struct env_object *env;
	Py_ssize_t n_bytes;
	const char *data;
	int r;

	if (!PyArg_ParseTuple(args, "O!sy#i:put_file", env_type, &env, &file.path, &data, &n_bytes,
			    &file.mode) ||
			!env_prepare(env, false))
		return NULL;
	file.data = data;
	file.n_bytes = (size_t)n_bytes;
	env->busy = true;
	Py_BEGIN_ALLOW_THREADS;
	r = fh_env_put_file(env->env, &file, &err);
	Py_END_ALLOW_THREADS;
	env_leave(env);
	if (r < 0)
		return errors_raise(&err);
	Py_RETURN_NONE;
}
