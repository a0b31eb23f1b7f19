/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/fd.h"
#include "base/futex.h"
#include "guest/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* What a fork of PID 1 does until it is a shell, and how that speaks to its owner. The first shell gets
 * ready while PID 1 still does. */
#define PIPE_BYTES 65536 /* what a pipe holds, unless somebody made it larger */

void shell_await(const struct shell_start *start)
{
	uint64_t one;

	if (fd_read_full(start->ends.go, &one, sizeof(one)) != sizeof(one))
		_exit(1);
	close(start->ends.go);
}

bool shell_wait(const struct shell_mail *mail, uint32_t *turn)
{
	uint32_t now = __atomic_load_n(&mail->turn, __ATOMIC_ACQUIRE);

	if (now == *turn)
		futex_wait(&mail->turn, now, INT64_MAX);
	now = __atomic_load_n(&mail->turn, __ATOMIC_ACQUIRE);
	if (now == *turn)
		return false;
	*turn = now;
	return true;
}

/* Waits until the porter moves nothing, and will not for this command. */
static void take_over(struct shell_gate *gate, uint32_t turn)
{
	__atomic_store_n(&gate->over, turn, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&gate->moving, __ATOMIC_SEQ_CST))
		futex_wait(&gate->moving, 1, INT64_MAX);
}

/* One read that goes on after a signal; a pipe that can't be read ends the shell, which is told. */
static size_t read_some(int drain, char *to, size_t n)
{
	ssize_t got;

	while ((got = read(drain, to, n)) < 0 && errno == EINTR)
		;
	if (got < 0 && errno != EAGAIN)
		_exit(125);
	return got > 0 ? (size_t)got : 0;
}

/* What the pipe holds now, at most n bytes; background jobs may go on writing. */
static size_t read_present(int drain, char *to, size_t n)
{
	size_t done = read_some(drain, to, n < PIPE_BYTES ? n : PIPE_BYTES), got;
	int left = 0;

	if (done < PIPE_BYTES || ioctl(drain, FIONREAD, &left) < 0)
		return done;
	if ((size_t)left > n - done)
		left = (int)(n - done);
	while (left > 0 && (got = read_some(drain, to + done, (size_t)left)) > 0) {
		done += got;
		left -= (int)got;
	}
	return done;
}

static void wake_owner(const struct shell_start *start)
{
	uint32_t listening = __atomic_load_n(&start->mail->listening, __ATOMIC_SEQ_CST);

	if (listening == SHELL_LISTENS_HERE)
		futex_wake(&start->mail->answered);
	else if (listening == SHELL_LISTENS_TO_PORTER &&
			fd_write_full(start->ends.event, &(uint64_t){ 1 }, sizeof(uint64_t)) < 0)
		_exit(125); /* PID 1 tells of that, which wakes the owner, too */
}

void shell_answer(const struct shell_start *start, uint32_t turn, struct shell_status *status,
		const char *cwd)
{
	struct shell_mail *mail = start->mail;
	size_t n = strnlen(cwd, SHELL_CWD_MAX);

	memcpy(mail->answer, cwd, n);
	status->cwd_bytes = (uint32_t)n;
	take_over(start->gate, turn);
	status->output_bytes = (uint32_t)read_present(
			start->ends.drain, mail->answer + n, SHELL_OUTPUT_MAX);
	mail->status = *status;
	__atomic_store_n(&mail->answered, turn, __ATOMIC_SEQ_CST);
	wake_owner(start);
}

/* For this process alone, and closed. */
static void *map(int fd, size_t size, struct fh_error *err)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED || madvise(at, size, MADV_DONTFORK) < 0) {
		error_set(err, errno, "map the shell's memory");
		return NULL;
	}
	return at;
}

/* No later writer may have the mail, and nobody punch holes: see native/mail.c. */
static int map_memory(struct shell_start *shell, struct fh_error *err)
{
	shell->mail = map(shell->ends.mail, SHELL_MAIL_BYTES, err);
	if (!shell->mail)
		return err->code;
	if (fcntl(shell->ends.mail, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) < 0)
		return error_set(err, errno, "seal the shell's memory");
	shell->gate = map(shell->ends.gate, sizeof(*shell->gate), err);
	if (!shell->gate)
		return err->code;
	close(shell->ends.mail);
	close(shell->ends.gate);
	return 0;
}

_Noreturn void shell_become(const struct init_start *start, const struct confinement *c,
		const struct shell_ends *ends)
{
	struct shell_start shell = {
		.ends = *ends, .random_seed = start->plan->random_seed, .env = start->plan->env
	};
	struct fh_error err = FH_ERROR_INIT;
	int r = 0;

	prctl(PR_SET_NAME, "bash");
	if (setsid() < 0)
		r = error_set(&err, errno, "make the shell's session");
	if (r == 0)
		r = confine(c, RUN_AGENT, &err);
	if (r == 0)
		r = map_memory(&shell, &err);
	if (r < 0) {
		guest_fail(start->sockets[PLAN_CONTROL], INIT_FAILED, &err);
		_exit(1);
	}
	keep_fds((const int[]){ ends->event, ends->output, ends->drain, ends->go }, 4);
	if (start->moved_out) /* PID 1's alone to believe */
		munmap((void *)(uintptr_t)start->moved_out, sizeof(int));
	start->hooks->shell(&shell);
	_exit(1);
}
