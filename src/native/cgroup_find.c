/* SPDX-License-Identifier: Apache-2.0 */
#include "native/cgroup_find.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <string.h>
#include <unistd.h>

/* Finds the control groups of this machine in /proc/self/mountinfo and /proc/PID/cgroup. */

#define FILE_MAX (1 << 20)

static bool cgroup_list_has(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; at; at = strchr(at, ','), at += at != NULL)
		if (strncmp(at, word, n) == 0 && (at[n] == ',' || at[n] == '\0'))
			return true;
	return false;
}

/*
 * Parses a line of /proc/self/mountinfo (proc(5)): "36 35 98:0 /root /mount/point options shared:1
 * - type source super-options". The type tells v1 from v2. For v1, the super-options name the
 * controllers.
 */
static char *cgroup_mount_of_line(char *line, const char *controller)
{
	char *tail = strstr(line, " - ");
	char *type, *options, *rest = line, *point = NULL;

	if (!tail)
		return NULL;
	*tail = '\0';
	tail += 3;
	type = strsep(&tail, " ");
	strsep(&tail, " ");
	options = tail;
	if (!options || !str_eq(type, *controller ? "cgroup" : "cgroup2"))
		return NULL;
	if (*controller && !cgroup_list_has(options, controller))
		return NULL;
	for (int i = 0; i < 5; i++)
		point = strsep(&rest, " ");
	return point ? xstrdup(point) : NULL;
}

char *cgroup_top_folder(const char *controller)
{
	auto_buf struct buf text = BUF_INIT(FILE_MAX);
	char *line, *rest, *found = NULL;

	if (fd_read_file("/proc/self/mountinfo", &text, NULL) < 0)
		return NULL;
	rest = text.data;
	while (!found && (line = strsep(&rest, "\n")))
		found = cgroup_mount_of_line(line, controller);
	return found;
}

/*
 * Parses a line of /proc/PID/cgroup (cgroups(7)), like "4:memory:/user/1000" or
 * "0::/user.slice/x.scope".
 */
static const char *cgroup_of_line(char *line, const char *controller)
{
	char *list;

	strsep(&line, ":");
	list = strsep(&line, ":");
	if (!list || !line)
		return NULL;
	return (*controller ? cgroup_list_has(list, controller) : !*list) ? line : NULL;
}

char *cgroup_folder_of(pid_t pid, const char *controller)
{
	auto_free char *top = cgroup_top_folder(controller);
	auto_free char *path = xasprintf("/proc/%d/cgroup", (int)(pid ? pid : getpid()));
	auto_buf struct buf text = BUF_INIT(FILE_MAX);
	const char *group = NULL;
	char *line, *rest;

	if (!top || fd_read_file(path, &text, NULL) < 0)
		return NULL;
	rest = text.data;
	while (!group && (line = strsep(&rest, "\n")))
		group = cgroup_of_line(line, controller);
	if (!group)
		return NULL;
	return str_eq(group, "/") ? take_ptr(top) : xasprintf("%s%s", top, group);
}
