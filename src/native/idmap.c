/* SPDX-License-Identifier: Apache-2.0 */
#include "native/idmap.h"

#include "base/child.h"
#include "base/exec.h"
#include "base/fd.h"
#include "base/scope.h"
#include "base/str.h"
#include "proto/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * First subordinate id that root uses if /etc/subuid gives root no range. It lies above the ids
 * that distributions use and below 2^31.
 */
#define ROOT_BASE 1879048192LL

#define SUBID_FILE_MAX (1 << 20)

/* A parsed line of /etc/subuid, NAME-or-ID:FIRST:COUNT: see subuid(5). */
struct subid_line {
	const char *owner;
	int64_t first, count;
};

static bool idmap_parse_line(char *line, struct subid_line *out)
{
	char *first = strchr(line, ':');
	char *count = first ? strchr(first + 1, ':') : NULL;

	if (!count || *line == ':')
		return false;
	*first++ = '\0';
	*count++ = '\0';
	out->owner = line;
	return str_to_i64(first, &out->first) && str_to_i64(count, &out->count);
}

/*
 * Parses the next valid line of an /etc/subuid text, writes NULs into it, and moves *rest behind
 * it. False: none is left.
 */
static bool idmap_next_line(char **rest, struct subid_line *out)
{
	char *line;

	while ((line = strsep(rest, "\n")))
		if (idmap_parse_line(line, out))
			return true;
	return false;
}

bool idmap_user_name(char *out, size_t size)
{
	struct passwd pw, *found = NULL;
	char space[4096];

	if (getpwuid_r(geteuid(), &pw, space, sizeof(space), &found) != 0 || !found)
		return false;
	return snprintf(out, size, "%s", pw.pw_name) < (int)size;
}

/* Finds in the file `path` the first range of subordinate ids that is this user's and large
 * enough. */
static bool idmap_find_range(const char *path, int64_t *out_first)
{
	auto_buf struct buf text = BUF_INIT(SUBID_FILE_MAX);
	struct subid_line line;
	char name[256] = "", id[32];
	char *rest;

	/* If the user has no name, leave `name` empty: then only user numbers are compared. */
	idmap_user_name(name, sizeof(name));
	snprintf(id, sizeof(id), "%u", (unsigned)geteuid());
	if (fd_read_file(path, &text, NULL) < 0)
		return false;
	rest = text.data;
	while (idmap_next_line(&rest, &line)) {
		if (line.count < GUEST_IDS || !(str_eq(line.owner, id) || str_eq(line.owner, name)))
			continue;
		*out_first = line.first;
		return true;
	}
	return false;
}

static int idmap_range_of(const char *path, int64_t *out_first, struct fh_error *err)
{
	if (idmap_find_range(path, out_first))
		return 0;
	if (geteuid() != 0)
		return error_say(err, ENOENT, "this user has no %d subordinate ids in %s",
				GUEST_IDS, path);
	*out_first = ROOT_BASE;
	return 0;
}

static int idmap_write(pid_t pid, const char *file, int64_t first, struct fh_error *err)
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

/* Returns true if the process has a map of ids. The host program may ignore SIGCHLD, so that nobody
 * knows how the helper ended. */
static bool idmap_is_written(pid_t pid, const char *file)
{
	auto_buf struct buf map = BUF_INIT(SUBID_FILE_MAX);
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	return fd_read_file(path, &map, NULL) == 0 && map.len > 0;
}

/* `program` writes `file` of /proc/PID, for a user who may not write it. */
static int idmap_run_helper(const char *program, const char *file, pid_t pid, id_t self,
		int64_t first, struct fh_error *err)
{
	char pid_text[32], self_text[32], first_text[32], count_text[32];
	const char *const argv[] = { program, pid_text, "0", self_text, "1", "1", first_text,
		count_text, NULL };
	const char *const env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	auto_close int process = -1;
	enum child_end end;
	pid_t child;
	int r;

	snprintf(pid_text, sizeof(pid_text), "%d", pid);
	snprintf(self_text, sizeof(self_text), "%u", (unsigned)self);
	snprintf(first_text, sizeof(first_text), "%lld", (long long)first);
	snprintf(count_text, sizeof(count_text), "%d", GUEST_IDS);
	r = posix_spawnp(&child, program, NULL, NULL, exec_list(argv), exec_list(env));
	if (r && r != ENOENT)
		return error_set(err, r, "start '%s'", program);
	if (r)
		return error_say(
				err, r, "%s is not installed: install the package uidmap", program);
	process = child_open(child);
	child_await(process, -1);
	end = child_reap(process, NULL);
	if (end == CHILD_FAILED || (end == CHILD_UNKNOWN && !idmap_is_written(pid, file)))
		return error_say(err, EPERM, "%s refused to map the subordinate ids", program);
	return 0;
}

int idmap_apply(pid_t pid, struct fh_error *err)
{
	int64_t uids, gids;
	int r = idmap_range_of("/etc/subuid", &uids, err);

	if (r < 0)
		return r;
	r = idmap_range_of("/etc/subgid", &gids, err);
	if (r < 0)
		return r;
	if (geteuid() == 0) {
		r = idmap_write(pid, "uid_map", uids, err);
		return r < 0 ? r : idmap_write(pid, "gid_map", gids, err);
	}
	r = idmap_run_helper("newuidmap", "uid_map", pid, geteuid(), uids, err);
	return r < 0 ? r : idmap_run_helper("newgidmap", "gid_map", pid, getegid(), gids, err);
}

int idmap_check(struct fh_error *err)
{
	int64_t first;
	int r = idmap_range_of("/etc/subuid", &first, err);

	if (r < 0)
		return r;
	r = idmap_range_of("/etc/subgid", &first, err);
	if (r < 0)
		return r;
	if (geteuid() != 0 && access("/usr/bin/newuidmap", X_OK) < 0)
		return error_say(err, ENOENT,
				"newuidmap is not installed: install the package uidmap");
	return 0;
}

/* --- a free range ----------------------------------------------------------------------------- */

/* Ranges of subordinate ids to suggest to a user. They begin at FREE_FIRST and have RANGE_IDS ids,
 * as useradd makes them. */
#define FREE_FIRST 100000LL
#define RANGE_IDS 65536LL
#define RANGES 9155
/*
 * Number of ranges of ids to step ahead if a range is taken. With 1, the search would go on to the
 * range that the user with the next number tries first.
 */
#define NEXT_RANGE 997

static bool idmap_in_range(int64_t id, int64_t first)
{
	return id >= first && id < first + RANGE_IDS;
}

static bool idmap_file_overlaps(const char *path, int64_t first)
{
	auto_buf struct buf text = BUF_INIT(SUBID_FILE_MAX);
	struct subid_line line;
	char *rest;

	if (fd_read_file(path, &text, NULL) < 0)
		return false;
	rest = text.data;
	while (idmap_next_line(&rest, &line))
		if (line.first < first + RANGE_IDS && first < line.first + line.count)
			return true;
	return false;
}

static bool idmap_has_account(int64_t first)
{
	struct passwd user = { 0 }, *one_user;
	struct group group = { 0 }, *one_group;
	char space[16384];
	bool found = false;

	setpwent();
	while (!found && getpwent_r(&user, space, sizeof(space), &one_user) == 0)
		found = idmap_in_range(user.pw_uid, first);
	endpwent();
	setgrent();
	while (!found && getgrent_r(&group, space, sizeof(space), &one_group) == 0)
		found = idmap_in_range(group.gr_gid, first);
	endgrent();
	return found;
}

/*
 * Begins the search for a free range of ids at a place that depends on the user's number. So two
 * users who search at the same time find different ranges.
 */
bool idmap_free_range(uid_t uid, int64_t *out_first, int64_t *out_last)
{
	for (int64_t i = 0; i < RANGES; i++) {
		int64_t first = FREE_FIRST +
				(uid + RANGES - 1000 + i * NEXT_RANGE) % RANGES * RANGE_IDS;

		if (idmap_file_overlaps("/etc/subuid", first) ||
				idmap_file_overlaps("/etc/subgid", first) ||
				idmap_has_account(first))
			continue;
		*out_first = first;
		*out_last = first + RANGE_IDS - 1;
		return true;
	}
	return false;
}
