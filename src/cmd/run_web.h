/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_WEB_H
#define CMD_RUN_WEB_H

#include "base/arena.h"
#include "run/takeover.h"
#include "view/net.h"

/* The viewer's server within a run, in a thread of its own (run --web). */
struct run_web {
	struct takeover *takeover; /* mailbox for the run; NULL: there is no server */
	struct job *thread;
	struct view_options view;
	struct arena arena;
	const char *place;   /* folder of the records */
	const char *address; /* address of the page, once the server listens */
	int stop_fd;
	int ready_fd; /* eventfd that is readable when the server listens */
};

void run_web_init(struct run_web *w);

/* Starts the server for the records in the folder `out`, which exists. Prints its address. */
int run_web_start(struct run_web *w, const char *out, int port, struct fh_error *err);

/* Lets pages that are open see the end of the run, for some seconds at most. Returns at once if
 * stop_fd is readable, or no page is open. */
void run_web_linger(struct run_web *w, int stop_fd);

/* Ends the server. */
void run_web_release(struct run_web *w);

#endif
