/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_GYM_H
#define ENV_GYM_H

#include "base/secret.h"
#include "env/poller.h"
#include "sandbox/sandbox.h"
#include "task/task.h"

#include <stdatomic.h>
#include <fumehood/env.h>

#include <pthread.h>

/*
 * What the environments of a process share. Tasks are loaded once and stay until the gym is closed,
 * so that any thread may read them.
 */
struct fh_gym {
	struct owner *owner;
	char *state_dir, *tasks_dir, *mlgym_root;
	struct secret secret;
	struct poller poller;
	pthread_mutex_t lock;
	struct gym_task *tasks; /* under lock */
	size_t n_tasks;
};

/*
 * A task and its layer: starter files and data as every episode's workspace begins. Data that would
 * be large to copy is bound into the sandboxes instead. Who finds a task that nobody prepared does so under the
 * task's lock; the others of that task wait for it, those of other tasks don't.
 */
struct gym_task {
	struct gym_task *next;
	pthread_mutex_t lock;
	bool ready, failed; /* under its lock; failed under the gym's, too: another is tried instead */
	struct task *task;
	char *layer;
	char hash[SHA256_HEX_BYTES]; /* of all its files */
	struct imports *imports;     /* under the task's lock: env/imports.h */
	struct sandbox_bind *data_binds;
	size_t n_data_binds;
	struct arena arena; /* the targets of the binds */
};

/* Loads it, or finds it loaded. It lives as long as the gym. */
int gym_task(struct fh_gym *gym, const char *spec, const char *variant, struct gym_task **out,
		struct fh_error *err);

#endif
