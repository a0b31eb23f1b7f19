/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work in an episode's sandbox that is not a step: commands, and files put in and taken out. If
 * `polled`, it is only started, and end() gives the result.
 */
#include "core.h"

#include <fumehood/aside.h>

PyObject *aside_run(PyObject *module, PyObject *args)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_action action = FH_ACTION();
	struct env_object *env;
	PyObject *text;
	int polled;

	if (!PyArg_ParseTuple(
			    args, "O!Udp:aside", env_type, &env, &text, &action.timeout_s, &polled))
		return NULL;
	action.text = convert_text(text);
	if (!action.text || !env_prepare(env, polled))
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
	int polled;

	if (!PyArg_ParseTuple(args, "O!sy#ip:put_file", env_type, &env, &file.path, &data, &n_bytes,
			    &file.mode, &polled) ||
			!env_prepare(env, polled))
		return NULL;
	file.data = data;
	file.n_bytes = (size_t)n_bytes;
	env->gives = ENV_GIVES_NOTHING;
	return env_go(env, fh_env_put_file_start(env->env, &file, &err), &err);
}

PyObject *aside_get_file(PyObject *module, PyObject *args)
{
	struct fh_error err = FH_ERROR_INIT;
	unsigned long long max_bytes;
	struct env_object *env;
	const char *path;
	int polled;

	if (!PyArg_ParseTuple(args, "O!sO&p:get_file", env_type, &env, &path, convert_u64,
			    &max_bytes, &polled) ||
			!env_prepare(env, polled))
		return NULL;
	env->gives = ENV_GIVES_FILE;
	return env_go(env, fh_env_get_file_start(env->env, path, max_bytes, &err), &err);
}
