/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_GYM_H
#define ENV_GYM_H

#include "base/secret.h"
#include "env/imports.h"
#include "env/poller.h"
#include "sandbox/sandbox.h"
#include "task/task.h"

#include <fumehood/env.h>

#include <pthread.h>

/*
 * The gym that the environments of a process share. Tasks are loaded once and stay until the gym is
 * closed, so that any thread may read them. A task of another data seed stays while an environment
 * uses it. The gym keeps the last of the others.
 */
struct fh_gym {
	uint64_t mark; /* mark of the process that opened the gym: base/fork_mark.h */
	struct owner *owner;
	char *state_dir, *tasks_dir, *mlgym_root;
	struct secret secret;
	struct poller poller;
	pthread_mutex_t lock;
	/* environments that were closed while a thread opened them; guarded by `lock` */
	struct fh_env *left;
	struct gym_task *tasks; /* list of loaded tasks; guarded by `lock` */
	size_t n_tasks;
	uint64_t uses; /* number of times that environments were closed; guarded by `lock` */
};

/*
 * A task and its layer: starter files and data, with which every episode's workspace begins. Large
 * data is bound into the sandboxes instead of copied. The first thread that opens a task prepares
 * it under the task's lock. Other threads that open this task wait; threads that open other tasks
 * don't.
 */
struct gym_task {
	struct gym_task *next;
	pthread_mutex_t lock;
	bool ready, failed; /* guarded by the task's `lock`; `failed` also by the gym's `lock` */
	struct task *task;
	char *layer;
	char hash[SHA256_HEX_BYTES]; /* hash of all files of the task, hexadecimal */
	struct imports *imports;     /* results of import checks; guarded by the task's lock */
	struct sandbox_bind *data_binds;
	size_t n_data_binds;
	struct arena arena; /* owns data_binds and their targets */
	/* Guarded by the gym's lock: number of environments that use the task. `uses` of the gym
	 * when the last of them was closed. */
	size_t n_users;
	uint64_t last_use;
};

/* Frees a gym that has no environments. */
void gym_free(struct fh_gym *gym);

/* Refuses a call in a fork of the process that opened the gym: -EPERM. */
int gym_check_process(const struct fh_gym *gym, struct fh_error *err);

/* Loads and prepares the task, variant and data seed of the options, or returns the loaded task. It
 * lives until gym_task_leave(). Blocks until that is done, or until the request to cancel. */
int gym_task(struct fh_gym *gym, const struct fh_env_options *options, struct cancel *cancel,
		struct gym_task **out, struct fh_error *err);

/* Ends the use of a task that gym_task() gave. */
void gym_task_leave(struct fh_gym *gym, struct gym_task *t);

/* Binds the task's data if it is too large for the layer. Call it before the layer is made. */
int gym_bind_data(struct gym_task *t, struct fh_error *err);

#endif
