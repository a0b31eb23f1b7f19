/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "sandbox/owner.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/*
 * A guest that was taken over, against its owner: any bytes as the messages of PID 1, some with a
 * descriptor. The owner takes events or calls the sandbox gone; it never crashes, waits or leaks.
 * A message is a byte of length (odd: with a descriptor) and that many bytes.
 */
static void send_messages(int to, const uint8_t *data, size_t n)
{
	auto_close int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	while (n > 1) {
		size_t length = data[0] < n - 1 ? data[0] : n - 1;
		struct iovec part = { .iov_base = (void *)(uintptr_t)(data + 1),
			.iov_len = length };
		_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
		struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

		if (data[0] & 1) {
			struct cmsghdr *c = (struct cmsghdr *)control;

			c->cmsg_level = SOL_SOCKET;
			c->cmsg_type = SCM_RIGHTS;
			c->cmsg_len = CMSG_LEN(sizeof(int));
			memcpy(CMSG_DATA(c), &null, sizeof(int));
			message.msg_control = control;
			message.msg_controllen = sizeof(control);
		}
		if (sendmsg(to, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			return;
		data += length + 1;
		n -= length + 1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct sandbox sb = { .shell = -1, .status = -1, .output = -1, .files = -1 };
	struct sandbox_event e;
	int pair[2], fd = -1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	sb.control = pair[0];
	send_messages(pair[1], data, n);
	close(pair[1]); /* so that nothing is waited for */
	if (n && data[n - 1] & 1) {
		if (sandbox_get(&sb, "/", "file", 1 << 20, &fd, NULL) == 0)
			close(fd);
	}
	do
		sandbox_next_event(&sb, &e);
	while (e.kind != SANDBOX_NONE && e.kind != SANDBOX_GONE);
	close_fd(&sb.files);
	close(sb.control);
	free(sb.queue);
	return 0;
}
