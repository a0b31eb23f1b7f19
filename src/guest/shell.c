/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "guest/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What a fork of PID 1 does until it is a shell. The first gets ready while PID 1 still does. */

void shell_let_go(struct step_mark *mark)
{
	__atomic_store_n(&mark->stands, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &mark->stands, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void shell_await(const volatile struct step_mark *mark)
{
	while (!__atomic_load_n(&mark->stands, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &mark->stands, FUTEX_WAIT, 0, NULL, NULL, 0);
}

bool shell_wait(const struct shell_mail *mail, uint32_t *turn)
{
	uint32_t now = __atomic_load_n(&mail->turn, __ATOMIC_ACQUIRE);

	if (now == *turn)
		syscall(SYS_futex, &mail->turn, FUTEX_WAIT, now, NULL, NULL, 0);
	now = __atomic_load_n(&mail->turn, __ATOMIC_ACQUIRE);
	if (now == *turn)
		return false;
	*turn = now;
	return true;
}

/* Not for what the shell forks; and no later writer may have it: see sandbox/mail.c. */
static struct shell_mail *map_mail(int fd, struct fh_error *err)
{
	void *mail = mmap(NULL, SHELL_MAIL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (mail == MAP_FAILED || madvise(mail, SHELL_MAIL_BYTES, MADV_DONTFORK) < 0 ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) < 0) {
		error_set(err, errno, "map the shell's memory");
		return NULL;
	}
	close(fd);
	return mail;
}

_Noreturn void shell_become(const struct init_start *start, const struct confinement *c,
		const struct shell_ends *ends, struct step_mark *mark)
{
	struct shell_start shell = { .status = ends->status,
		.output = ends->output,
		.random_seed = start->plan->random_seed,
		.env = start->plan->env,
		.mark = mark };
	struct fh_error err = FH_ERROR_INIT;
	int r = 0;

	prctl(PR_SET_NAME, "bash");
	if (setsid() < 0)
		r = error_set(&err, errno, "make the shell's session");
	if (r == 0)
		r = confine(c, RUN_AGENT, &err);
	if (r == 0)
		shell.mail = map_mail(ends->mail, &err);
	if (!shell.mail) {
		guest_fail(start->control, INIT_FAILED, &err);
		_exit(1);
	}
	for (uint32_t i = 0; i < start->confinement.n_groups; i++)
		close(start->confinement.groups[i]);
	if (start->moved_out) /* PID 1's alone to believe */
		munmap((void *)(uintptr_t)start->moved_out, sizeof(int));
	close(start->control);
	start->hooks->shell(&shell);
	_exit(1);
}
