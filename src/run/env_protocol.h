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
 * The protocol of `fumehood env`: one JSON object a line each way, answered in order. A bad line is
 * answered with an error, and the episode goes on. A service carries out the requests:
 * env_server.c.
 */
struct env_service {
	/* Each returns 0 or a negative errno: -EINVAL and -E2BIG for a mistake of the client,
	 * before anything has happened. Pointers in `out` live until the next call. A reset that
	 * fails leaves no episode. A step is asked for only while an episode goes on. */
	int (*reset)(void *data, uint64_t seed, struct fh_step *out, struct fh_error *err);
	int (*step)(void *data, const struct fh_action *action, struct fh_step *out,
			struct fh_error *err);
	int (*close)(void *data, struct fh_error *err);
};

struct env_protocol {
	const struct env_service *service;
	void *data; /* the service's */
	enum { ENV_NOT_RESET, ENV_GOING_ON, ENV_OVER } state;
	uint64_t next_seed; /* for a reset that gives none */
	struct buf answer;  /* to the last line, with its newline */
	bool closed;        /* the client has closed: read no more */
};

void env_protocol_init(struct env_protocol *p, const struct env_service *service, void *data,
		uint64_t first_seed);
void env_protocol_release(struct env_protocol *p);

/* Serves a line, and puts the answer to it in p->answer. The answer tells of a failure of the
 * service, which is returned as well. */
int env_protocol_line(struct env_protocol *p, const char *line, size_t n, struct fh_error *err);

/* Answers a line that was skipped because of its length. */
void env_protocol_too_long(struct env_protocol *p);

#endif
