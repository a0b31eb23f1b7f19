/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_FRAMES_H
#define SERVE_FRAMES_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Frames of a WebSocket (RFC 6455): reads those of a client, and writes heads of the server's. Only
 * texts are taken. A client's frame without a mask is wrong.
 */

enum frame_opcode {
	FRAME_CONTINUATION = 0,
	FRAME_TEXT = 1,
	FRAME_BINARY = 2,
	FRAME_CLOSE = 8,
	FRAME_PING = 9,
	FRAME_PONG = 10,
};

enum frame_status {
	CLOSE_NORMAL = 1000,
	CLOSE_AWAY = 1001,
	CLOSE_PROTOCOL = 1002,
	CLOSE_BINARY = 1003,
	CLOSE_INVALID_TEXT = 1007,
	CLOSE_TOO_LARGE = 1009,
	CLOSE_FULL = 1013,
};

#define FRAME_CONTROL_MAX 125
#define FRAME_HEAD_MAX 10 /* without a mask */

/* Reads a client's frames from pieces of any length. */
struct frames {
	struct buf text; /* the message, or its parts that have come */
	char control[FRAME_CONTROL_MAX];
	size_t n_control;
	uint8_t head[FRAME_HEAD_MAX + 4];
	size_t n_head;    /* bytes of the head that have come */
	uint64_t n, left; /* bytes of the payload, and those that have not come */
	bool within;      /* the message goes on in another frame */
	int status;       /* after FRAMES_CLOSE and FRAMES_WRONG: with which to close */
};

enum frames_event {
	FRAMES_MORE,  /* all bytes were taken */
	FRAMES_TEXT,  /* `text` is a message. The caller clears it. */
	FRAMES_PING,  /* `control` is to be sent back */
	FRAMES_PONG,  /* the client is there */
	FRAMES_CLOSE, /* the client closes the connection */
	FRAMES_WRONG, /* the client breaks the protocol; take no more bytes */
};

/* text_max: most bytes of a message. */
void frames_init(struct frames *f, size_t text_max);
void frames_release(struct frames *f);

/* Takes bytes from the front of *data, up to the next event. */
enum frames_event frames_take(struct frames *f, const char **data, size_t *n);

/* Writes the head of a frame with n bytes. Returns the length of the head. */
size_t frame_put_head(char head[FRAME_HEAD_MAX], enum frame_opcode opcode, bool is_last, size_t n);

#endif
