/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_ENV_SERVER_H
#define RUN_ENV_SERVER_H

#include "base/arena.h"
#include "run/env_protocol.h"
#include "run/episode_options.h"
#include "run/record.h"

/*
 * Serves the episodes of one environment by the protocol of env_protocol.h. Requests come from
 * in_fd, and answers go to out_fd. Each answer is written before the next request is read.
 */
struct env_server_options {
	struct episode_options episode;
	const char *task;
	/* folder of the records, and last part of their folders' names; out NULL: no records */
	const char *out, *suffix;
	struct texts gpus;
	int in_fd, out_fd;
	int stop_fd; /* when readable, the episode and the server end, as if in_fd had ended */
	const struct warner *warner;
};

struct env_server {
	const struct env_server_options *options;
	struct arena arena;
	const char *aliases; /* path of a script that the episode's shells source; NULL: none */
	struct fh_gym *gym;
	struct fh_env *env;
	struct fh_env_info info;
	struct run_record record; /* record of the current episode */
	bool going_on;
	const char *action; /* action of the running step; NULL: no step runs */
	int step;           /* number of the last step */
	int64_t look_ns;    /* time of the next look at the running step */
	int n_episodes;
	struct env_protocol protocol;
	/* True: writing the record failed. The server reports that in its answer, then ends. */
	bool unrecorded;
};

void env_server_init(struct env_server *s, const struct env_server_options *options);

/* Opens the gym, and in it the environment whose episodes are served. -ENOENT, -EINVAL,
 * -ENODATA: an option is wrong, or names something missing. */
int env_server_open(struct env_server *s, struct fh_error *err);

/* Tells the client why env_server_open() failed. */
int env_server_refuse(struct env_server *s, const char *message, struct fh_error *err);

/* Serves requests until the client closes, in_fd ends or stop_fd becomes readable. */
int env_server_serve(struct env_server *s, struct fh_error *err);

void env_server_close(struct env_server *s);

#endif
