/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_PIPE_RELAY_H
#define CMD_PIPE_RELAY_H

#include "base/waits.h"
#include "sandbox/sandbox.h"

#include <stdbool.h>

/*
 * Pipes for a program in a sandbox: they stand for our own standard input, output and error where these are pipes or
 * sockets. So the program never holds ours, whose kernel lock it could keep and whose flags it could change. The porter
 * (guest/porter.c) alone touches the program's pipes; nothing here waits for it, or for who is at the other end of ours.
 */
struct pipe_relay;

/* fds: what becomes 0, 1 and 2 of the program. Those of our own pipes and sockets are replaced by RUN_INPUT and so on. */
struct pipe_relay *pipe_relay_new(struct sandbox *sb, int fds[3]);
void pipe_relay_free(struct pipe_relay *relay);

void pipe_relay_begin(struct pipe_relay *relay, uint32_t id); /* the program's, by sandbox_run() */
void pipe_relay_hungry(struct pipe_relay *relay);             /* SANDBOX_HUNGRY came */
bool pipe_relay_pending(const struct pipe_relay *relay); /* who reads ours has to take some first */
void pipe_relay_waits(const struct pipe_relay *relay, struct waits *w);
void pipe_relay_advance(struct pipe_relay *relay);

#endif
