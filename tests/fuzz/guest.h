/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_GUEST_H
#define FUZZ_GUEST_H

#include "input.h"

#include "proto/guest.h"
#include "native/native.h"

#include <stdbool.h>

/*
 * A guest that was taken over, at the far ends of a sandbox' descriptors: it says what the input says, and
 * answers when the input wants it to. The owner's side is the real one. Time stands still but for
 * guest_sleep_ns() and where somebody waits, so that no timeout takes its time.
 */
struct guest {
	struct sandbox *sb;  /* the owner's; sandbox_close() may have been called */
	int control, porter; /* -1: closed, as the next */
	int mail;
};

#define GUEST_NONE ((struct guest){ .control = -1, .porter = -1, .mail = -1 })

/* With a shell: its mail is taken by the first guest_listen(). */
void guest_open(struct guest *g, bool shell);
/* Its ends alone. */
void guest_close(struct guest *g);

/* Sends bytes as a message by one of the guest's sockets, an odd number of them with a descriptor: of a file
 * that holds them, sealed or not, or of what is none. Never blocks. */
void guest_say(int socket, const void *data, size_t n);
/* As a porter would: output of a stream. */
void guest_print(struct guest *g, uint32_t stream, const void *data, size_t n);

/* Reads what the owner has sent: takes a shell's mail, and answers as PID 1 would. */
void guest_listen(struct guest *g);

void guest_sleep_ns(int64_t ns);

#endif
