/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for the operation of one environment, which a signal's handler ends when it raises. */
#include "core.h"

/*
 * Waits until the operation under way has ended. Returns a negative errno if the machine refuses,
 * and 0 with an exception if a signal's handler raises.
 */
static int wait_end(struct env_object *self, struct fh_error *err)
{
	int r;

	self->busy = true;
	do {
		Py_BEGIN_ALLOW_THREADS;
		r = fh_env_wait(self->env, SIGNALS_MS, err);
		Py_END_ALLOW_THREADS;
	} while (r == 0 && PyErr_CheckSignals() == 0);
	return r;
}

int wait_abandon(struct env_object *self, struct fh_error *err)
{
	int r = self->polled ? fh_env_set_polled(self->env, false, err) : 0;

	if (r < 0)
		return r;
	self->polled = false;
	self->left = true;
	fh_env_interrupt(self->env);
	fh_env_wait(self->env, 0, NULL); /* sends the first signal */
	return 0;
}

bool wait_settle(struct env_object *self)
{
	struct fh_error err = FH_ERROR_INIT;
	int r = wait_end(self, &err);

	if (r > 0)
		fh_env_end(self->env, NULL, NULL);
	else if (r < 0)
		errors_raise(&err);
	self->left = r == 0;
	env_leave(self);
	return r > 0 && env_check(self);
}

PyObject *wait_result(struct env_object *self)
{
	struct fh_error err = FH_ERROR_INIT;
	PyObject *result = NULL;
	struct fh_step step;
	int r = wait_end(self, &err);

	if (r == 0) {
		wait_abandon(self, &err);
	} else {
		if (r > 0)
			r = fh_env_end(self->env, &step, &err);
		result = r < 0 ? env_raise(self, &err) : env_result(self, &step);
	}
	env_leave(self);
	return result;
}
