/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_SOCKET_H
#define SERVE_SOCKET_H

#include "serve/connection.h"

/*
 * WebSockets. A message is answered once the answer before it has been sent; until then it waits in
 * the inbox. Each function that returns an int returns 0, or -1 to close the connection.
 */

/* Decides about an upgrade. 0: take it; 1: it was refused. */
int socket_confirm(struct connection *c, const char *to);
int socket_opened(struct connection *c);
int socket_received(struct connection *c, const char *data, size_t n);
int socket_writable(struct connection *c);

/* Call it each second: ends idle sessions. */
void socket_tick(struct connection *c, int64_t now_ns);

/* Closes the connection once its request is answered. */
void socket_drain(struct connection *c);
void socket_release(struct connection *c);

#endif
