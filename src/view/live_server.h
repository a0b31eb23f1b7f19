/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_LIVE_SERVER_H
#define VIEW_LIVE_SERVER_H

#include "base/arena.h"
#include "run/takeover.h"
#include "view/view.h"

/* The viewer's server within a run, in a thread of its own (run --web). */
struct live_server {
	struct takeover *takeover; /* mailbox for the run; NULL: there is no server */
	struct job *thread;
	struct view_options view;
	struct arena arena;
	const char *place;   /* folder of the records */
	const char *address; /* address of the page, once the server listens */
	int stop_fd;
	int ready_fd; /* eventfd that is readable when the server listens */
};

void live_server_init(struct live_server *w);

/*
 * Starts the server for the records in the folder `out`, which exists, and waits until it listens.
 * `port` and `token` are as in struct view_options.
 */
int live_server_start(struct live_server *w, const char *out, int port, const char *token,
		struct fh_error *err);

/* Lets pages that are open see the end of the run, for some seconds at most. Returns at once if
 * stop_fd is readable, or no page is open. */
void live_server_linger(struct live_server *w, int stop_fd);

/* Ends the server. */
void live_server_release(struct live_server *w);

#endif
