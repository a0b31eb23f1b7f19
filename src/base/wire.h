/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_WIRE_H
#define BASE_WIRE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The binary form of the messages between an owner and its guests. Numbers are in host order (both
 * ends are one machine), a string is a u32 length and its bytes. Reading never goes past the end:
 * the first read that would sets `bad`, and every read after it gives zeros, so that a decoder
 * checks once, at its end.
 */
struct wire {
	const char *at;
	size_t left;
	bool bad;
};

void wire_put_u8(struct buf *b, uint8_t v);
void wire_put_u32(struct buf *b, uint32_t v);
void wire_put_u64(struct buf *b, uint64_t v);
void wire_put_bytes(struct buf *b, const void *data, size_t n); /* u32 length, bytes */
void wire_put_str(struct buf *b, const char *s);                /* NULL is written as "" */

/* Sends a message, with descriptors; -EMSGSIZE, and nothing is sent, if it is not whole. */
int wire_send(int socket, const struct buf *b, const int *fds, size_t n_fds);

struct wire wire_open(const void *data, size_t n);
uint8_t wire_get_u8(struct wire *w);
uint32_t wire_get_u32(struct wire *w);
uint64_t wire_get_u64(struct wire *w);

/* Points into the message; *out_n bytes, no NUL after them. */
const char *wire_get_bytes(struct wire *w, size_t *out_n);

/*
 * A heap copy with a NUL, which the caller frees; NULL if there is none. A string that holds a NUL
 * itself, or is longer than max bytes, is bad.
 */
char *wire_get_str(struct wire *w, size_t max);

/* True when everything was there and nothing is left over. */
bool wire_done(const struct wire *w);

#endif
