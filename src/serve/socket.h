/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_SOCKET_H
#define SERVE_SOCKET_H

#include "serve/connection.h"

/*
 * WebSockets. A message is answered once the answer before it has been sent; until then it waits in
 * the inbox. Each function that returns an int returns 0, or -1 to close the connection.
 */

/* Checks the head of a request for a WebSocket. Returns 0, or the status that refuses it. */
int socket_check(const struct connection *c);

/* Makes an HTTP connection a WebSocket, with the request that asked for it. */
int socket_open(struct connection *c, enum connection_door door);
int socket_received(struct connection *c, const char *data, size_t n);
int socket_writable(struct connection *c);

/* Call it each second: ends idle sessions. */
void socket_tick(struct connection *c, int64_t now_ns);

/* Closes the connection once its request is answered. */
void socket_drain(struct connection *c);

/* Closes the connection now, also in the middle of a request. */
void socket_end(struct connection *c);
void socket_release(struct connection *c);

#endif
