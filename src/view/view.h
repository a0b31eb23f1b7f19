/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include "base/error.h"
#include "base/str.h"

struct takeover;

/*
 * The viewer's server. It listens on this machine only, and reads records. It writes nothing, but a
 * run may take orders by it (run/takeover.h). The token is the first part of each path, so that the
 * page's own links have it too.
 */
struct view_options {
	struct texts places;       /* folders of runs, or records */
	int port;                  /* 0: a free one */
	const char *token;         /* secret of the address */
	int stop_fd;               /* when readable, the server ends */
	struct takeover *takeover; /* mailbox of a run that takes orders; NULL: none */
	/* Called when the server listens. The address has the token, and ends with "/". */
	void (*listening)(void *user, const char *address);
	void *user;
};

/* Serves until `stop_fd` is readable. Lowers the thread's priority, because runs go first. */
int view_serve(const struct view_options *options, struct fh_error *err);

#endif
