/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_DIALECTS_H
#define MODEL_DIALECTS_H

#include "model/dialect.h"

/* All protocols. The table in vendor.c assigns one to each provider. */
extern const struct dialect dialect_openai, dialect_anthropic;

/* A message in OpenAI's form, for conversations that others send. */
json_t *openai_write_message(const struct chat_message *message);
/* Adds a message of the model to the reply. `whole`: it is complete, no piece of a stream. */
int openai_read_message(struct reply *r, const json_t *message, bool whole, struct fh_error *err);

#endif
