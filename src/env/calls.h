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
 * no network. Serves `validate` while an agent's command runs, too. A tool writes its call into a
 * file, and then a byte into a named pipe. The answer is another file (inside/tools.h). A call is
 * untrusted input.
 *
 * No function here blocks. An episode has at most one call at a time. A call ends with the command,
 * or when another call comes, because then its tool was killed. A fetch that can't be cancelled
 * still counts against the episode's limit (web/fetch.h).
 */
struct call_service;

struct calls {
	/* env/open.c sets the members down to web_hosts when the environment is opened. */
	struct poller *poller;
	/* Hosts that tools may fetch from, in the form of web/hosts.h; NULL: no access to the
	 * web. */
	const char *web_hosts;

	char id[CALL_ID_MAX + 1]; /* id of the tools' last call */
	/* service that the current call asks for; NULL: no call is under way */
	const struct call_service *service;
	struct fetch *fetch;
	/* number of the episode in this process, for the limit of fetches per episode */
	uint64_t who;
	size_t most;       /* most papers that the call asks for */
	int64_t n_bytes;   /* bytes of answers and of abandoned fetches in this episode so far */
	bool asked;        /* a tool has made a call that was not read yet */
	uint32_t reading;  /* id of the request to the sandbox that reads a call; 0: none */
	struct buf unsaid; /* answer that was not written to the sandbox' file GUEST_ANSWER yet */
	bool validates;    /* an agent's command runs, whose `validate` is answered */
	/* the current call is a `validate` that calls_take_validate() did not take yet */
	bool wants_validate;
	uint32_t putting; /* id of the request to the sandbox that writes the answer; 0: none */
	int failures;     /* failures in a row to read a call or to write its answer */
	/* earliest time of the next attempt to read a call or to write its answer */
	int64_t next_ns;
	int64_t room_ns; /* until this time a call waits for fetches of other episodes to end */
};

/* Splits a call "SERVICE ID\nTEXT" in place. False if it has another form. */
bool call_split(char *call, char **out_id, char **out_text);

/* Resets n_bytes and `validates`, and gives the episode a new number. Call it when an episode
 * begins. */
void calls_begin(struct calls *c);

/*
 * Goes on with the tools' calls as far as that does not block. `asked`: a tool reports that it has
 * made a call.
 */
void calls_advance(struct calls *c, struct sandbox *sb, bool asked);
/* Returns true once for each `validate`, when the sandbox can copy the submission. */
bool calls_take_validate(struct calls *c);
/* Answers the `validate` that was taken, unless its tool was killed. */
void calls_answer_validate(
		struct calls *c, struct sandbox *sb, const struct buf *text, bool is_scored);

/* Adds the descriptors and the deadline that a tool's call waits for, except the sandbox'. The
 * shell session adds those. */
void calls_waits(const struct calls *c, struct waits *w);
/* Ends the tools' calls; call it when the agent's command ends. */
void calls_drop(struct calls *c, struct sandbox *sb);

#endif
