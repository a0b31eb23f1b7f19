/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_ENV_PROTOCOL_H
#define RUN_ENV_PROTOCOL_H

#include "base/buf.h"
#include "base/error.h"

#include <fumehood/env.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The protocol of `fumehood env`: one JSON object a line each way, answered in order. A line that is wrong is
 * answered with an error, and the episode goes on. A service does what is asked for: env_server.c.
 */
struct env_service {
	/* Each gives 0 or a negative errno: -EINVAL and -E2BIG for what the asker did wrong, when nothing
	 * has happened. What `out` points to stays until the next call. A reset that fails leaves no
	 * episode; a step is only asked for while one goes on. */
	int (*reset)(void *data, uint64_t seed, struct fh_step *out, struct fh_error *err);
	int (*step)(void *data, const struct fh_action *action, struct fh_step *out,
			struct fh_error *err);
	int (*close)(void *data, struct fh_error *err);
};

struct env_protocol {
	const struct env_service *service;
	void *data; /* the service's */
	enum { ENV_NOT_RESET, ENV_GOING_ON, ENV_OVER } state;
	uint64_t next_seed; /* of a reset that gives none */
	struct buf answer;  /* to the last line, with its newline */
	bool closed;        /* nothing more is to be read */
};

void env_protocol_init(struct env_protocol *p, const struct env_service *service, void *data,
		uint64_t first_seed);
void env_protocol_release(struct env_protocol *p);

/* Serves a line, and puts the answer to it in p->answer. A failure of the service, which the answer tells
 * of, is returned as well. */
int env_protocol_line(struct env_protocol *p, const char *line, size_t n, struct fh_error *err);

/* The answer to a line that was skipped for its length. */
void env_protocol_too_long(struct env_protocol *p);

#endif
