/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_OPENENV_H
#define SERVE_OPENENV_H

#include "serve/client.h"

/*
 * The protocol of OpenEnv (docs/serve.md): messages over a WebSocket, and requests over HTTP. Each
 * message and request gets one answer, but for "close".
 */

/* Takes a message of the WebSocket /ws. */
void openenv_message(struct client *c, const char *text, size_t n);

/* Answers a message that the client's session can't take: the server is full, for example. `code`
 * is like "SESSION_ERROR". */
void openenv_refuse(struct client *c, const char *code, const char *message);

/* Answers that no more sessions fit. */
void openenv_refuse_full(struct client *c);

/* Take the bodies of POST /reset and /step. An episode is found by its episode_id, over any
 * connection. A request without an episode_id is for the last reset without one. */
void openenv_post_reset(struct client *c, const char *text, size_t n);
void openenv_post_step(struct client *c, const char *text, size_t n);

/* Answer GET /state, /schema, /metadata and /openapi.json. episode_id may be NULL. */
void openenv_get_state(struct client *c, const char *episode_id);
void openenv_get_schema(struct client *c);
void openenv_get_metadata(struct client *c);
void openenv_get_openapi(struct client *c);

#endif
