/* SPDX-License-Identifier: Apache-2.0 */
/* Work in an episode's sandbox that is no step: commands, and files put in. */
#include "core.h"

#include <fumehood/aside.h>

PyObject *aside_run(PyObject *module, PyObject *args)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_action action = FH_ACTION();
	struct env_object *env;
	struct fh_step step;
	PyObject *text;
	int r;

	if (!PyArg_ParseTuple(args, "O!Ud:aside", env_type, &env, &text, &action.timeout_s))
		return NULL;
	action.text = env_text(text);
	if (!action.text || !env_check(env))
		return NULL;
	env->busy = true;
	Py_BEGIN_ALLOW_THREADS;
	r = fh_env_aside(env->env, &action, &step, &err);
	Py_END_ALLOW_THREADS;
	env->busy = false;
	return r < 0 ? errors_raise(&err) : step_new(&step);
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
			!env_check(env))
		return NULL;
	file.data = data;
	file.n_bytes = (size_t)n_bytes;
	env->busy = true;
	Py_BEGIN_ALLOW_THREADS;
	r = fh_env_put_file(env->env, &file, &err);
	Py_END_ALLOW_THREADS;
	env->busy = false;
	if (r < 0)
		return errors_raise(&err);
	Py_RETURN_NONE;
}
