/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_EDITOR_H
#define ENV_EDITOR_H

#include "sandbox/sandbox.h"

/*
 * Tells which file our own tools have open. They (tools/aci/editor.c) note it in a file of the
 * agent's, and ask for it to be read. The note is untrusted, and only shown.
 */
int editor_begin(struct sandbox *sb, uint32_t *out_id, struct fh_error *err);

/* Takes the porter's answer: a path, heap string. NULL: no file is open, or its name can't be
 * shown. */
char *editor_take(struct sandbox *sb);

#endif
