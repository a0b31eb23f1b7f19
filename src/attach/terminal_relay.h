/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ATTACH_TERMINAL_RELAY_H
#define ATTACH_TERMINAL_RELAY_H

#include "base/error.h"
#include "base/waits.h"

#include <stdbool.h>

/*
 * Relays between our terminal and the pseudo-terminal of a program in a sandbox. The program never
 * has our terminal, so it can't change its modes, size and flags. All calls take NULL.
 *
 * The program can hold the kernel's locks of the pseudo-terminal for long. So a child process
 * relays, and this process has no descriptor of the pseudo-terminal while the program runs.
 */
struct terminal_relay;

/*
 * Opens a relay for the pseudo-terminal whose master is `master`; the caller closes its copy. The
 * program's output goes to `to`, a terminal. With `input`, keys from descriptor 0 go to the
 * program, and our terminal is in raw mode.
 */
int terminal_relay_open(
		struct terminal_relay **out, int master, int to, bool input, struct fh_error *err);
/* Ends the child that relays without waiting for it, and restores the modes of our terminal. */
void terminal_relay_close(struct terminal_relay *relay);
void terminal_relay_resize(struct terminal_relay *relay);
/* Copies the rest of the output. Call it once, when the program has ended. */
void terminal_relay_drain(struct terminal_relay *relay);
/* true from terminal_relay_drain() on, until the rest is copied or 5 s have passed */
bool terminal_relay_pending(const struct terminal_relay *relay);
#define TERMINAL_RELAY_FDS 1
void terminal_relay_waits(const struct terminal_relay *relay, struct waits *w);
void terminal_relay_advance(struct terminal_relay *relay);

#endif
