/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_NET_H
#define SERVE_NET_H

#include "web/guard.h"
#include "serve/host.h"

/*
 * The server on the network: OpenEnv's protocol, MCP and metrics over HTTP and WebSockets. A
 * single thread runs a loop of libwebsockets, which waits for sockets and sandboxes alike.
 */

struct net_options {
	const char *address; /* address to listen on */
	int port;            /* 0: a free one */
	struct guard guard;
	/* Called when the server listens. */
	void (*listening)(void *user, int port);
	void *user;
};

/* Serves until the host's stop_fd becomes readable and the sessions have ended. After an error
 * sessions have ended, too. */
int net_serve(struct host *host, const struct net_options *options, struct fh_error *err);

#endif
