/* SPDX-License-Identifier: Apache-2.0 */
#include "native/mail.h"

#include "base/futex.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Memory in which an owner and a shell exchange commands and answers. Only pages that were written
 * take space: most commands need two. The shell is untrusted and may write to the memory at any
 * time. So the owner copies a field once, then checks the copy.
 *
 * The owner never frees a page of this memory: the kernel would look through all maps of it. An
 * agent has at most one map in each of its processes. It has no descriptor of the memory, and
 * seccomp.c refuses copies of a map. It can't punch holes either: the shell seals the memory
 * against other writers once it has mapped it.
 */
int mail_new(struct shell_mail **out, int *out_fd, struct fh_error *err)
{
	auto_close int fd = memfd_create("shell", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *mail;

	if (fd < 0)
		return error_set(err, errno, "make the shell's memory");
	if (ftruncate(fd, SHELL_MAIL_BYTES) < 0 ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0)
		return error_set(err, errno, "size the shell's memory");
	mail = mmap(NULL, SHELL_MAIL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mail == MAP_FAILED)
		return error_set(err, errno, "map the shell's memory");
	madvise(mail, SHELL_MAIL_BYTES, MADV_NOHUGEPAGE);
	*out = mail;
	*out_fd = take_fd(&fd);
	return 0;
}

void mail_free(struct shell_mail *mail)
{
	if (mail)
		munmap(mail, SHELL_MAIL_BYTES);
}

void mail_send(struct native_sandbox *sb, uint64_t nonce, uint32_t flags, const char *text)
{
	struct shell_mail *mail = sb->mail;
	size_t n = strlen(text);

	if (!mail)
		return;
	mail->command = (struct shell_command){
		.nonce = nonce, .flags = flags, .length = (uint32_t)n
	};
	memcpy(mail->text, text, n);
	sb->listening = SHELL_LISTENS_NOT;
	__atomic_store_n(&mail->listening, sb->listening, __ATOMIC_RELAXED);
	__atomic_store_n(&mail->turn, ++sb->turn, __ATOMIC_RELEASE);
	futex_wake(&mail->turn);
}

bool mail_answered(const struct native_sandbox *sb)
{
	return sb->mail && __atomic_load_n(&sb->mail->answered, __ATOMIC_ACQUIRE) == sb->turn;
}

/*
 * Asks the shell to wake the owner when it has answered. Returns false if the answer is there
 * already. Owner and shell each write a field first, then read the other's field. So at least one
 * of them sees what the other wrote.
 */
static bool mail_set_listening(struct native_sandbox *sb, enum shell_listening how)
{
	if (sb->listening != how)
		__atomic_store_n(&sb->mail->listening, how, __ATOMIC_SEQ_CST);
	sb->listening = how;
	return __atomic_load_n(&sb->mail->answered, __ATOMIC_SEQ_CST) != sb->turn;
}

bool mail_listen(struct native_sandbox *sb)
{
	return !sb->mail || mail_set_listening(sb, SHELL_LISTENS_TO_PORTER);
}

bool mail_await(struct native_sandbox *sb, int64_t timeout_ns)
{
	uint32_t before;

	if (!sb->mail)
		return false;
	before = __atomic_load_n(&sb->mail->answered, __ATOMIC_ACQUIRE);
	if (mail_set_listening(sb, SHELL_LISTENS_HERE) && before != sb->turn && timeout_ns > 0)
		futex_wait(&sb->mail->answered, before, timeout_ns);
	return mail_answered(sb);
}

int mail_status(const struct native_sandbox *sb, struct shell_status *out, char *cwd,
		size_t cwd_size)
{
	struct shell_status status = *(const volatile struct shell_status *)&sb->mail->status;

	if (status.cwd_bytes > SHELL_CWD_MAX || status.cwd_bytes >= cwd_size ||
			status.output_bytes > SHELL_OUTPUT_MAX)
		return -EPROTO;
	memcpy(cwd, sb->mail->answer, status.cwd_bytes);
	cwd[status.cwd_bytes] = '\0';
	*out = status;
	return 0;
}

void mail_output(const struct native_sandbox *sb, const struct shell_status *status,
		struct buf *output, bool *out_cut)
{
	size_t n = status->output_bytes, room = output->cap - output->len;

	buf_add(output, sb->mail->answer + status->cwd_bytes, n < room ? n : room);
	*out_cut = n > room;
}
