/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_DIALECTS_H
#define MODEL_DIALECTS_H

#include "model/dialect.h"

/* All protocols: the table of vendor.c names them. */
extern const struct dialect dialect_openai, dialect_anthropic;

#endif
