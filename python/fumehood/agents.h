/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUMEHOOD_PYTHON_AGENTS_H
#define FUMEHOOD_PYTHON_AGENTS_H

#include "core.h"

#include <fumehood/agent.h>
#include <fumehood/record.h>

/* Agents, chats and recorders of fumehood/agent.h and fumehood/record.h as Python objects. */

struct agent_object {
	PyObject_HEAD struct fh_agent *agent; /* NULL: not open */
};

struct recorder_object {
	PyObject_HEAD struct fh_recorder *recorder; /* NULL: closed, and no chat is open */
	struct env_object *env;  /* environment of the episode; NULL: its reset is recorded */
	Py_ssize_t n_chats;      /* number of open chats that record into it */
	PyObject *folder, *traj; /* paths of a closed record; NULL: it is open */
	bool closed;
	bool busy; /* a thread without the GIL writes */
};

/* A chat keeps its agent and its recorder alive. */
struct chat_object {
	PyObject_HEAD struct fh_chat *chat; /* NULL: closed */
	struct agent_object *agent;
	struct recorder_object *recorder; /* NULL: none */
};

extern PyTypeObject *agent_type, *recorder_type;

/* Make the types. They return 0, or -1 with an exception. */
int agent_type_make(PyObject *module);
int chat_type_make(PyObject *module);
int recorder_type_make(PyObject *module);

/* Returns false, with an exception, if the recorder is closed or in use by another thread. */
bool recorder_check(const struct recorder_object *self);
/* Counts a chat less. Frees a recorder that is closed once no chat is left. */
void recorder_leave(struct recorder_object *self);

/* A Step for the C API. The texts live as long as the Step. */
struct step_back {
	struct fh_step step;
	struct fh_metric *metrics; /* metrics of all scores */
};

/* Reads a Step. Returns 0, or -1 with an exception. Release it after a success. */
int step_back_init(struct step_back *back, PyObject *step);
void step_back_release(struct step_back *back);

/* Functions of the module, in agent.c and record_read.c. */
PyObject *agent_parse(PyObject *module, PyObject *args);
PyObject *record_read(PyObject *module, PyObject *path);

#endif
