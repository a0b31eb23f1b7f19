/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_INBOX_H
#define NATIVE_INBOX_H

#include "native/native.h"

/*
 * Events of a sandbox in one order: those of PID 1 (control.c) and of the porter (porter.c). Events
 * that came while the caller waited for an answer are queued.
 */

void inbox_next_event(struct sandbox *base, struct sandbox_event *out);
void inbox_waits(const struct sandbox *base, struct waits *w);
/* Whether an event can be read for which no descriptor becomes readable. */
bool inbox_has_event(const struct native_sandbox *sb);
/* sandbox_answered(), and what to wait for until it is true. */
bool inbox_answered(struct sandbox *base, uint32_t id);
void inbox_answer_waits(const struct sandbox *base, struct waits *w);

#endif
