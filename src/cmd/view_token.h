/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_VIEW_TOKEN_H
#define CMD_VIEW_TOKEN_H

#include "base/arena.h"
#include "base/error.h"

/* Takes the token of the viewer's address from $FUMEHOOD_TOKEN, or draws one. It may only have
 * characters that an address can have. */
int view_token(struct arena *a, const char **out, struct fh_error *err);

#endif
