/* SPDX-License-Identifier: Apache-2.0 */
/* The opening of an Env, with its options. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

static int open_reward_kind(const char *word, enum fh_reward_kind *out)
{
	static const char *const words[] = { "delta", "improvement", "none" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i], word) == 0) {
			*out = (enum fh_reward_kind)i;
			return 0;
		}
	PyErr_Format(input_error, "no reward '%s': there are delta, improvement and none", word);
	return -1;
}

/* Binds of a sequence of (source, target) pairs. The texts live as long as the sequence. */
static int open_binds(PyObject *list, struct fh_bind **out, size_t *out_n)
{
	Py_ssize_t n = list == Py_None ? 0 : PySequence_Size(list);
	struct fh_bind *binds = NULL;

	if (n > 0)
		binds = calloc((size_t)n, sizeof(*binds));
	for (Py_ssize_t i = 0; binds && i < n; i++) {
		PyObject *pair = PySequence_GetItem(list, i);
		bool ok = pair && PyTuple_Check(pair) &&
				PyArg_ParseTuple(pair, "ss", &binds[i].source, &binds[i].target);

		Py_XDECREF(pair); /* the list still holds it */
		if (!ok) {
			PyErr_SetString(PyExc_TypeError, "binds are tuples (source, target)");
			free(binds);
			return -1;
		}
	}
	*out = binds;
	*out_n = binds ? (size_t)n : 0;
	return n < 0 ? -1 : 0;
}

/*
 * Opens an environment. If a signal's handler raises, the opening is left. Returns NULL with an
 * exception if that or the opening failed.
 */
static struct fh_env *open_wait(struct fh_gym *gym, const struct fh_env_options *options)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_env *env;
	int r = fh_env_open_start(gym, options, &env, &err);

	if (r < 0) {
		errors_raise(&err);
		return NULL;
	}
	do {
		Py_BEGIN_ALLOW_THREADS;
		r = fh_env_wait(env, SIGNALS_MS, &err);
		Py_END_ALLOW_THREADS;
	} while (r == 0 && PyErr_CheckSignals() == 0);
	if (r > 0)
		r = fh_env_end(env, NULL, &err);
	if (r < 0)
		errors_raise(&err);
	if (!PyErr_Occurred())
		return env;
	Py_BEGIN_ALLOW_THREADS;
	fh_env_close(env);
	Py_END_ALLOW_THREADS;
	return NULL;
}

/* Variables "NAME=VALUE" of a mapping. They live as long as *out_texts, a list. */
static int open_variables(PyObject *mapping, PyObject **out_texts, const char ***out, size_t *out_n)
{
	PyObject *items = mapping == Py_None ? PyList_New(0) : PyMapping_Items(mapping);
	Py_ssize_t n = items ? PyList_Size(items) : 0;
	PyObject *texts = PyList_New(0);
	const char **variables = calloc((size_t)n + 1, sizeof(*variables));

	if (!variables)
		PyErr_NoMemory();
	for (Py_ssize_t i = 0; texts && variables && i < n && !PyErr_Occurred(); i++) {
		PyObject *name, *value, *text = NULL;

		if (PyArg_ParseTuple(PyList_GetItem(items, i), "UU:variables", &name, &value) &&
				PyUnicode_FindChar(name, '=', 0, PyUnicode_GetLength(name), 1) >= 0)
			PyErr_Format(input_error, "the variable %R has a '=' in its name", name);
		else if (!PyErr_Occurred())
			text = PyUnicode_FromFormat("%U=%U", name, value);
		if (text && PyList_Append(texts, text) == 0)
			variables[i] = convert_text(text);
		Py_XDECREF(text);
	}
	Py_XDECREF(items);
	if (PyErr_Occurred()) {
		Py_XDECREF(texts);
		free(variables);
		return -1;
	}
	*out_texts = texts;
	*out = variables;
	*out_n = (size_t)n;
	return 0;
}

/* Starts an opening that the gym polls. Returns NULL with an exception if it can't begin. */
static struct fh_env *open_polled(struct fh_gym *gym, struct fh_env_options *options)
{
	struct fh_error err = FH_ERROR_INIT;
	struct fh_env *env = NULL;

	options->polled = true;
	if (fh_env_open_start(gym, options, &env, &err) < 0)
		errors_raise(&err);
	return env;
}

static int open_any(struct env_object *self, PyObject *args, PyObject *keywords, bool polled)
{
	static char *names[] = { "gym", "task", "variant", "reward", "max_steps", "binds", "python",
		"memory", "memory_file", "web_hosts", "judge_salt", "max_text_bytes", "gpus",
		"data_seed", "output_bytes", "variables", NULL };
	struct fh_env_options o = FH_ENV_OPTIONS();
	unsigned long long salt = 0, data_seed = 0;
	long long text_bytes = 0, output_bytes = 0, n_gpus = 0;
	const char *reward = "delta";
	struct fh_bind *binds = NULL;
	PyObject *list = Py_None, *mapping = Py_None, *texts = NULL;
	const char **variables = NULL;
	struct gym_object *gym;
	int memory = 0;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!s|$zsO&OzpzzO&O&O&O&O&O:Env", names,
			    gym_type, &gym, &o.task, &o.variant, &reward, convert_int, &o.max_steps,
			    &list, &o.python, &memory, &o.memory_file, &o.web_hosts, convert_u64,
			    &salt, convert_i64, &text_bytes, convert_i64, &n_gpus, convert_u64,
			    &data_seed, convert_i64, &output_bytes, &mapping))
		return -1;
	if (self->env) {
		PyErr_SetString(state_error, "the environment is open");
		return -1;
	}
	if (!(polled ? gym_check_polls(gym) : gym_check(gym)) ||
			open_reward_kind(reward, &o.reward) < 0 ||
			open_binds(list, &binds, &o.n_binds) < 0)
		return -1;
	if (open_variables(mapping, &texts, &variables, &o.n_variables) < 0) {
		free(binds);
		return -1;
	}
	o.binds = binds;
	o.variables = variables;
	o.memory = memory;
	o.judge_salt = salt;
	o.max_text_bytes = text_bytes;
	o.output_bytes = output_bytes;
	o.n_gpus = n_gpus < 0 ? SIZE_MAX : (size_t)n_gpus;
	o.data_seed = data_seed;
	gym->n_envs++; /* keeps the gym open meanwhile */
	self->env = polled ? open_polled(gym->gym, &o) : open_wait(gym->gym, &o);
	free(binds);
	free(variables);
	Py_DECREF(texts);
	if (!self->env) {
		gym->n_envs--;
		return -1;
	}
	self->gym = (struct gym_object *)Py_NewRef((PyObject *)gym);
	fh_env_set_user(self->env, self);
	self->polled = self->opening = polled;
	self->gives = ENV_GIVES_NOTHING;
	return 0;
}

int open_env(struct env_object *self, PyObject *args, PyObject *keywords)
{
	return open_any(self, args, keywords, false);
}

PyObject *open_start(struct env_object *self, PyObject *args, PyObject *keywords)
{
	return open_any(self, args, keywords, true) < 0 ? NULL : env_started(self);
}
