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
 * The protocol of `fumehood env`. Each request is one line with a JSON object, and so is each
 * answer. A wrong line is answered with an error, and the episode goes on. An env_service carries
 * out the requests: see env_server.c.
 */
struct env_service {
	/* Operations of a service for `fumehood env`. Each function returns 0 or a negative errno.
	 * -EINVAL and -E2BIG: the request was the client's mistake, and changed nothing. Pointers
	 * in `out` are valid until the next call. A failed reset leaves no episode. step() is
	 * called only while an episode goes on. */
	int (*reset)(void *data, uint64_t seed, struct fh_step *out, struct fh_error *err);
	int (*step)(void *data, const struct fh_action *action, struct fh_step *out,
			struct fh_error *err);
	int (*close)(void *data, struct fh_error *err);
};

struct env_protocol {
	const struct env_service *service;
	void *data; /* passed to each function of the service */
	enum { ENV_NOT_RESET, ENV_GOING_ON, ENV_OVER } state;
	uint64_t next_seed; /* seed of the next reset whose request names none */
	struct buf answer;  /* answer to the last request, with its newline */
	bool closed;        /* the client asked to close: read no more requests */
};

void env_protocol_init(struct env_protocol *p, const struct env_service *service, void *data,
		uint64_t first_seed);
void env_protocol_release(struct env_protocol *p);

/*
 * Carries out a line with a request, and puts the answer into p->answer. Returns 0, also after a
 * mistake of the client, or the service's error. The answer reports both.
 */
int env_protocol_line(struct env_protocol *p, const char *line, size_t n, struct fh_error *err);

/* Puts an error into p->answer, because the environment could not be opened. */
void env_protocol_not_opened(struct env_protocol *p, const char *message);

/* Puts an error into p->answer, because a request line was too long and was skipped. */
void env_protocol_too_long(struct env_protocol *p);

#endif
