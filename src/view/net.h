/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_NET_H
#define VIEW_NET_H

#include "base/error.h"
#include "base/str.h"

/*
 * The viewer's server. It listens on this machine only, answers only GET, and only reads. The token
 * is the first part of each path, so that the page's own links have it too.
 */
struct view_options {
	struct texts places; /* folders of runs, or records */
	int port;            /* 0: a free one */
	const char *token;   /* secret of the address */
	int stop_fd;         /* when readable, the server ends */
	/* Called when the server listens. */
	void (*listening)(void *user, int port);
	void *user;
};

int view_serve(const struct view_options *options, struct fh_error *err);

#endif
