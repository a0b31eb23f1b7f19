/* SPDX-License-Identifier: Apache-2.0 */
/* Work in an episode's sandbox that is not a step: commands, and files put in and taken out. */
#include "core.h"

#include <fumehood/aside.h>

static PyObject *aside_any_run(PyObject *args, bool polled)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_action action = FH_ACTION();
	struct env_object *env;
	PyObject *text;

	if (!PyArg_ParseTuple(args, "O!Ud:aside", env_type, &env, &text, &action.timeout_s))
		return NULL;
	action.text = convert_text(text);
	if (!action.text || !env_prepare(env, polled))
		return NULL;
	return env_go(env, fh_env_aside_start(env->env, &action, &err), &err);
}

static PyObject *aside_any_put_file(PyObject *args, bool polled)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_file file = FH_FILE();
	struct env_object *env;
	Py_ssize_t n_bytes;
	const char *data;

	if (!PyArg_ParseTuple(args, "O!sy#i:put_file", env_type, &env, &file.path, &data, &n_bytes,
			    &file.mode) ||
			!env_prepare(env, polled))
		return NULL;
	file.data = data;
	file.n_bytes = (size_t)n_bytes;
	env->gives = ENV_GIVES_NOTHING;
	return env_go(env, fh_env_put_file_start(env->env, &file, &err), &err);
}

static PyObject *aside_any_get_file(PyObject *args, bool polled)
{
	struct fh_error err = FH_ERROR_INIT;
	unsigned long long max_bytes;
	struct env_object *env;
	const char *path;

	if (!PyArg_ParseTuple(args, "O!sO&:get_file", env_type, &env, &path, convert_u64,
			    &max_bytes) ||
			!env_prepare(env, polled))
		return NULL;
	env->gives = ENV_GIVES_FILE;
	return env_go(env, fh_env_get_file_start(env->env, path, max_bytes, &err), &err);
}

PyObject *aside_run(PyObject *module, PyObject *args)
{
	return aside_any_run(args, false);
}

PyObject *aside_start(PyObject *module, PyObject *args)
{
	return aside_any_run(args, true);
}

PyObject *aside_put_file(PyObject *module, PyObject *args)
{
	return aside_any_put_file(args, false);
}

PyObject *aside_start_put_file(PyObject *module, PyObject *args)
{
	return aside_any_put_file(args, true);
}

PyObject *aside_get_file(PyObject *module, PyObject *args)
{
	return aside_any_get_file(args, false);
}

PyObject *aside_start_get_file(PyObject *module, PyObject *args)
{
	return aside_any_get_file(args, true);
}
