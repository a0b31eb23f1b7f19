/* SPDX-License-Identifier: Apache-2.0 */
#include "base/landlock.h"

#include "base/scope.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Parts of Landlock that the headers of Debian 12 lack: linux/landlock.h of Linux 6.12 and 6.15. */
#define CREATE_RULESET_VERSION 1
#define SCOPES_ABI 6
#define LOGS_ABI 7
#define SCOPE_ABSTRACT_UNIX_SOCKET 1
#define RESTRICT_SELF_LOG_SAME_EXEC_OFF 1

struct landlock_rules {
	uint64_t handled_access_fs, handled_access_net, scoped;
};

/* Returns the version of Landlock; -1 if the kernel does not have it, or refuses it. */
static long landlock_abi(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
}

bool landlock_can_scope_sockets(void)
{
	return landlock_abi() >= SCOPES_ABI;
}

int landlock_scope_sockets(void)
{
	const struct landlock_rules rules = { .scoped = SCOPE_ABSTRACT_UNIX_SOCKET };
	long abi = landlock_abi();
	auto_close int fd = -1;

	if (abi < SCOPES_ABI)
		return 0;
	fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
	if (fd < 0)
		return -errno;
	/* Have the kernel log no accesses that Landlock refuses: an agent could fill the machine's
	 * audit log. */
	if (syscall(SYS_landlock_restrict_self, fd,
			    abi >= LOGS_ABI ? RESTRICT_SELF_LOG_SAME_EXEC_OFF : 0) < 0)
		return -errno;
	return 0;
}
