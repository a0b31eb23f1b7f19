/* SPDX-License-Identifier: Apache-2.0 */
#include "base/request_reader.h"

#include "base/mem.h"
#include "base/request_head.h"
#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Written by hand: libwebsockets' reader closed connections with long headers, and spun when a
 * client sent several requests at once. The gateway in a sandbox reads requests too, without that
 * library.
 */

#define CHUNK_LINE_MAX 1024

enum {
	BAD_REQUEST = 400,
	TOO_LARGE = 413,
	PATH_TOO_LONG = 414,
	UNKNOWN_CODING = 415,
	UNKNOWN_EXPECTATION = 417,
	HEAD_TOO_LARGE = 431,
	UNKNOWN = 501,
};

void request_reader_init(struct request_reader *r, size_t body_max)
{
	*r = (struct request_reader){ .body = BUF_INIT(body_max) };
}

void request_reader_release(struct request_reader *r)
{
	free(r->head);
	r->head = NULL;
	buf_release(&r->body);
}

/* --- the head --------------------------------------------------------------------------------- */

const char *request_reader_header(const struct request_reader *r, const char *name)
{
	for (size_t i = 0; i < r->n_headers; i++)
		if (strcasecmp(r->headers[i].name, name) == 0)
			return r->headers[i].value;
	return NULL;
}

static bool request_list_has(const char *list, const char *token)
{
	size_t n = strlen(token);

	while (*list) {
		list += strspn(list, ", \t");
		if (strcspn(list, ", \t;") == n && strncasecmp(list, token, n) == 0)
			return true;
		list += strcspn(list, ",");
	}
	return false;
}

bool request_reader_lists(const struct request_reader *r, const char *name, const char *token)
{
	for (size_t i = 0; i < r->n_headers; i++)
		if (strcasecmp(r->headers[i].name, name) == 0 &&
				request_list_has(r->headers[i].value, token))
			return true;
	return false;
}

/* A proxy in front may take another one of these headers than this reader. */
static bool request_repeats(const struct request_reader *r, const char *name)
{
	static const char *const once[] = { "authorization", "content-length", "content-type",
		"expect", "host", "mcp-protocol-version", "mcp-session-id", "origin",
		"sec-websocket-key", "sec-websocket-version", "transfer-encoding", "x-api-key",
		NULL };

	for (size_t i = 0; once[i]; i++)
		if (strcasecmp(once[i], name) == 0)
			return request_reader_header(r, name);
	return false;
}

static int request_read_headers(struct request_reader *r, struct request_head *h)
{
	const char *name, *value;
	int status;

	while ((status = request_head_next(h, &name, &value)) == 1) {
		if (request_repeats(r, name))
			return BAD_REQUEST;
		if (r->n_headers == REQUEST_HEADERS_MAX)
			return HEAD_TOO_LARGE;
		r->headers[r->n_headers++] = (struct request_header){ name, value };
	}
	return status;
}

static int request_read_length(struct request_reader *r, const char *value)
{
	int64_t n = 0;

	if (value[strspn(value, "0123456789")] || !str_to_i64(value, &n))
		return BAD_REQUEST;
	r->has_length = true;
	r->n_body = (size_t)n;
	return r->n_body > r->body.cap ? TOO_LARGE : 0;
}

/* Finds how the body comes. */
static int request_read_coding(struct request_reader *r, bool is_old)
{
	const char *length = request_reader_header(r, "content-length");
	const char *transfer = request_reader_header(r, "transfer-encoding");
	const char *content = request_reader_header(r, "content-encoding");

	r->is_chunked = transfer;
	if (transfer && is_old)
		return BAD_REQUEST; /* HTTP/1.0 has no chunks: a proxy may read another body */
	if (transfer && strcasecmp(transfer, "chunked") != 0)
		return UNKNOWN;
	if (transfer && length)
		return BAD_REQUEST;
	if (content && strcasecmp(content, "identity") != 0)
		return UNKNOWN_CODING;
	return length ? request_read_length(r, length) : 0;
}

static int request_read_expect(struct request_reader *r, bool is_old)
{
	const char *expect = request_reader_header(r, "expect");

	r->expects = expect && !is_old;
	return !expect || strcasecmp(expect, "100-continue") == 0 ? 0 : UNKNOWN_EXPECTATION;
}

/* Reads a head of n bytes, which ends with "\r\n\r\n". */
static int request_read_head(struct request_reader *r, const char *head, size_t n)
{
	struct request_head h;
	char *query;
	int status;

	r->head = xcalloc(1, n + 1);
	memcpy(r->head, head, n);
	status = request_head_begin(&h, r->head, n);
	if (status)
		return status;
	query = strchr(h.path, '?');
	if (query)
		*query++ = '\0';
	r->method = h.method;
	r->path = h.path;
	r->query = query ? query : "";
	status = request_read_headers(r, &h);
	if (status)
		return status;
	if (!h.is_old && !request_reader_header(r, "host"))
		return BAD_REQUEST; /* RFC 9112, 3.2 */
	r->closes = request_reader_lists(r, "connection", "close") ||
			(h.is_old && !request_reader_lists(r, "connection", "keep-alive"));
	status = request_read_expect(r, h.is_old);
	return status ? status : request_read_coding(r, h.is_old);
}

/* Refuses early a head of n bytes, perhaps behind an empty line, whose end has not come. */
static int request_check_partial(const char *head, size_t n)
{
	const char *end = memchr(head, '\n', n);

	if (!isupper((unsigned char)*head) || (end && end[-1] != '\r'))
		return BAD_REQUEST;
	if (n < REQUEST_HEAD_MAX)
		return 0;
	return end ? HEAD_TOO_LARGE : PATH_TOO_LONG;
}

static int request_take_head(struct request_reader *r, struct buf *in)
{
	size_t skip = str_starts(buf_str(in), "\r\n") ? 2 : 0, n = in->len - skip;
	const char *head = buf_str(in) + skip, *end;
	int status;

	n = n < REQUEST_HEAD_MAX ? n : REQUEST_HEAD_MAX;
	end = memmem(head, n, "\r\n\r\n", 4);
	if (!end)
		return !n || (n == 1 && *head == '\r') ? 0 : request_check_partial(head, n);
	n = (size_t)(end + 4 - head);
	status = request_read_head(r, head, n);
	if (status)
		return status;
	buf_consume(in, skip + n);
	r->has_head = true;
	return 0;
}

/* --- the body --------------------------------------------------------------------------------- */

/* Takes the line before a chunk: its size in hexadecimal, perhaps extensions, "\r\n". -1: it was
 * taken. 0: more bytes are needed. Else the status of a refusal. */
static int request_take_chunk_line(struct request_reader *r, struct buf *in)
{
	size_t most = in->len < CHUNK_LINE_MAX ? in->len : CHUNK_LINE_MAX, n = 0, digits = 0;
	const char *line = buf_str(in);
	const char *end = memmem(line, most, "\r\n", 2);

	if (!end)
		return in->len >= CHUNK_LINE_MAX ? BAD_REQUEST : 0;
	for (int digit; (digit = str_hex_digit(line[digits])) >= 0; digits++) {
		n = 16 * n + (size_t)digit;
		if (n > r->body.cap)
			return TOO_LARGE;
	}
	if (!digits || (line[digits] != ';' && line + digits != end))
		return BAD_REQUEST;
	/* A proxy in front could end the line at another control character than this reader. */
	for (const char *at = line + digits; at < end; at++)
		if (iscntrl((unsigned char)*at) && *at != '\t')
			return BAD_REQUEST;
	if (n > r->body.cap - r->body.len)
		return TOO_LARGE;
	/* Keep the end of the last line: "\r\n\r\n" ends the trailers, also if there are none. */
	buf_consume(in, (size_t)(end - line) + (n ? 2 : 0));
	r->has_chunk = true;
	r->n_chunk = r->n_left = n;
	return -1;
}

/* Takes the headers behind the last chunk, which are not used. 1: they were taken. 0: more bytes
 * are needed. Else the status of a refusal. */
static int request_take_trailers(struct buf *in)
{
	size_t n = in->len < REQUEST_HEAD_MAX ? in->len : REQUEST_HEAD_MAX;
	const char *end = memmem(buf_str(in), n, "\r\n\r\n", 4), *name, *value;
	struct request_head h;
	int status;

	if (!end)
		return n < REQUEST_HEAD_MAX ? 0 : HEAD_TOO_LARGE;
	n = (size_t)(end + 4 - in->data);
	if (memchr(in->data, '\0', n))
		return BAD_REQUEST;
	h.rest = in->data + 2;
	while ((status = request_head_next(&h, &name, &value)) == 1)
		;
	buf_consume(in, n);
	return status ? status : 1;
}

/* Takes bytes of a chunk, and "\r\n" behind it. 1: it was the last one. The other results are those
 * of request_take_chunk_line(). */
static int request_take_chunk(struct request_reader *r, struct buf *in)
{
	size_t n = r->n_left < in->len ? r->n_left : in->len;

	if (!r->has_chunk)
		return request_take_chunk_line(r, in);
	if (!r->n_chunk)
		return request_take_trailers(in);
	buf_add(&r->body, buf_str(in), n);
	buf_consume(in, n);
	r->n_left -= n;
	if (r->n_left || in->len < 2)
		return 0;
	if (memcmp(in->data, "\r\n", 2) != 0)
		return BAD_REQUEST;
	buf_consume(in, 2);
	r->has_chunk = false;
	return -1;
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
	int status = r->has_head ? 0 : request_take_head(r, in);

	if (status || !r->has_head)
		return status;
	status = request_take_body(r, in);
	return r->body.truncated ? TOO_LARGE : status; /* there was no memory */
}
