/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_MCP_H
#define SERVE_MCP_H

#include "serve/client.h"
#include "serve/inbox.h"

/*
 * The Model Context Protocol, by JSON-RPC. It has tools with which an agent plays an episode, and
 * OpenEnv's methods for sessions that outlive a connection (docs/serve.md).
 */

/* Takes a text that should be a JSON-RPC request or notification. A notification gets an empty
 * answer. */
void mcp_message(struct client *c, const char *text, size_t n);

/* Takes a parsed request, after client_begin(). */
void mcp_take(struct client *c, const struct pyjson *request);

/*
 * Takes a text that comes while a call is under way, or others wait. A cancellation can't wait: it
 * interrupts the call that it names, or drops it from the inbox. Other texts are kept there.
 */
void mcp_keep(struct client *c, struct inbox *inbox, const char *text, size_t n);

/* Checks the version that a request's header names, such as "2025-06-18"; NULL: none. False: the
 * server does not speak it, and the request is answered with 400. */
bool mcp_check_version(struct client *c, const char *version);

/* True if the text is a request or notification of the method. */
bool mcp_is(const char *method, const char *text, size_t n);

/* Answers that no more sessions fit. */
void mcp_refuse_full(struct client *c);

/* Answers with an error that is not about the request's content. */
void mcp_refuse(struct client *c, int status, const char *message);

#endif
