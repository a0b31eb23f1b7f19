/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ATTACH_PIPE_RELAY_H
#define ATTACH_PIPE_RELAY_H

#include "base/waits.h"
#include "sandbox/sandbox.h"

#include <stdbool.h>

/*
 * Relays our standard input, output and error to a program in a sandbox, if they are pipes or
 * sockets. The program never holds our pipes, so it can't block them or change their flags. It has
 * pipes of the porter (guest/porter.c). No call here blocks.
 */
struct pipe_relay;

/* `streams` become descriptors 0, 1 and 2 of the program. If data of one is relayed, it is replaced
 * by STREAM_INPUT, STREAM_PIPE_1 or STREAM_PIPE_2. */
struct pipe_relay *pipe_relay_new(struct sandbox *sb, int streams[3]);
void pipe_relay_free(struct pipe_relay *relay);

/* Begins to relay. Call it after sandbox_run(), which gives the program's `id`. */
void pipe_relay_begin(struct pipe_relay *relay, uint32_t id);
/* call it when the sandbox reports SANDBOX_HUNGRY: the program can take more input */
void pipe_relay_hungry(struct pipe_relay *relay);
/* true while output of the program waits because our reader takes no more */
bool pipe_relay_pending(const struct pipe_relay *relay);
#define PIPE_RELAY_FDS 3
void pipe_relay_waits(const struct pipe_relay *relay, struct waits *w);
void pipe_relay_advance(struct pipe_relay *relay);

#endif
