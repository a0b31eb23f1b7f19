/* SPDX-License-Identifier: Apache-2.0 */
#include "base/wire.h"

#include "base/fd.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>

/* Appends a value to a message, unless an earlier value did not fit. Otherwise the receiver would
 * take the later value for the missing one. */
static void wire_put(struct buf *b, const void *data, size_t n)
{
	if (!b->truncated)
		buf_add(b, data, n);
}

void wire_put_u8(struct buf *b, uint8_t v)
{
	wire_put(b, &v, sizeof(v));
}

void wire_put_u32(struct buf *b, uint32_t v)
{
	wire_put(b, &v, sizeof(v));
}

void wire_put_u64(struct buf *b, uint64_t v)
{
	wire_put(b, &v, sizeof(v));
}

void wire_put_bytes(struct buf *b, const void *data, size_t n)
{
	wire_put_u32(b, (uint32_t)n);
	wire_put(b, data, n);
}

void wire_put_str(struct buf *b, const char *s)
{
	wire_put_bytes(b, s ? s : "", s ? strlen(s) : 0);
}

int wire_send(int socket, const struct buf *b, const int *fds, size_t n_fds)
{
	return b->truncated ? -EMSGSIZE : fd_send_message(socket, b->data, b->len, fds, n_fds, 0);
}

struct wire wire_open(const void *data, size_t n)
{
	return (struct wire){ .at = data, .left = n };
}

static const char *wire_take(struct wire *w, size_t n)
{
	const char *at = w->at;

	if (w->bad || n > w->left) {
		w->bad = true;
		return NULL;
	}
	w->at += n;
	w->left -= n;
	return at;
}

static void wire_take_into(struct wire *w, void *v, size_t n)
{
	const char *at = wire_take(w, n);

	if (at)
		memcpy(v, at, n);
}

uint8_t wire_get_u8(struct wire *w)
{
	uint8_t v = 0;

	wire_take_into(w, &v, sizeof(v));
	return v;
}

uint32_t wire_get_u32(struct wire *w)
{
	uint32_t v = 0;

	wire_take_into(w, &v, sizeof(v));
	return v;
}

uint64_t wire_get_u64(struct wire *w)
{
	uint64_t v = 0;

	wire_take_into(w, &v, sizeof(v));
	return v;
}

const char *wire_get_bytes(struct wire *w, size_t *out_n)
{
	uint32_t n = wire_get_u32(w);
	const char *at = wire_take(w, n);

	*out_n = at ? n : 0;
	return at;
}

const char *wire_get_text(struct wire *w, size_t max, size_t *out_n)
{
	const char *at = wire_get_bytes(w, out_n);

	if (at && (*out_n > max || memchr(at, '\0', *out_n)))
		w->bad = true;
	return w->bad ? NULL : at;
}

char *wire_get_str(struct wire *w, size_t max)
{
	size_t n;
	const char *at = wire_get_text(w, max, &n);

	return at ? xstrndup(at, n) : NULL;
}

bool wire_done(const struct wire *w)
{
	return !w->bad && w->left == 0;
}
