/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_CALLS_H
#define ENV_CALLS_H

#include "base/buf.h"
#include "base/waits.h"
#include "inside/tools.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Calls of the agent's tools to their environment, while a command runs, for what a sandbox without a network
 * can't do: a search for papers, a document of the web. A call is a file of the agent's, and a byte into a named
 * pipe that says so; the answer is another file (proto/guest.h). So nothing in a call is trusted.
 *
 * Nothing here waits. An environment has one call at a time, which ends with its command, or gives way to the next:
 * the tool that made it is gone. What of it can't be ended counts on (web/fetch.h), for its episode, too.
 */
struct fh_env;
struct fetch;
struct call_service;

struct call {
	char id[CALL_ID_MAX + 1];
	const struct call_service *service; /* NULL: none is under way */
	struct fetch *fetch;
	uint64_t who;      /* number of the episode, among all of the process */
	size_t most;       /* papers that are asked for */
	int64_t n_bytes;   /* of this episode's answers */
	bool asked;        /* there is another one to look at */
	uint32_t reading;  /* that one, until it is here; as `putting`, what the porter was asked */
	struct buf unsaid; /* an answer that is not put yet */
	uint32_t putting;
	int failures;    /* to look at a call, or to put its answer */
	int64_t next_ns; /* when that is tried, at the earliest */
	int64_t room_ns; /* until when it waits for others' to be over */
};

/* "SERVICE ID\nTEXT", taken apart in place; false for what is none. */
bool call_split(char *call, char **out_id, char **out_text);

void calls_begin(struct fh_env *env); /* with the episode */

/* Does what can be done; `asked`: a tool says that it has made a call. */
void calls_advance(struct fh_env *env, bool asked);
void calls_waits(const struct fh_env *env, struct waits *w);
void calls_drop(struct fh_env *env); /* with the command */

#endif
