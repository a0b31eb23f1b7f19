/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUMEHOOD_PYTHON_CORE_H
#define FUMEHOOD_PYTHON_CORE_H

/*
 * The extension module `fumehood._core`: the C API of fumehood/env.h as Python objects.
 *
 * It uses Python's limited API, so one build serves Python 3.10 and all later versions. Calls that
 * may block release the GIL. A signal handler that raises, as Ctrl-C does, ends them.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include <fumehood/env.h>

#include <pthread.h>
#include <stdbool.h>

/* A thread that waits looks for Python's signals this often: Ctrl-C may wake another thread. */
#define SIGNALS_MS 20
/* most environments that one call of fh_gym_wait() gives */
#define DONE_MAX 256

/* A Gym. It lives at least as long as its environments, which hold a reference. */
struct gym_object {
	PyObject_HEAD struct fh_gym *gym; /* NULL: closed */
	Py_ssize_t n_envs;                /* number of open environments */
	Py_ssize_t n_started; /* number of environments with an operation of start_step() or such */
	bool polled;          /* a thread waits for polled environments, or closes one */
	/* A thread closes an environment, and holds the lock `closing`. */
	bool closes;
	pthread_mutex_t closing;
	struct env_object *left; /* environments that this thread has to close; see env_close() */
};

/* Kind of an operation's result. */
enum env_gives { ENV_GIVES_STEP, ENV_GIVES_NOTHING, ENV_GIVES_FILE };

/* An Env. It is the user pointer of its fh_env. */
struct env_object {
	PyObject_HEAD struct gym_object *gym;
	struct fh_env *env; /* NULL: closed */
	bool busy;          /* an operation is under way */
	/* It was started by start_step() or such, and end() gives its result. Until then the
	 * operation holds a reference to the Env. */
	bool started;
	bool polled;              /* the gym polls the environment */
	bool opening;             /* start_open() was called, and end() has not given its result */
	bool closing;             /* close() was called, and another thread has to do it */
	bool left;                /* wait_abandon() left the operation under way */
	enum env_gives gives;     /* result of the operation under way */
	struct many_entry *entry; /* part of the batch under way; NULL: none */
	struct env_object *next;  /* in the gym's list `left` */
};

extern PyTypeObject *gym_type, *env_type, *step_type;
extern PyObject *closed_error, *state_error, *input_error;

/* Make the types. They return 0, or -1 with an exception. */
int gym_type_make(PyObject *module);
int env_type_make(PyObject *module);
int step_type_make(PyObject *module);
int errors_make(PyObject *module);

/* Raises the exception of an error, and returns NULL. */
PyObject *errors_raise(const struct fh_error *err);

/* Returns a new Step with copies of all that `step` holds, or NULL with an exception. */
PyObject *step_new(const struct fh_step *step);
/* Returns a new str, or None if s is NULL. */
PyObject *step_text(const char *s);
/* Returns a new dict {name: value}, or None if metrics is NULL. */
PyObject *step_metrics(const struct fh_metric *metrics, size_t n);

/* For a PyMethodDef: a method with keyword arguments. */
#define WITH_KEYWORDS(f) ((PyCFunction)(void (*)(void))(f)), METH_VARARGS | METH_KEYWORDS

/* --- convert.c ------------------------------------------------------------------------------ */
/* Returns the text of a str for the C API. It is valid while `text` lives. A NUL in it, a lone
 * surrogate, or another type than str raises an exception and gives NULL. */
const char *convert_text(PyObject *text);
/* Converters for PyArg_ParseTuple(), which take integers of numpy, too: to an unsigned long long, a
 * long long, an int. A number out of range is an InputError. */
int convert_u64(PyObject *value, void *out);
int convert_i64(PyObject *value, void *out);
int convert_int(PyObject *value, void *out);

/* --- gym.c, env.c ---------------------------------------------------------------------------- */
/* Sets the action's text, and checks that the environment can run the action. Returns false with an
 * exception if not. */
bool env_check_action(struct env_object *self, PyObject *text, struct fh_action *action);

/* Returns false, with an exception, if the gym is closed. */
bool gym_check(const struct gym_object *self);
/* Waits for the end of what wait_abandon() left. Returns false, with an exception, if the
 * environment is closed or in use, or a signal's handler raises. */
bool env_check(struct env_object *self);
/* Returns false, with an exception, if the gym is closed or another thread polls it. Waits for a
 * thread that closes an environment. */
bool gym_check_polls(struct gym_object *self);
/* Lets the gym poll the environment, or its caller wait for it alone. Returns 0, or -1 with an
 * exception. */
int env_set_polled(struct env_object *self, bool polled);
/* Returns false, with an exception, if no operation can begin. Sets `gives` to a Step: set
 * another kind afterwards. */
bool env_prepare(struct env_object *self, bool polled);
/* Gives the result of a method that has started an operation: waits for it unless `polled`. */
PyObject *env_go(struct env_object *self, int r, const struct fh_error *err);
/* Raises an operation's error: a ClosedError if another thread closed the environment meanwhile.
 * Returns NULL. */
PyObject *env_raise(const struct env_object *self, const struct fh_error *err);
/* Notes that an operation has ended. */
void env_leave(struct env_object *self);
/* Notes that a thread no longer waits for polled environments. Closes those that other threads
 * asked to close meanwhile. Returns true if there were any. */
bool env_end_poll(struct gym_object *gym);

/* Notes an operation as started, until end(). Returns None. */
PyObject *env_started(struct env_object *self);

/* Returns the result of an operation that has succeeded. `step` is only set if that is a Step. */
PyObject *env_result(const struct env_object *self, const struct fh_step *step);

/* --- wait.c --------------------------------------------------------------------------------- */
/* Waits until the operation under way has ended, and returns its result. If a signal's handler
 * raises, the operation is abandoned, and the exception goes on. */
PyObject *wait_result(struct env_object *self);
/*
 * Interrupts the operation under way, and drops its result. Does not wait for its end: env_check()
 * does, before the next operation. Returns 0, or a negative errno for an opening.
 */
int wait_abandon(struct env_object *self, struct fh_error *err);
/* Waits for the end of what wait_abandon() left. Returns false with an exception if that failed, or
 * a signal's handler raises. */
bool wait_settle(struct env_object *self);

/* --- open.c, many.c, aside.c, task.c --------------------------------------------------------- */
/* Env.__init__(), and its form that starts. */
int open_env(struct env_object *self, PyObject *args, PyObject *keywords);
PyObject *open_start(struct env_object *self, PyObject *args, PyObject *keywords);

/* Methods of Gym, in many.c. */
PyObject *many_step(struct gym_object *self, PyObject *args, PyObject *keywords);
PyObject *many_reset(struct gym_object *self, PyObject *args, PyObject *keywords);
PyObject *many_wait(struct gym_object *self, PyObject *args);
PyObject *many_fileno(struct gym_object *self, PyObject *unused);

/* Functions of the module, in aside.c. */
PyObject *aside_run(PyObject *module, PyObject *args);
PyObject *aside_put_file(PyObject *module, PyObject *args);
PyObject *aside_get_file(PyObject *module, PyObject *args);

/* Functions of the module, in task.c. */
PyObject *task_tasks(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *task_describe(PyObject *module, PyObject *args, PyObject *keywords);

#endif
