/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_GUEST_H
#define FUZZ_GUEST_H

#include "input.h"

#include "proto/guest.h"
#include "sandbox/owner.h"

#include <stdbool.h>

/*
 * A guest that was taken over, at the far ends of a sandbox' descriptors: it says what the input says, and
 * answers when the input wants it to. The owner's side is the real one. Time stands still but for
 * guest_sleep_ns() and where somebody waits, so that no timeout takes its time.
 */
struct guest {
	struct sandbox *sb;   /* the owner's; sandbox_close() may have been called */
	int control;          /* -1: closed, as the next */
	int shell[SHELL_FDS]; /* mail, status, output */
};

#define GUEST_NONE ((struct guest){ .control = -1, .shell = { -1, -1, -1 } })

enum { GUEST_MAIL, GUEST_STATUS, GUEST_OUTPUT };

/* With a shell: its descriptors are taken by the first guest_listen(). */
void guest_open(struct guest *g, bool shell);
/* Its ends alone. */
void guest_close(struct guest *g);

/* Sends bytes as a message of PID 1, an odd number of them with a descriptor: of a file that holds them, or
 * of what is none. Never blocks. */
void guest_say(struct guest *g, const void *data, size_t n);
void guest_write(int fd, const void *data, size_t n); /* what there is room for */

/* Reads what the owner has sent: takes a shell's descriptors, and answers as PID 1 would. */
void guest_listen(struct guest *g);

void guest_sleep_ns(int64_t ns);

#endif
