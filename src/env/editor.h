/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_EDITOR_H
#define ENV_EDITOR_H

#include "sandbox/sandbox.h"

/*
 * Tells which file the editor of our own tools has open. The tools (tools/aci/editor.c) note the
 * path in a file of the agent's, and request that it is read. The note is untrusted, and only
 * shown.
 */
int editor_begin(struct sandbox *sb, uint32_t *out_id, struct fh_error *err);

/*
 * Takes the sandbox' answer, and returns the open file's path (heap). NULL: no file is open, or its
 * name can't be shown.
 */
char *editor_take(struct sandbox *sb);

#endif
