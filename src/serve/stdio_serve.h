/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_STDIO_SERVE_H
#define SERVE_STDIO_SERVE_H

#include "serve/host.h"

/*
 * Serves one client of MCP, which writes JSON-RPC to in_fd and reads from out_fd, a line for each
 * message. Ends when in_fd has ended and all is answered, when out_fd is closed, or when the host's
 * stop_fd becomes readable. -EIO and others: waiting or reading failed.
 */
int stdio_serve(struct host *host, int in_fd, int out_fd, struct fh_error *err);

#endif
