/* SPDX-License-Identifier: Apache-2.0 */
#include "base/query.h"
#include "base/request_reader.h"

#include <stdint.h>
#include <string.h>

/*
 * Fuzzes the reader of HTTP requests. The first byte of the input is the size of the
 * pieces in which the rest comes. The pieces must not make a difference.
 */
#define BODY_MAX 32768

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(bool ok)
{
	if (!ok)
		__builtin_trap();
}

struct result {
	int status;
	size_t n_requests, n_bytes; /* number of whole requests, and of bytes in their bodies */
};

static void check_query(const char *query)
{
	char value[16];

	if (query_argument(query, "text=", value, sizeof(value)) == 1)
		check(strlen(value) < sizeof(value) && strlen(value) < strlen(query));
}

static struct result read_all(const uint8_t *data, size_t n, size_t piece)
{
	struct buf in = BUF_INIT(1 << 20);
	struct request_reader r;
	struct result out = { 0 };

	request_reader_init(&r, BODY_MAX);
	while (n && out.status < 400) {
		size_t size = n < piece ? n : piece;

		buf_add(&in, data, size);
		data += size;
		n -= size;
		while ((out.status = request_reader_feed(&r, &in)) == 1) {
			check(r.has_head && *r.method && *r.path == '/' && r.body.len <= BODY_MAX);
			check(r.is_chunked || r.body.len == r.n_body);
			request_reader_lists(&r, "accept", "text/event-stream");
			check_query(r.query);
			out.n_requests++;
			out.n_bytes += r.body.len;
			request_reader_release(&r);
			request_reader_init(&r, BODY_MAX);
		}
		check(out.status || in.len < REQUEST_HEAD_MAX);
		check(out.status == 0 || (out.status >= 400 && out.status < 600));
	}
	request_reader_release(&r);
	buf_release(&in);
	return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct result whole, pieces;

	if (n < 2 || n > 65536)
		return 0;
	whole = read_all(data + 1, n - 1, n);
	pieces = read_all(data + 1, n - 1, 1 + data[0]);
	check(whole.status == pieces.status && whole.n_requests == pieces.n_requests &&
			whole.n_bytes == pieces.n_bytes);
	return 0;
}
