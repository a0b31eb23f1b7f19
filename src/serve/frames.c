/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/frames.h"

#include "base/str.h"

#include <string.h>

/*
 * Written by hand, although libwebsockets accepts connections, watches their sockets and sends.
 * libwebsockets takes frames without masks. It also reads frames only after requests that it read
 * itself, and base/request_reader.c tells why it reads none.
 */

#define FINAL 0x80
#define RESERVED 0x70
#define OPCODE 0x0f
#define IS_MASKED 0x80
#define LENGTH 0x7f
#define LENGTH_16 126
#define LENGTH_64 127
#define MASK_BYTES 4

void frames_init(struct frames *f, size_t text_max)
{
	*f = (struct frames){ .text = BUF_INIT(text_max) };
}

void frames_release(struct frames *f)
{
	buf_release(&f->text);
}

/* --- heads ------------------------------------------------------------------------------------ */

static size_t frames_length_bytes(const struct frames *f)
{
	int length = f->head[1] & LENGTH;

	return length == LENGTH_16 ? 2 : length == LENGTH_64 ? 8 : 0;
}

/* Checks the first two bytes of a frame. Returns 0, or the status with which to close. */
static int frames_check(const struct frames *f)
{
	bool is_last = f->head[0] & FINAL;

	if (f->head[0] & RESERVED || !(f->head[1] & IS_MASKED))
		return CLOSE_PROTOCOL;
	switch ((enum frame_opcode)(f->head[0] & OPCODE)) {
	case FRAME_CONTINUATION:
		return f->within ? 0 : CLOSE_PROTOCOL;
	case FRAME_TEXT:
		return f->within ? CLOSE_PROTOCOL : 0;
	case FRAME_BINARY:
		return CLOSE_BINARY;
	case FRAME_CLOSE:
	case FRAME_PING:
	case FRAME_PONG:
		return is_last && !frames_length_bytes(f) ? 0 : CLOSE_PROTOCOL;
	}
	return CLOSE_PROTOCOL;
}

static bool frames_is_control(const struct frames *f)
{
	return f->head[0] & 8;
}

/* Reads the payload's length. Returns 0, or the status with which to close. */
static int frames_begin_payload(struct frames *f)
{
	size_t n = frames_length_bytes(f);

	f->n = n ? 0 : f->head[1] & LENGTH;
	for (size_t i = 0; i < n; i++)
		f->n = f->n << 8 | f->head[2 + i];
	if ((n && f->n <= FRAME_CONTROL_MAX) || (n == 8 && f->n <= UINT16_MAX))
		return CLOSE_PROTOCOL; /* the length should have the shortest form */
	f->left = f->n;
	f->n_control = 0;
	return frames_is_control(f) || f->n <= f->text.cap - f->text.len ? 0 : CLOSE_TOO_LARGE;
}

/* Takes bytes of a head. False: more are needed, or f->status is set. */
static bool frames_take_head(struct frames *f, const char **data, size_t *n)
{
	for (;;) {
		size_t all = f->n_head < 2 ? 2 : 2 + frames_length_bytes(f) + MASK_BYTES;

		if (f->n_head > 2 && f->n_head == all)
			return true;
		if (!*n)
			return false;
		f->head[f->n_head++] = (uint8_t) * (*data)++;
		--*n;
		if (f->n_head == 2)
			f->status = frames_check(f);
		if (!f->status && f->n_head == 2 + frames_length_bytes(f))
			f->status = frames_begin_payload(f);
		if (f->status)
			return false;
	}
}

/* --- payloads --------------------------------------------------------------------------------- */

static void frames_take_payload(struct frames *f, const char **data, size_t *n)
{
	const uint8_t *mask = f->head + f->n_head - MASK_BYTES;
	size_t most = f->left < *n ? (size_t)f->left : *n;
	uint64_t at = f->n - f->left;
	char *to = f->control + f->n_control;

	if (frames_is_control(f)) {
		f->n_control += most;
	} else {
		most = buf_reserve(&f->text, most);
		to = f->text.data + f->text.len;
		f->text.len += most;
	}
	for (size_t i = 0; i < most; i++)
		to[i] = (char)((*data)[i] ^ mask[(at + i) % MASK_BYTES]);
	f->left -= most;
	*data += most;
	*n -= most;
}

/* Finds the status with which to answer a close frame. */
static int frames_close_status(const struct frames *f)
{
	const uint8_t *bytes = (const uint8_t *)f->control;
	int status = f->n_control > 1 ? bytes[0] << 8 | bytes[1] : 0;
	bool is_known = (status >= 1000 && status <= 1014 && (status < 1004 || status > 1006)) ||
			(status >= 3000 && status <= 4999);

	if (!f->n_control)
		return CLOSE_NORMAL;
	if (!is_known)
		return CLOSE_PROTOCOL;
	return str_utf8_invalid(f->control + 2, f->n_control - 2) < 0 ? status : CLOSE_INVALID_TEXT;
}

static enum frames_event frames_end_text(struct frames *f)
{
	f->within = !(f->head[0] & FINAL);
	if (f->within)
		return FRAMES_MORE;
	f->text.data[f->text.len] = '\0';
	if (str_utf8_invalid(buf_str(&f->text), f->text.len) < 0)
		return FRAMES_TEXT;
	f->status = CLOSE_INVALID_TEXT;
	return FRAMES_WRONG;
}

static enum frames_event frames_end(struct frames *f)
{
	f->n_head = 0;
	switch ((enum frame_opcode)(f->head[0] & OPCODE)) {
	case FRAME_PING:
		return FRAMES_PING;
	case FRAME_PONG:
		return FRAMES_PONG;
	case FRAME_CLOSE:
		f->status = frames_close_status(f);
		return FRAMES_CLOSE;
	case FRAME_CONTINUATION:
	case FRAME_TEXT:
	case FRAME_BINARY:
		break;
	}
	return frames_end_text(f);
}

enum frames_event frames_take(struct frames *f, const char **data, size_t *n)
{
	enum frames_event event = FRAMES_MORE;

	while (event == FRAMES_MORE) {
		if (!frames_take_head(f, data, n))
			return f->status ? FRAMES_WRONG : FRAMES_MORE;
		if (f->left && !*n)
			return FRAMES_MORE;
		frames_take_payload(f, data, n);
		if (f->text.truncated) { /* there was no memory */
			f->status = CLOSE_TOO_LARGE;
			return FRAMES_WRONG;
		}
		if (!f->left)
			event = frames_end(f);
	}
	return event;
}

size_t frame_put_head(char head[FRAME_HEAD_MAX], enum frame_opcode opcode, bool is_last, size_t n)
{
	size_t n_length = n <= FRAME_CONTROL_MAX ? 0 : n <= UINT16_MAX ? 2 : 8;

	head[0] = (char)((is_last ? FINAL : 0) | opcode);
	head[1] = (char)(n_length == 0 ? n : n_length == 2 ? LENGTH_16 : LENGTH_64);
	for (size_t i = 0; i < n_length; i++)
		head[2 + i] = (char)(n >> 8 * (n_length - 1 - i));
	return 2 + n_length;
}
