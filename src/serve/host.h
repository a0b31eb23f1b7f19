/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_HOST_H
#define SERVE_HOST_H

#include "base/arena.h"
#include "run/episode_options.h"
#include "run/opening.h"
#include "serve/metrics.h"

#include <fumehood/env.h>

/* The options of a server, and the state that all its sessions share. */

struct serve_options {
	struct episode_options episode;
	struct texts tasks; /* tasks that clients may play; the first is the default */
	struct texts gpus;
	/* folder of the records, and suffix of their folders' names; out NULL: no records */
	const char *out, *suffix;
	int max_sessions;
	double idle_s;  /* a session without requests is closed after this time */
	double drain_s; /* most time that running steps get after a stop */
	int stop_fd;    /* when readable, the server ends */
	const struct warner *warner;
};

/* A task that clients may play. */
struct host_task {
	const char *spec; /* name that clients use for it: "titanicSurvival:micro" */
	const char *name; /* name for people */
	const char *description;
	struct fh_env_options env;
};

/*
 * The gym, the tasks that clients may play, and the counters. All sessions of a server share them,
 * and only the server's loop uses them.
 */
struct host {
	const struct serve_options *options;
	struct arena arena;
	struct fh_gym *gym;
	struct openings openings;
	const char *aliases;
	struct host_task *tasks;
	size_t n_tasks;
	int n_episodes; /* number of episodes that have begun */
	struct metrics metrics;
};

/* Opens the gym and reads the tasks. -ENOENT, -EINVAL, -ENODATA: an option is wrong, or names
 * something missing. */
int host_open(struct host *host, const struct serve_options *options, struct fh_error *err);

/* Closes a host whose sessions are closed. If openings.n is not 0, threads still open environments:
 * end the process with _exit() instead. */
void host_close(struct host *host);

/* Finds the task that a client asks for; NULL asks for the default. Returns NULL if the client may
 * not play it. */
const struct host_task *host_find_task(const struct host *host, const char *spec);

#endif
