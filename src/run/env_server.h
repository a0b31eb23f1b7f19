/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_ENV_SERVER_H
#define RUN_ENV_SERVER_H

#include "run/env_protocol.h"
#include "run/env_record.h"
#include "run/episode_options.h"

/*
 * Serves episodes of one environment over two descriptors, in the form of env_protocol.h. An answer is written before
 * the next line is looked at.
 */
struct env_server_options {
	struct episode_options episode;
	const char *task;
	const char *out, *suffix; /* of the records' folders; out NULL: no records */
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
	struct env_record record;
	struct env_protocol protocol;
	bool unrecorded; /* the record can't be written, as the last answer said: nothing goes on */
};

void env_server_init(struct env_server *s, const struct env_server_options *options);

/* -ENOENT, -EINVAL, -ENODATA: what was asked for can't be. */
int env_server_open(struct env_server *s, struct fh_error *err);

/* Until it is asked to close, its input ends or stop_fd becomes readable. */
int env_server_serve(struct env_server *s, struct fh_error *err);

void env_server_close(struct env_server *s);

#endif
