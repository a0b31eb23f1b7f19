/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "env/gateway.h"
#include "guest.h"

#include <string.h>

/*
 * Fuzzes the environment's side of a gateway with a hostile program in the sandbox. The input is
 * what the program prints. It begins with the length of a message, and its bytes, over and over.
 */
static void check(bool ok)
{
	if (!ok)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct input in = { data, n };
	struct guest guest;
	struct gateway g;

	guest_open(&guest, false);
	guest_listen(&guest);
	gateway_init(&g, guest.sb);
	while (in.n) {
		struct env_call call;
		size_t size;
		const uint8_t *bytes = input_bytes(&in, &size);

		gateway_take_output(&g, STREAM_PIPE_1, (const char *)bytes, size);
		while (gateway_next(&g, &call)) {
			check(g.port > 0 && g.port <= UINT16_MAX);
			if (!call.line)
				continue;
			check(call.id && strlen(call.line) < GATEWAY_LINE_MAX);
			check(strlen(call.key) < GATEWAY_LINE_MAX &&
					call.n_body <= GATEWAY_CALL_MAX);
			gateway_answer(&g, &(struct env_answer){ call.id, 200, "{}", 2 });
		}
		gateway_feed(&g, size & 1);
	}
	check(!g.is_broken || !g.sb);
	gateway_stop(&g);
	sandbox_close(guest.sb);
	guest_close(&guest);
	return 0;
}
