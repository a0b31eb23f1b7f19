/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/scope.h"
#include "proto/guest.h"
#include "sandbox/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The memory through which a shell gets its commands. Only pages that were written are there: most
 * commands need one. The shell may write, too, so that nothing is read from it but a hint; and it may map
 * it a million times, so that no page is ever given back here: the kernel would look through all of its
 * maps, in our time. Nor can it punch holes, behind which we would wait: once it has mapped it, the shell
 * seals it against whatever else writes.
 */
static int map(int fd, struct shell_mail **out, struct fh_error *err)
{
	void *mail;

	if (ftruncate(fd, SHELL_MAIL_BYTES) < 0 ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0)
		return error_set(err, errno, "size the shell's memory");
	mail = mmap(NULL, SHELL_MAIL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mail == MAP_FAILED)
		return error_set(err, errno, "map the shell's memory");
	madvise(mail, SHELL_MAIL_BYTES, MADV_NOHUGEPAGE); /* where the kernel has them, and would */
	*out = mail;
	return 0;
}

int mail_new(struct shell_mail **out, int *out_fd, struct fh_error *err)
{
	auto_close int fd = memfd_create("shell", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int r;

	if (fd < 0)
		return error_set(err, errno, "make the shell's memory");
	r = map(fd, out, err);
	if (r == 0)
		*out_fd = take_fd(&fd);
	return r;
}

void mail_free(struct shell_mail *mail)
{
	if (mail)
		munmap(mail, SHELL_MAIL_BYTES);
}

void mail_put(struct shell_mail *mail, const struct shell_command *command, const char *text)
{
	mail->command = *command;
	memcpy(mail->text, text, command->length);
	__atomic_add_fetch(&mail->turn, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &mail->turn, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool mail_answered(const struct shell_mail *mail)
{
	return __atomic_load_n(&mail->answered, __ATOMIC_ACQUIRE) == mail->turn;
}
