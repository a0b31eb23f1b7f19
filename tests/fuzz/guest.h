/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_GUEST_H
#define FUZZ_GUEST_H

#include "input.h"

#include "proto/guest.h"
#include "native/native.h"

#include <stdbool.h>

/*
 * A hostile guest at the far ends of a sandbox's descriptors. It sends the input's bytes, and
 * answers when the input wants it to. The owner's side is the real one. Time advances only in
 * guest_sleep_ns() and in waits, so that no timeout takes real time.
 */
struct guest {
	struct sandbox *sb;  /* the owner's; sandbox_close() may have been called */
	int control, porter; /* -1: closed, as the next */
	int mail;
};

#define GUEST_NONE ((struct guest){ .control = -1, .porter = -1, .mail = -1 })

/* With a shell: its mail is taken by the first guest_listen(). */
void guest_open(struct guest *g, bool shell);
/* Closes the guest's descriptors, but not the sandbox. */
void guest_close(struct guest *g);

/* Sends bytes as a message by one of the guest's sockets. An odd number of bytes carries a
 * descriptor: a file of these bytes, sealed or not, or /dev/null. Never blocks. */
void guest_say(int socket, const void *data, size_t n);
/* As a porter would: output of a stream. */
void guest_print(struct guest *g, uint32_t stream, const void *data, size_t n);

/* Reads what the owner has sent: takes a shell's mail, and answers as PID 1 would. */
void guest_listen(struct guest *g);

void guest_sleep_ns(int64_t ns);

#endif
