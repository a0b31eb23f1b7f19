/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "base/str.h"
#include "guest.h"

#include <stdint.h>
#include <string.h>

/*
 * Fuzzes an owner with a hostile sandbox. The input gives messages of PID 1, or of the porter,
 * which copies files. Some carry a descriptor. The owner takes events or reports that the sandbox
 * is gone. It never crashes, waits or leaks. The first byte chooses what the owner requests
 * meanwhile.
 */

#define MORE_THAN_A_SOCKET_HOLDS 400
#define FILE_BYTES 64

enum { ASK_GET = 1, ASK_PUT = 2, ASK_SIGNALS = 4, HEARD = 8, HUNG_UP = 16, AS_PORTER = 32 };

/* Texts from the sandbox must be valid UTF-8, because agents may be shown them. */
static void check_text(const char *text)
{
	if (str_utf8_invalid(text, strlen(text)) >= 0)
		__builtin_trap();
}

static void ask(struct sandbox *sb, uint8_t what)
{
	struct sandbox_answer answer = { .fd = -1 };
	struct fh_error err;
	uint32_t id;

	if (what & ASK_GET &&
			(sandbox_get_begin(sb, "/", "file", FILE_BYTES, &id, &err) < 0 ||
					sandbox_await(sb, id, &answer, &err) < 0))
		check_text(err.message);
	close_fd(&answer.fd);
	if (what & ASK_PUT &&
			sandbox_put_text_begin(sb, "/", "file", "text", 4, 0644, &id, NULL) == 0)
		sandbox_await(sb, id, &answer, NULL);
	for (int i = 0; what & ASK_SIGNALS && i < MORE_THAN_A_SOCKET_HOLDS; i++)
		sandbox_signal(sb, 1, i, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct input in = { data, n };
	uint8_t what = input_u8(&in);
	struct sandbox_event e;
	struct guest g;

	guest_open(&g, false);
	while (in.n) {
		const uint8_t *bytes = input_bytes(&in, &n);

		guest_say(what & AS_PORTER ? g.porter : g.control, bytes, n);
	}
	if (what & HUNG_UP)
		guest_close(&g);
	ask(g.sb, what);
	if (what & HEARD)
		guest_listen(&g);
	do {
		sandbox_next_event(g.sb, &e);
		check_text(e.text);
		if (e.kind == SANDBOX_FAILED && !*e.text)
			__builtin_trap();
	} while (e.kind != SANDBOX_NONE && e.kind != SANDBOX_GONE);
	sandbox_close(g.sb);
	guest_close(&g);
	return 0;
}
