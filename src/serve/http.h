/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include "serve/connection.h"

/*
 * HTTP requests. They are answered one after the other; a client may send the next one before. Each
 * function that returns an int returns 0, or -1 to close the connection.
 */
/* Prepares a new connection for its first request. */
void http_prepare(struct connection *c);
int http_received(struct connection *c, const char *data, size_t n);
int http_writable(struct connection *c);

/* Call it each second: keeps long calls alive. */
void http_tick(struct connection *c, int64_t now_ns);

#endif
