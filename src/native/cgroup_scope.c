/* SPDX-License-Identifier: Apache-2.0 */
#include "native/cgroup_scope.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/scope.h"
#include "native/cgroup_find.h"
#include "native/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/*
 * Program that calls systemd's StartTransientUnit (org.freedesktop.systemd1(5)). busctl is always
 * installed with systemd; a library would be one more dependency.
 */
#define BUSCTL "/usr/bin/busctl"
#define SYSTEMD_RUNS "/run/systemd/system"
#define SYSTEM_BUS "/run/dbus/system_bus_socket"

static const char *const call[] = {
	"call",
	"org.freedesktop.systemd1",
	"/org/freedesktop/systemd1",
	"org.freedesktop.systemd1.Manager",
	"StartTransientUnit",
	"ssa(sv)a(sa(sv))",
};

/*
 * Properties of the systemd scope. KillSignal is set because Fumehood's processes ignore the
 * default, SIGTERM: a logout would wait for them to end.
 */
static const char *const properties[] = {
	/*
	 * First the number of properties, then name, signature and value of each. The value of
	 * PIDs, the id of the process, is appended later.
	 */
	"6",
	"Description",
	"s",
	"Sandboxes of Fumehood",
	"Delegate",
	"b",
	"true",
	"TasksMax",
	"t",
	"18446744073709551615",
	"KillSignal",
	"i",
	"9",
	"CollectMode",
	"s",
	"inactive-or-failed",
	"PIDs",
	"au",
	"1",
};

#define SCOPE_ARGS_MAX (ARRAY_SIZE(call) + ARRAY_SIZE(properties) + 10)

struct bus {
	bool machine; /* true: the systemd of the machine; false: the systemd of this user */
	/* environment variable for busctl, like "XDG_RUNTIME_DIR=/run/user/1000" */
	char runtime_dir[64];
};

/*
 * Finds systemd's socket and checks whether it can be reached. Starting busctl only to see it fail
 * takes time.
 */
static bool scope_find_bus(struct bus *out)
{
	char path[64];

	*out = (struct bus){ .machine = geteuid() == 0 };
	snprintf(path, sizeof(path), "/run/user/%u/bus", (unsigned)geteuid());
	snprintf(out->runtime_dir, sizeof(out->runtime_dir), "XDG_RUNTIME_DIR=/run/user/%u",
			(unsigned)geteuid());
	return access(SYSTEMD_RUNS, F_OK) == 0 && access(BUSCTL, X_OK) == 0 &&
			access(out->machine ? SYSTEM_BUS : path, W_OK) == 0;
}

static size_t scope_add_words(const char **argv, size_t n, const char *const *list, size_t n_list)
{
	for (size_t i = 0; i < n_list; i++)
		argv[n++] = list[i];
	return n;
}

static int scope_start_call(
		const struct bus *bus, const char *name, pid_t pid, int complaints, pid_t *out_pid)
{
	const char *argv[SCOPE_ARGS_MAX] = { "busctl", bus->machine ? "--system" : "--user",
		"--quiet", "--timeout=2" };
	const char *const env[] = { "LANG=C.UTF-8", bus->runtime_dir, NULL };
	const int fds[] = { -1, -1, complaints };
	char pid_text[16];
	size_t n = 4;

	snprintf(pid_text, sizeof(pid_text), "%d", (int)pid);
	n = scope_add_words(argv, n, call, ARRAY_SIZE(call));
	argv[n++] = name;
	argv[n++] = "fail"; /* the call's mode: fail if a unit of this name exists */
	n = scope_add_words(argv, n, properties, ARRAY_SIZE(properties));
	argv[n++] = pid_text;
	argv[n++] = "0"; /* number of auxiliary units in the call */
	argv[n] = NULL;
	return spawn_program(out_pid, BUSCTL, argv, env, fds, ARRAY_SIZE(fds));
}

/* Waits for a program to exit until the deadline, then kills it. Returns false if it failed. Also
 * returns true if its status is unknown, because the host program ignores SIGCHLD. */
static bool scope_ends_well(pid_t pid, int64_t deadline)
{
	auto_close int process = child_open(pid);

	if (!child_await(process, clock_ms_left(deadline))) {
		child_kill(process);
		child_await(process, -1);
	}
	return child_reap(process, NULL) != CHILD_FAILED;
}

/* Waits until systemd has moved the process into the scope: systemd answers before that. */
static bool scope_wait_for_move(pid_t pid, const char *name, int64_t deadline)
{
	do {
		auto_free char *folder = cgroup_folder_of(pid, "");

		if (folder && strstr(folder, name))
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = NS_PER_MS }, NULL);
	} while (clock_ms_left(deadline));
	return false;
}

static char *scope_complaint(int fd)
{
	char text[200];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return xasprintf("systemd gave no scope: %s", *text ? text : "it did not answer");
}

int cgroup_scope_make(pid_t pid, char **out_why)
{
	int64_t deadline = clock_now_ns() + SCOPE_WAIT_MS * NS_PER_MS;
	auto_close int complaints = memfd_create("busctl", MFD_CLOEXEC);
	auto_free char *name = xasprintf(
			"fumehood-%d-%lld.scope", (int)pid, (long long)process_start_time(pid));
	struct bus bus;
	pid_t busctl = -1;
	int r;

	if (!scope_find_bus(&bus)) {
		*out_why = xstrdup(bus.machine ? "no systemd to ask for a group"
					       : "no systemd of this user to ask for a group");
		return -ENOENT;
	}
	r = complaints < 0 ? -errno : scope_start_call(&bus, name, pid, complaints, &busctl);
	if (r < 0) {
		*out_why = xasprintf("start '" BUSCTL "': %s", strerror(-r));
		return r;
	}
	if (!scope_ends_well(busctl, deadline) || !scope_wait_for_move(pid, name, deadline)) {
		*out_why = scope_complaint(complaints);
		return -EIO;
	}
	return 0;
}
