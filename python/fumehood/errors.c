/* SPDX-License-Identifier: Apache-2.0 */
/* The exceptions: an Error for each kind of the C API's errors. */
#include "core.h"

#include <errno.h>
#include <string.h>

PyObject *closed_error, *state_error, *input_error;

struct errors_class {
	enum fh_error_kind kind;
	const char *name; /* "fumehood.InputError" */
	const char *word; /* value of the attribute `kind` */
	const char *doc;
	PyObject **base; /* second base class; NULL: Error alone */
	PyObject *type;
};

static PyObject *error_class;

static struct errors_class errors_classes[] = {
	{ FH_ERROR_INPUT, "fumehood.InputError", "input",
			"An argument, an option or a file is wrong. Nothing was done.",
			&PyExc_ValueError },
	{ FH_ERROR_STATE, "fumehood.StateError", "state",
			"The call does not fit what was called before: a step without an episode.",
			&PyExc_RuntimeError },
	{ FH_ERROR_MISSING, "fumehood.MissingError", "missing",
			"A task, a file or a program does not exist.", &PyExc_LookupError },
	{ FH_ERROR_BUSY, "fumehood.BusyError", "busy",
			"Something is in use, such as a GPU. A later call may succeed.", NULL },
	{ FH_ERROR_MACHINE, "fumehood.MachineError", "machine",
			"The machine refused: `fumehood doctor` tells what it lacks.",
			&PyExc_OSError },
	{ FH_ERROR_INTERNAL, "fumehood.InternalError", "internal",
			"A fault of Fumehood itself. Please report it.", NULL },
};
#define N_CLASSES (sizeof(errors_classes) / sizeof(errors_classes[0]))

static struct errors_class *errors_class_of(enum fh_error_kind kind)
{
	for (size_t i = 0; i < N_CLASSES; i++)
		if (errors_classes[i].kind == kind)
			return &errors_classes[i];
	return &errors_classes[N_CLASSES - 1];
}

/* Sets an attribute of an exception, and drops the value. Returns 0 or -1. */
static int errors_set(PyObject *exception, const char *name, PyObject *value)
{
	int r = value ? PyObject_SetAttrString(exception, name, value) : -1;

	Py_XDECREF(value);
	return r;
}

PyObject *errors_raise(const struct fh_error *err)
{
	struct errors_class *class = errors_class_of(err->kind);
	PyObject *text, *exception = NULL;

	text = PyUnicode_DecodeUTF8(err->message, (Py_ssize_t)strlen(err->message), "replace");
	if (text)
		exception = PyObject_CallFunctionObjArgs(class->type, text, NULL);
	Py_XDECREF(text);
	if (exception && errors_set(exception, "errno", PyLong_FromLong(-err->code)) == 0)
		PyErr_SetObject(class->type, exception);
	Py_XDECREF(exception);
	return NULL;
}

static PyObject *errors_make_class(const struct errors_class *class)
{
	PyObject *bases = class->base ? PyTuple_Pack(2, error_class, *class->base)
				      : PyTuple_Pack(1, error_class);
	PyObject *type = NULL;

	if (bases)
		type = PyErr_NewExceptionWithDoc(class->name, class->doc, bases, NULL);
	Py_XDECREF(bases);
	if (type && errors_set(type, "kind", PyUnicode_FromString(class->word)) < 0)
		Py_CLEAR(type);
	return type;
}

static int errors_add(PyObject *module, const char *name, PyObject *type)
{
	return type ? PyModule_AddObjectRef(module, strchr(name, '.') + 1, type) : -1;
}

int errors_make(PyObject *module)
{
	error_class = PyErr_NewExceptionWithDoc("fumehood.Error",
			"A call of Fumehood failed. `kind` is 'input', 'state', 'missing', 'busy', "
			"'machine' or 'internal'; `errno` is the number of the error.",
			NULL, NULL);
	if (errors_add(module, "fumehood.Error", error_class) < 0)
		return -1;
	for (size_t i = 0; i < N_CLASSES; i++) {
		struct errors_class *class = &errors_classes[i];

		class->type = errors_make_class(class);
		if (errors_add(module, class->name, class->type) < 0)
			return -1;
	}
	input_error = errors_class_of(FH_ERROR_INPUT)->type;
	state_error = errors_class_of(FH_ERROR_STATE)->type;
	closed_error = PyErr_NewExceptionWithDoc("fumehood.ClosedError",
			"The gym or environment was closed.", state_error, NULL);
	return errors_add(module, "fumehood.ClosedError", closed_error);
}
