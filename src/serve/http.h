/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include "serve/connection.h"

/* HTTP requests. Each function that returns an int returns 0, or -1 to close the connection. */
int http_take_request(struct connection *c, const char *path);
int http_body(struct connection *c, const char *data, size_t n);
int http_body_end(struct connection *c);
int http_writable(struct connection *c);

/* Call it each second: keeps long calls alive. */
void http_tick(struct connection *c, int64_t now_ns);

/* Answers an upgrade to a WebSocket that is refused, with a status. Returns 1. */
int http_refuse_upgrade(struct connection *c, int status);

#endif
