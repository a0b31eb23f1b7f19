/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_WIRE_H
#define BASE_WIRE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The binary form of messages between a process that has sandboxes and the processes of its
 * sandboxes. Numbers are in host byte order, because both run on the same machine. A string is a
 * u32 length and its bytes. A read past the end sets `bad` and gives zeros, and so do all later
 * reads. So a decoder checks only once, with wire_done().
 */
struct wire {
	const char *at;
	size_t left;
	bool bad;
};

void wire_put_u8(struct buf *b, uint8_t v);
void wire_put_u32(struct buf *b, uint32_t v);
void wire_put_u64(struct buf *b, uint64_t v);
/* appends a u32 length, then the bytes */
void wire_put_bytes(struct buf *b, const void *data, size_t n);
/* appends a string; NULL becomes "" */
void wire_put_str(struct buf *b, const char *s);

/* Sends a message with descriptors. -EMSGSIZE if the buffer was truncated. */
int wire_send(int socket, const struct buf *b, const int *fds, size_t n_fds);

struct wire wire_open(const void *data, size_t n);
uint8_t wire_get_u8(struct wire *w);
uint32_t wire_get_u32(struct wire *w);
uint64_t wire_get_u64(struct wire *w);

/* Reads a byte string: returns its first byte inside the message and sets *out_n. No NUL follows
 * the bytes. */
const char *wire_get_bytes(struct wire *w, size_t *out_n);

/*
 * wire_get_text() reads a string: returns its first byte inside the message, without a NUL at the
 * end. Returns NULL and sets `bad` if the string is missing, over max bytes, or has a NUL byte.
 * wire_get_str() does the same, and copies the string onto the heap.
 */
const char *wire_get_text(struct wire *w, size_t max, size_t *out_n);
char *wire_get_str(struct wire *w, size_t max);

/* True if all reads succeeded and no bytes of the message are left. */
bool wire_done(const struct wire *w);

#endif
