/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/guest.h"

#include <stdint.h>
#include <string.h>

/*
 * Fuzzes the messages between an owner and its guests. Takes the input as a message. It is refused,
 * or read into a struct that survives writing and reading. The first byte is the kind. The kind's
 * high bit selects PID 1's messages instead of the nursery's.
 */

#define OF_INIT 0x80

/* Parses a message and writes it again. Writes nothing if the message is refused. */
static void rewrite(const uint8_t *data, size_t n, bool of_init, struct buf *out)
{
	struct wire w = wire_open(data, n);
	uint8_t kind = wire_get_u8(&w);
	struct hello hello;
	struct layer layer;
	struct plan plan;
	struct init_run run;

	if (of_init && init_run_get(&w, &run) == 0) {
		init_run_put(out, &run);
		init_run_release(&run);
	} else if (!of_init && kind == NURSERY_HELLO && hello_get(&w, &hello) == 0) {
		hello_put(out, &hello);
		hello_release(&hello);
	} else if (!of_init && kind == NURSERY_LAYER && layer_get(&w, &layer) == 0) {
		layer_put(out, &layer);
		layer_release(&layer);
	} else if (!of_init && kind == NURSERY_PLAN && plan_get(&w, &plan) == 0) {
		plan_put(out, &plan);
		plan_release(&plan);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_buf struct buf once = BUF_INIT(4 * GUEST_MESSAGE_MAX);
	auto_buf struct buf twice = BUF_INIT(4 * GUEST_MESSAGE_MAX);
	bool of_init = n && data[0] & OF_INIT;

	rewrite(data, n, of_init, &once);
	if (!once.len)
		return 0;
	rewrite((const uint8_t *)once.data, once.len, of_init, &twice);
	if (once.len != twice.len || memcmp(once.data, twice.data, once.len) != 0)
		__builtin_trap();
	return 0;
}
