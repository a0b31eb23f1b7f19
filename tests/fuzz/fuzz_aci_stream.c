/* SPDX-License-Identifier: Apache-2.0 */
#include "../../tools/aci/gateway_stream.h"
#include "base/scope.h"
#include "model/sse.h"

#include <stdint.h>
#include <string.h>

/*
 * Fuzzes the writers of streams in the gateway. The first byte of the input chooses the protocol.
 * The rest is an answer as JSON, of any shape. Our reader of streams must find a JSON object in
 * each event, and the end.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define STREAM_BYTES_MAX (64L << 20)

static void check(bool ok)
{
	if (!ok)
		__builtin_trap();
}

static void check_events(const struct buf *stream, const char *type, const char *end)
{
	const char *text, *name = "";
	struct sse s;
	size_t n;
	bool is_ended = false;

	sse_init(&s);
	sse_feed(&s, stream->data, stream->len);
	sse_end(&s);
	while (sse_next(&s, &text, &n)) {
		auto_json json_t *event = NULL;

		check(!is_ended);
		if (n == strlen(end) && memcmp(text, end, n) == 0) {
			is_ended = true;
			continue;
		}
		check(json_parse("event", text, n, &event, NULL) == 0);
		check(json_is_object(event));
		name = json_string_value(json_object_get(event, type));
		check(name != NULL);
		is_ended = strcmp(name, end) == 0;
	}
	check(is_ended);
	sse_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_buf struct buf stream = BUF_INIT(STREAM_BYTES_MAX);
	auto_json json_t *answer = NULL;

	if (n < 2 || n > 65536 ||
			json_parse("answer", (const char *)data + 1, n - 1, &answer, NULL) < 0)
		return 0;
	if (data[0] & 1) {
		gateway_stream_openai(&stream, answer, data[0] & 2);
		check_events(&stream, "object", "[DONE]");
	} else {
		gateway_stream_anthropic(&stream, answer);
		check_events(&stream, "type", "message_stop");
	}
	return 0;
}
