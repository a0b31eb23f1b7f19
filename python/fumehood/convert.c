/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of Python as values of the C API. */
#include "core.h"

#include <limits.h>
#include <string.h>

/* Raises an InputError in place of an OverflowError. Returns what a converter returns. */
static int convert_end(PyObject *value, const char *range)
{
	if (!PyErr_Occurred())
		return 1;
	if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
		PyErr_Clear();
		PyErr_Format(input_error, "%R is not from %s", value, range);
	}
	return 0;
}

int convert_u64(PyObject *value, void *out)
{
	PyObject *index = PyNumber_Index(value);
	unsigned long long number = index ? PyLong_AsUnsignedLongLong(index) : 0;

	Py_XDECREF(index);
	if (!PyErr_Occurred())
		*(unsigned long long *)out = number;
	return convert_end(value, "0 to 2^64 - 1");
}

int convert_i64(PyObject *value, void *out)
{
	long long number = PyLong_AsLongLong(value); /* calls __index__() */

	if (!PyErr_Occurred())
		*(long long *)out = number;
	return convert_end(value, "-2^63 to 2^63 - 1");
}

int convert_int(PyObject *value, void *out)
{
	long long number = PyLong_AsLongLong(value);

	if (!PyErr_Occurred() && (number < INT_MIN || number > INT_MAX))
		PyErr_SetNone(PyExc_OverflowError);
	if (!PyErr_Occurred())
		*(int *)out = (int)number;
	return convert_end(value, "-2^31 to 2^31 - 1");
}

const char *convert_text(PyObject *text)
{
	Py_ssize_t n;
	const char *s;

	if (!PyUnicode_Check(text)) {
		PyErr_Format(PyExc_TypeError, "expected str, not %R", (PyObject *)Py_TYPE(text));
		return NULL;
	}
	s = PyUnicode_AsUTF8AndSize(text, &n);
	if (s && strlen(s) != (size_t)n) {
		PyErr_SetString(PyExc_ValueError, "the text holds a NUL character");
		return NULL;
	}
	return s;
}
