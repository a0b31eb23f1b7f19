/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_TERMINAL_RELAY_H
#define CMD_TERMINAL_RELAY_H

#include "base/error.h"
#include "base/waits.h"

#include <stdbool.h>

/*
 * A terminal for a program in a sandbox: a pseudo-terminal of its own, whose other side is relayed to
 * ours, so that the program never holds ours, whose modes, size and flags it could change. All calls take NULL.
 */
struct terminal_relay;

/* What it prints goes to `to`, a terminal. `input`: what is typed at 0, ours too, which is in raw mode meanwhile, goes
 * to it. *out_side is the program's side; the caller closes it. */
int terminal_relay_open(struct terminal_relay **out, int to, bool input, int *out_side,
		struct fh_error *err);
void terminal_relay_close(struct terminal_relay *relay); /* puts our terminal back */
void terminal_relay_resize(struct terminal_relay *relay);
void terminal_relay_waits(const struct terminal_relay *relay, struct waits *w);
void terminal_relay_advance(struct terminal_relay *relay);
void terminal_relay_drain(struct terminal_relay *relay); /* what is left once the program ended */

#endif
