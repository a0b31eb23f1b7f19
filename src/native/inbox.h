/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_INBOX_H
#define NATIVE_INBOX_H

#include "native/native.h"

/*
 * Gives the next event of a sandbox, from PID 1 (control.c) or from the porter (porter.c). Events
 * that came while the caller waited for an answer are queued, and come first.
 */

void inbox_next_event(struct sandbox *base, struct sandbox_event *out);
void inbox_waits(const struct sandbox *base, struct waits *w);
/* Returns true if inbox_next_event() may have an event although no descriptor becomes readable for
 * it. */
bool inbox_has_event(const struct native_sandbox *sb);
/*
 * inbox_answered() is sandbox_answered() of native sandboxes. inbox_answer_waits() adds the
 * descriptors and deadlines to wait for until inbox_answered() is true.
 */
bool inbox_answered(struct sandbox *base, uint32_t id);
void inbox_answer_waits(const struct sandbox *base, struct waits *w);

#endif
