/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_EDITOR_H
#define ENV_EDITOR_H

#include "sandbox/sandbox.h"

/*
 * Tells which file our own tools (tools/aci/editor.c) have open: they note it in a file of the
 * agent's, and have the porter tell that the note has changed. The note is untrusted; it is only
 * shown. /
 */
int editor_begin(struct sandbox *sb, uint32_t *out_id, struct fh_error *err);

/* After the porter's answer: the path, a heap string; NULL: no file is open, or the note has none
 * to show. */
char *editor_take(struct sandbox *sb);

#endif
