/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_CALLS_H
#define ENV_CALLS_H

#include "base/buf.h"
#include "base/waits.h"
#include "env/poller.h"
#include "inside/tools.h"
#include "sandbox/sandbox.h"

/*
 * Serves calls of the agent's tools for papers and documents of the web, because a sandbox may have
 * no network. A tool writes its call into a file, and then a byte into a named pipe. The answer is
 * another file (inside/tools.h). A call is untrusted input.
 *
 * No function here blocks. An episode has at most one call at a time. A call ends with the command,
 * or when another call comes, because then its tool was killed. A fetch that can't be cancelled
 * still counts against the episode's limit (web/fetch.h).
 */
struct call_service;

struct calls {
	/* set by whoever opens the environment */
	struct poller *poller;
	/* Hosts that may be asked: web/hosts.h; NULL: no access to the web. */
	const char *web_hosts;

	char id[CALL_ID_MAX + 1];           /* id of the last call */
	const struct call_service *service; /* NULL: no call is under way */
	struct fetch *fetch;
	uint64_t who;      /* number of the episode within the process */
	size_t most;       /* most papers that the call asks for */
	int64_t n_bytes;   /* bytes answered in this episode so far */
	bool asked;        /* a tool has made a call that was not read yet */
	uint32_t reading;  /* id of the request to read a call; 0: none */
	struct buf unsaid; /* an answer that is not written to GUEST_ANSWER yet */
	uint32_t putting;  /* id of the request to write the answer; 0: none */
	int failures;      /* failures in a row to read a call or to write its answer */
	int64_t next_ns;   /* earliest time of the next attempt */
	int64_t room_ns;   /* time until which a call waits for others' fetches to end */
};

/* Splits a call "SERVICE ID\nTEXT" in place. False if it has another form. */
bool call_split(char *call, char **out_id, char **out_text);

void calls_begin(struct calls *c); /* resets the counters; call it when an episode begins */

/* Does all work that does not block. `asked`: a tool reports that it has made a call. */
void calls_advance(struct calls *c, struct sandbox *sb, bool asked);
/* Adds the waits of a call; the sandbox has its own. */
void calls_waits(const struct calls *c, struct waits *w);
/* Ends the calls; call it when the command ends. */
void calls_drop(struct calls *c, struct sandbox *sb);

#endif
