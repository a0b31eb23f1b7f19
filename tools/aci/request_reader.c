/* SPDX-License-Identifier: Apache-2.0 */
#include "request_reader.h"

#include "base/request_head.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define CHUNK_LINE_MAX 1024

enum { BAD_REQUEST = 400, TOO_LARGE = 413, HEAD_TOO_LARGE = 431, UNKNOWN = 501 };

void request_reader_init(struct request_reader *r)
{
	*r = (struct request_reader){ .body = BUF_INIT(GATEWAY_BODY_MAX) };
}

void request_reader_release(struct request_reader *r)
{
	buf_release(&r->body);
}

/* --- the head --------------------------------------------------------------------------------- */

static int request_read_length(struct request_reader *r, const char *value)
{
	uint64_t n = 0;

	if (!*value || value[strspn(value, "0123456789")] || strlen(value) > 18)
		return BAD_REQUEST;
	for (; *value; value++)
		n = 10 * n + (uint64_t)(*value - '0');
	if (n > GATEWAY_BODY_MAX)
		return TOO_LARGE;
	if (r->has_length && r->n_body != n)
		return BAD_REQUEST;
	r->has_length = true;
	r->n_body = n;
	return 0;
}

static int request_read_key(struct request_reader *r, const char *value)
{
	return (size_t)snprintf(r->key, sizeof(r->key), "%s", value) < sizeof(r->key)
			? 0
			: HEAD_TOO_LARGE;
}

static int request_read_header(struct request_reader *r, const char *name, const char *value)
{
	if (strcasecmp(name, "content-length") == 0)
		return request_read_length(r, value);
	if (strcasecmp(name, "transfer-encoding") == 0) {
		r->is_chunked = true;
		return strcasecmp(value, "chunked") == 0 ? 0 : UNKNOWN;
	}
	if (strcasecmp(name, "content-encoding") == 0)
		return strcasecmp(value, "identity") == 0 ? 0 : UNKNOWN;
	if (strcasecmp(name, "connection") == 0)
		r->closes = strcasecmp(value, "close") == 0 ||
				(r->closes && strcasecmp(value, "keep-alive") != 0);
	else if (strcasecmp(name, "expect") == 0)
		r->expects = strcasecmp(value, "100-continue") == 0;
	else if (strcasecmp(name, "x-api-key") == 0)
		return request_read_key(r, value);
	else if (strcasecmp(name, "authorization") == 0 && strncasecmp(value, "Bearer ", 7) == 0)
		return request_read_key(r, value + 7);
	return 0;
}

/* Reads a head of n bytes in place, which ends with "\r\n\r\n". */
static int request_read_head(struct request_reader *r, char *head, size_t n)
{
	const char *name, *value;
	struct request_head h;
	int status = request_head_begin(&h, head, n);
	int n_path;

	if (status)
		return status;
	n_path = (int)strcspn(h.path, "?");
	if (snprintf(r->line, sizeof(r->line), "%s %.*s", h.method, n_path, h.path) >=
			(int)sizeof(r->line))
		return HEAD_TOO_LARGE;
	r->closes = h.is_old;
	while ((status = request_head_next(&h, &name, &value)) == 1) {
		status = request_read_header(r, name, value);
		if (status)
			break;
	}
	return !status && r->is_chunked && r->has_length ? BAD_REQUEST : status;
}

/* --- the body --------------------------------------------------------------------------------- */

/*
 * Takes a chunk from the front of `in`: its size in hexadecimal, "\r\n", its bytes, "\r\n". 1: it
 * was the last one. 0: more bytes are needed. -1: it was taken, so call again. Trailers are
 * refused.
 */
static int request_take_chunk(struct request_reader *r, struct buf *in)
{
	size_t most = in->len < CHUNK_LINE_MAX ? in->len : CHUNK_LINE_MAX;
	const char *line = buf_str(in);
	const char *end = memmem(line, most, "\r\n", 2);
	size_t size = 0, digits = 0, head;

	if (!end)
		return in->len >= CHUNK_LINE_MAX ? BAD_REQUEST : 0;
	head = (size_t)(end + 2 - line);
	for (; isxdigit((unsigned char)line[digits]); digits++) {
		char c = line[digits];

		if (digits >= 8)
			return TOO_LARGE;
		size = 16 * size +
				(size_t)(isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10);
	}
	if (!digits || (line[digits] != ';' && line[digits] != '\r'))
		return BAD_REQUEST;
	if (size > GATEWAY_BODY_MAX - r->body.len)
		return TOO_LARGE;
	if (in->len < head + size + 2)
		return 0;
	if (memcmp(line + head + size, "\r\n", 2) != 0)
		return BAD_REQUEST;
	buf_add(&r->body, line + head, size);
	buf_consume(in, head + size + 2);
	return size ? -1 : 1;
}

static int request_take_body(struct request_reader *r, struct buf *in)
{
	size_t n = r->n_body - r->body.len;
	int status = -1;

	if (r->is_chunked) {
		while (status < 0)
			status = request_take_chunk(r, in);
		return status;
	}
	n = n < in->len ? n : in->len;
	buf_add(&r->body, buf_str(in), n);
	buf_consume(in, n);
	return r->body.len == r->n_body;
}

int request_reader_feed(struct request_reader *r, struct buf *in)
{
	size_t n;
	char *end;
	int status;

	if (r->has_head)
		return request_take_body(r, in);
	if (!in->len)
		return 0;
	n = in->len < GATEWAY_HEAD_MAX ? in->len : GATEWAY_HEAD_MAX;
	end = memmem(in->data, n, "\r\n\r\n", 4);
	if (!end)
		return n == GATEWAY_HEAD_MAX ? HEAD_TOO_LARGE : 0;
	n = (size_t)(end + 4 - in->data);
	status = request_read_head(r, in->data, n);
	if (status)
		return status;
	buf_consume(in, n);
	r->has_head = true;
	return request_take_body(r, in);
}
