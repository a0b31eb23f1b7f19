/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_DIALECTS_H
#define MODEL_DIALECTS_H

#include "model/dialect.h"

/* All protocols. The table in vendor.c assigns one to each provider. */
extern const struct dialect dialect_openai, dialect_anthropic;

#endif
