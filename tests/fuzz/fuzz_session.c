/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/mem.h"
#include "base/scope.h"
#include "guest.h"
#include "shell/session.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Fuzzes a session, which runs commands in a shell, with a hostile shell. Every command must end,
 * and its result must keep its limits. A status without the command's own number is never believed.
 *
 * The input is a list of acts: each a byte that picks it, and its arguments.
 */

#define OUTPUT_BYTES 4096
#define WAITS_OF_A_COMMAND 32 /* more than the steps by which a command is ended by force */

struct play {
	struct input in;
	struct guest guest;
	struct session *session;
	bool running;
	bool answered; /* the guest has sent a status with the running command's number */
};

static void check(bool ok)
{
	if (!ok)
		__builtin_trap();
}

static void check_result(const struct play *p)
{
	const struct session_result *r = session_result(p->session);
	bool believed = r->outcome == SESSION_OK || r->outcome == SESSION_SYNTAX ||
			r->outcome == SESSION_OUTPUT_LIMIT;

	check(r->exit_code >= -1 && r->exit_code <= 255);
	check(r->output->len <= OUTPUT_BYTES && strlen(r->cwd) <= SHELL_CWD_MAX);
	check(!(r->requests & ~REQUEST_ALL));
	check(!believed || (p->answered && !r->integrity && !r->restarted));
	check(!r->integrity || r->restarted || r->outcome == SESSION_GONE);
}

static void advance(struct play *p)
{
	if (!p->running || !session_advance(p->session))
		return;
	check_result(p);
	p->running = false;
}

static void begin(struct play *p)
{
	int64_t timeout_ms = 1 + input_u8(&p->in);
	bool check_syntax = timeout_ms & 1;
	size_t n;
	const uint8_t *bytes = input_bytes(&p->in, &n);
	auto_free char *text = xstrndup((const char *)bytes, n);
	int r = session_begin(p->session, text, timeout_ms, check_syntax, NULL);

	check((r < 0) == p->running);
	if (r == 0)
		p->answered = false;
	p->running = true;
}

static void say(struct play *p)
{
	size_t n;
	const uint8_t *bytes = input_bytes(&p->in, &n);

	guest_say(p->guest.control, bytes, n);
}

static void say_as_porter(struct play *p)
{
	size_t n;
	const uint8_t *bytes = input_bytes(&p->in, &n);

	guest_say(p->guest.porter, bytes, n);
}

static struct shell_mail *map_mail(const struct play *p)
{
	void *mail;

	if (p->guest.mail < 0)
		return NULL;
	mail = mmap(NULL, SHELL_MAIL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, p->guest.mail, 0);
	check(mail != MAP_FAILED);
	return mail;
}

/* Answers a command with lengths from the input. If it is not honest, the answer has another
 * command's number. */
static void answer(struct play *p, bool honest)
{
	uint32_t cwd_bytes = input_u8(&p->in), output_bytes = input_u8(&p->in);
	struct shell_mail *mail = map_mail(p);
	static const uint16_t ring = PORTER_RING;
	size_t n;
	const uint8_t *bytes = input_bytes(&p->in, &n);

	if (!mail)
		return;
	mail->status = (struct shell_status){ .nonce = mail->command.nonce + !honest,
		.end = cwd_bytes & 3,
		.status = output_bytes,
		.cwd_bytes = cwd_bytes == UINT8_MAX ? SHELL_CWD_MAX + 1 : cwd_bytes,
		.output_bytes = output_bytes == UINT8_MAX ? UINT32_MAX : output_bytes };
	memcpy(mail->answer, bytes, n);
	mail->answered = mail->turn;
	munmap(mail, SHELL_MAIL_BYTES);
	guest_say(p->guest.porter, &ring, sizeof(ring));
	p->answered = p->answered || honest;
}

static void answer_falsely(struct play *p)
{
	answer(p, false);
}

static void answer_honestly(struct play *p)
{
	answer(p, true);
}

static void print(struct play *p)
{
	size_t times = 1u << (input_u8(&p->in) & 7);
	size_t n;
	const uint8_t *bytes = input_bytes(&p->in, &n);

	while (times--)
		guest_print(&p->guest, 0, bytes, n);
}

static void scribble(struct play *p)
{
	off_t at = input_u8(&p->in);
	size_t n;
	const uint8_t *bytes = input_bytes(&p->in, &n);

	if (p->guest.mail >= 0)
		(void)!pwrite(p->guest.mail, bytes, n, at);
}

static void listen(struct play *p)
{
	guest_listen(&p->guest);
}

static void sleep_on(struct play *p)
{
	guest_sleep_ns(NS_PER_MS << (input_u8(&p->in) & 15));
}

static void cancel(struct play *p)
{
	session_cancel(p->session);
}

static void await_quick(struct play *p)
{
	session_await_quick(p->session);
}

static void hang_up(struct play *p)
{
	uint8_t which = input_u8(&p->in) & 7;
	int *socket = which & 1 ? &p->guest.porter : &p->guest.control;

	close_fd(which ? socket : &p->guest.mail);
}

static void (*const acts[])(struct play *p) = {
	begin,
	advance,
	answer_honestly,
	answer_falsely,
	print,
	say,
	listen,
	sleep_on,
	scribble,
	cancel,
	await_quick,
	hang_up,
	say_as_porter,
};

/* Lets time pass until the running command has ended, as a caller that waits would. */
static void await(struct play *p)
{
	int waited = 0;

	while (p->running) {
		struct waits w = WAITS_INIT;
		int64_t now = clock_now_ns();

		session_waits(p->session, &w);
		check(w.deadline_ns != INT64_MAX);
		if (w.deadline_ns > now) { /* otherwise more output can be read at once */
			check(waited++ < WAITS_OF_A_COMMAND);
			guest_sleep_ns(w.deadline_ns - now);
		}
		advance(p);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct play p = { .in = { data, n } };

	guest_open(&p.guest, true);
	guest_listen(&p.guest);
	p.session = session_new(p.guest.sb, OUTPUT_BYTES);
	while (p.in.n)
		acts[input_u8(&p.in) % ARRAY_SIZE(acts)](&p);
	await(&p);
	session_free(p.session);
	sandbox_close(p.guest.sb);
	guest_close(&p.guest);
	return 0;
}
