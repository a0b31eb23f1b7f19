/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_WATCH_H
#define VIEW_WATCH_H

#include "base/error.h"

struct lws_context;

/*
 * The sockets of a server with many connections. libwebsockets looks at all sockets for each event,
 * which takes longer than most answers. epoll names the sockets that are ready.
 */

/* Opens a socket that listens on this machine only. `port` 0 takes a free one. */
int watch_listen(int port, int *out_fd, int *out_port, struct fh_error *err);

int watch_open(int *out_fd, struct fh_error *err);

/* Watches a descriptor until it is closed. */
void watch_add(int watch_fd, int fd);

/* Serves the descriptors that are ready, which are of `context`. If there is none, waits until one
 * is, but no longer than `wait_ms`. Returns how many were served, or less than 0. */
int watch_serve(int watch_fd, struct lws_context *context, int wait_ms);

#endif
