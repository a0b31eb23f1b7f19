/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_GATEWAY_STREAM_H
#define ACI_GATEWAY_STREAM_H

#include "base/buf.h"
#include "base/json.h"

#include <stdbool.h>

/*
 * Write the whole answer of a language model as a stream of server-sent events, for clients that
 * asked for one. A text comes as a single piece.
 */
/* OpenAI's chat completions. `usage`: the client asked for an event with the usage. */
void gateway_stream_openai(struct buf *out, json_t *answer, bool usage);
/* Anthropic's messages. */
void gateway_stream_anthropic(struct buf *out, json_t *answer);

#endif
