/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/idmap.h"

#include "base/fd.h"
#include "base/scope.h"
#include "base/str.h"
#include "proto/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Root's own, where /etc/subuid gives it none: above what distributions hand out, below 2^31. */
#define ROOT_BASE 1879048192LL

#define SUBID_FILE_MAX (1 << 20)

/* One line of subuid(5): NAME-or-ID:FIRST:COUNT. */
static bool parse_line(char *line, const char *name, const char *id, int64_t *out_first)
{
	char *first = strchr(line, ':');
	char *count = first ? strchr(first + 1, ':') : NULL;
	int64_t n, f;

	if (!count)
		return false;
	*first++ = '\0';
	*count++ = '\0';
	if (!str_eq(line, name) && !str_eq(line, id))
		return false;
	if (!str_to_i64(first, &f) || !str_to_i64(count, &n) || n < GUEST_IDS)
		return false;
	*out_first = f;
	return true;
}

/* The first range of path that is large enough for this user. */
static bool find_range(const char *path, int64_t *out_first)
{
	auto_buf struct buf text = BUF_INIT(SUBID_FILE_MAX);
	struct passwd pw, *found = NULL;
	char space[4096], id[32];
	char *line, *rest;

	if (getpwuid_r(geteuid(), &pw, space, sizeof(space), &found) != 0)
		found = NULL; /* by its number, then */
	snprintf(id, sizeof(id), "%u", (unsigned)geteuid());
	if (fd_read_file(path, &text, NULL) < 0)
		return false;
	rest = text.data;
	while ((line = strsep(&rest, "\n")))
		if (parse_line(line, found ? found->pw_name : id, id, out_first))
			return true;
	return false;
}

static int range_of(const char *path, int64_t *out_first, struct fh_error *err)
{
	if (find_range(path, out_first))
		return 0;
	if (geteuid() != 0)
		return error_say(err, ENOENT,
				"this user has no %d subordinate ids in %s: as root, run "
				"`usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER`",
				GUEST_IDS, path);
	*out_first = ROOT_BASE;
	return 0;
}

static int write_map(pid_t pid, const char *file, int64_t first, struct fh_error *err)
{
	char path[64], map[128];
	auto_close int fd = -1;
	int n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	n = snprintf(map, sizeof(map), "0 0 1\n1 %lld %d\n", (long long)first, GUEST_IDS);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, map, (size_t)n) != n)
		return error_set(err, errno, "write %s", path);
	return 0;
}

static int run_helper(
		const char *program, pid_t pid, id_t self, int64_t first, struct fh_error *err)
{
	char pid_text[32], self_text[32], first_text[32], count_text[32];
	const char *const argv[] = { program, pid_text, "0", self_text, "1", "1", first_text,
		count_text, NULL };
	const char *const env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	int r, status;
	pid_t child;

	snprintf(pid_text, sizeof(pid_text), "%d", pid);
	snprintf(self_text, sizeof(self_text), "%u", (unsigned)self);
	snprintf(first_text, sizeof(first_text), "%lld", (long long)first);
	snprintf(count_text, sizeof(count_text), "%d", GUEST_IDS);
	r = posix_spawnp(&child, program, NULL, NULL, (char *const *)(uintptr_t)argv,
			(char *const *)(uintptr_t)env);
	if (r)
		return error_say(err, r, "%s is not there: install the package uidmap", program);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return error_set(err, errno, "wait for %s", program);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return error_say(err, EPERM, "%s refused to map the subordinate ids", program);
	return 0;
}

int idmap_apply(pid_t pid, struct fh_error *err)
{
	int64_t uids, gids;
	int r = range_of("/etc/subuid", &uids, err);

	if (r == 0)
		r = range_of("/etc/subgid", &gids, err);
	if (r < 0)
		return r;
	if (geteuid() == 0) {
		r = write_map(pid, "uid_map", uids, err);
		return r < 0 ? r : write_map(pid, "gid_map", gids, err);
	}
	r = run_helper("newuidmap", pid, geteuid(), uids, err);
	return r < 0 ? r : run_helper("newgidmap", pid, getegid(), gids, err);
}

int idmap_check(struct fh_error *err)
{
	int64_t first;
	int r = range_of("/etc/subuid", &first, err);

	if (r == 0)
		r = range_of("/etc/subgid", &first, err);
	if (r == 0 && geteuid() != 0 && access("/usr/bin/newuidmap", X_OK) < 0)
		r = error_say(err, ENOENT, "newuidmap is not there: install the package uidmap");
	return r;
}
