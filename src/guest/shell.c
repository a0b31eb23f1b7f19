/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/fd.h"
#include "base/futex.h"
#include "guest/start.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * Functions of a process that PID 1 forks and that becomes a shell. They also read commands from
 * the shell's mail, the memory shared with the owner, and write answers. The first shell gets ready
 * while PID 1 does.
 */

#define PIPE_BYTES 65536 /* default size of a pipe in bytes */

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

/*
 * Reads once from the shell's output pipe, and again if a signal interrupts the read. If the pipe
 * can't be read, ends the shell, and PID 1 reports that.
 */
static size_t shell_read_some(int drain, char *to, size_t n)
{
	ssize_t got;

	while ((got = read(drain, to, n)) < 0 && errno == EINTR)
		;
	if (got < 0 && errno != EAGAIN)
		_exit(125);
	return got > 0 ? (size_t)got : 0;
}

/*
 * Reads the bytes that the shell's output pipe holds now, n at most, then stops. Later bytes are
 * not awaited, because background jobs may write for ever.
 */
static size_t shell_read_present(int drain, char *to, size_t n)
{
	size_t done = shell_read_some(drain, to, n < PIPE_BYTES ? n : PIPE_BYTES), got;
	int left = 0;

	if (done < PIPE_BYTES || ioctl(drain, FIONREAD, &left) < 0)
		return done;
	if ((size_t)left > n - done)
		left = (int)(n - done);
	while (left > 0 && (got = shell_read_some(drain, to + done, (size_t)left)) > 0) {
		done += got;
		left -= (int)got;
	}
	return done;
}

void shell_answer(const struct shell_start *start, uint32_t turn, struct shell_status *status,
		const char *cwd)
{
	struct shell_mail *mail = start->mail;
	struct shell_gate *gate = start->gate;
	size_t n = strnlen(cwd, SHELL_CWD_MAX);
	uint32_t listening;

	memcpy(mail->answer, cwd, n);
	status->cwd_bytes = (uint32_t)n;
	/*
	 * From now on the porter forwards no more output of this command. Wait until it has sent
	 * the piece that it may be reading.
	 */
	__atomic_store_n(&gate->over, turn, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&gate->moving, __ATOMIC_SEQ_CST))
		futex_wait(&gate->moving, 1, INT64_MAX);
	status->output_bytes = (uint32_t)shell_read_present(
			start->ends.drain, mail->answer + n, SHELL_OUTPUT_MAX);
	mail->status = *status;
	__atomic_store_n(&mail->answered, turn, __ATOMIC_SEQ_CST);
	listening = __atomic_load_n(&mail->listening, __ATOMIC_SEQ_CST);
	if (listening == SHELL_LISTENS_HERE)
		futex_wake(&mail->answered);
	else if (listening == SHELL_LISTENS_TO_PORTER &&
			fd_write_full(start->ends.event, &(uint64_t){ 1 }, sizeof(uint64_t)) < 0)
		_exit(125); /* PID 1 reports to the owner that the shell has ended */
}

/* Maps shared memory that child processes of this shell do not inherit. */
static void *shell_map(int fd, size_t size, struct fh_error *err)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED || madvise(at, size, MADV_DONTFORK) < 0) {
		error_set(err, errno, "map the shell's memory");
		return NULL;
	}
	return at;
}

/*
 * Maps the struct shell_mail. Seals its memfd against later mappings for writing and against
 * punched holes: see native/mail.c.
 */
static int shell_map_memory(struct shell_start *shell, struct fh_error *err)
{
	shell->mail = shell_map(shell->ends.mail, SHELL_MAIL_BYTES, err);
	if (!shell->mail)
		return err->code;
	if (fcntl(shell->ends.mail, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) < 0)
		return error_set(err, errno, "seal the shell's memory");
	shell->gate = shell_map(shell->ends.gate, sizeof(*shell->gate), err);
	if (!shell->gate)
		return err->code;
	close(shell->ends.mail);
	close(shell->ends.gate);
	return 0;
}

static int shell_set_up(
		struct shell_start *shell, const struct confinement *c, struct fh_error *err)
{
	int r;

	prctl(PR_SET_NAME, "bash");
	if (setsid() < 0)
		return error_set(err, errno, "make the shell's session");
	r = confine(c, RUN_AGENT, err);
	return r < 0 ? r : shell_map_memory(shell, err);
}

_Noreturn void shell_become(const struct init_start *start, const struct confinement *c,
		const struct shell_ends *ends)
{
	struct shell_start shell = {
		.ends = *ends, .random_seed = start->plan->random_seed, .env = start->plan->env
	};
	struct fh_error err = FH_ERROR_INIT;

	if (shell_set_up(&shell, c, &err) < 0)
		guest_die(start->sockets[PLAN_CONTROL], INIT_FAILED, &err);
	guest_keep_fds((const int[]){ ends->event, ends->output, ends->drain, ends->go }, 4);
	/* Unmap this memory, because PID 1 reads it: code of an agent in the shell must not write
	 * to it. */
	if (start->moved_out)
		munmap(start->moved_out, sizeof(int));
	start->hooks->shell(&shell);
	_exit(1);
}
