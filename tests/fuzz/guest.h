/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_GUEST_H
#define FUZZ_GUEST_H

#include "input.h"

#include "proto/guest.h"
#include "native/native.h"

#include <stdbool.h>

/*
 * A hostile fake sandbox, which holds the far ends of an owner's descriptors. It sends the input's
 * bytes, and answers when the input wants it to. The owner's side is the real one. Time advances
 * only in guest_sleep_ns() and in waits, so that no timeout takes real time.
 */
struct guest {
	struct sandbox *sb;  /* the owner's end; may be closed already */
	int control, porter; /* sockets; -1: closed (`mail` too) */
	int mail;
};

#define GUEST_NONE ((struct guest){ .control = -1, .porter = -1, .mail = -1 })

/* Opens a sandbox with a fake guest. If `shell` is true, the first guest_listen() receives the
 * memory by which a shell gets commands. */
void guest_open(struct guest *g, bool shell);
/* Closes the guest's descriptors, but not the sandbox. */
void guest_close(struct guest *g);

/* Sends a message to the owner through one of the guest's sockets. Never blocks. An odd number of
 * bytes carries a descriptor: /dev/null, or a file with these bytes, sealed or not. */
void guest_say(int socket, const void *data, size_t n);
/* Sends bytes as output of a stream, as the porter would, which forwards a sandbox's output. */
void guest_print(struct guest *g, uint32_t stream, const void *data, size_t n);

/* Reads what the owner has sent: receives the memory of the shell's commands, and answers as PID 1
 * would. */
void guest_listen(struct guest *g);

void guest_sleep_ns(int64_t ns);

#endif
