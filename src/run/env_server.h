/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_ENV_SERVER_H
#define RUN_ENV_SERVER_H

#include "run/env_protocol.h"
#include "run/episode_options.h"
#include "run/record.h"

/*
 * Serves episodes of one environment over two descriptors, in the form of env_protocol.h. An answer
 * is written before the next line is read.
 */
struct env_server_options {
	struct episode_options episode;
	const char *task;
	const char *out, *suffix; /* for the records' folders; out NULL: no records */
	struct texts gpus;
	int in_fd, out_fd;
	int stop_fd; /* readable: the episode ends as at the end of input */
	const struct warner *warner;
};

struct env_server {
	const struct env_server_options *options;
	struct fh_gym *gym;
	struct fh_env *env;
	struct fh_env_info info;
	struct run_record record; /* this episode's */
	bool going_on;
	int n_episodes;
	struct env_protocol protocol;
	bool unrecorded; /* the record can't be written: the last answer says so, and is the last */
};

void env_server_init(struct env_server *s, const struct env_server_options *options);

/* -ENOENT, -EINVAL, -ENODATA: the options can't be honoured. */
int env_server_open(struct env_server *s, struct fh_error *err);

/* Serves until a client closes, the input ends or stop_fd becomes readable. */
int env_server_serve(struct env_server *s, struct fh_error *err);

void env_server_close(struct env_server *s);

#endif
