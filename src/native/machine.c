/* SPDX-License-Identifier: Apache-2.0 */
#include "native/machine.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/landlock.h"
#include "base/path.h"
#include "base/places.h"
#include "base/refusal.h"
#include "base/scope.h"
#include "base/str.h"
#include "native/chroot.h"
#include "native/devices.h"
#include "native/idmap.h"
#include "native/leftovers.h"
#include "native/native.h"
#include "shell/session.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* A check is a function and a line in the table at the end. */

__attribute__((format(printf, 2, 3))) static void machine_detail(
		struct machine_finding *f, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(f->detail, sizeof(f->detail), format, ap);
	va_end(ap);
}

__attribute__((format(printf, 2, 3))) static void machine_fix(
		struct machine_finding *f, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(f->fix, sizeof(f->fix), format, ap);
	va_end(ap);
}

/* The number in a file below /proc/sys; -1 if there is none. */
static int64_t machine_setting(const char *path)
{
	auto_buf struct buf text = BUF_INIT(64);
	int64_t n;

	if (fd_read_file(path, &text, NULL) < 0 || !text.len)
		return -1;
	text.data[strcspn(text.data, "\n")] = '\0';
	return str_to_i64(text.data, &n) ? n : -1;
}

#define KERNEL_MAJOR 6
#define KERNEL_MINOR 1

static void machine_check_kernel(struct machine_finding *f)
{
	struct utsname u;
	long major, minor;
	char *end;

	uname(&u);
	major = strtol(u.release, &end, 10);
	minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
	f->ok = major > KERNEL_MAJOR || (major == KERNEL_MAJOR && minor >= KERNEL_MINOR);
	machine_detail(f, "Linux %s", u.release);
	if (!f->ok)
		machine_fix(f, "a kernel of %d.%d or later is needed (Debian 12 has it)",
				KERNEL_MAJOR, KERNEL_MINOR);
}

/* Makes a user namespace in a child process, because this process could not leave it. Returns the
 * errno or 0. */
static int machine_try_user_namespace(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ? errno : 0);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static void machine_check_user_namespaces(struct machine_finding *f)
{
	int error = machine_try_user_namespace();

	f->ok = error == 0;
	machine_detail(f, "%s", error ? strerror(error) : "can be made");
	if (f->ok)
		return;
	if (error == EPERM && chroot_here()) {
		machine_detail(f, "refused, because this is a chroot");
		machine_fix(f,
				"make its folder DIR the root of a mount namespace: as root, outside, "
				"unshare --mount sh -c 'mount --rbind DIR DIR && cd DIR && pivot_root . . "
				"&& umount -l . && exec bash'");
	} else if (machine_setting("/proc/sys/user/max_user_namespaces") == 0)
		machine_fix(f, "as root: sysctl -w user.max_user_namespaces=65536");
	else if (machine_setting("/proc/sys/kernel/unprivileged_userns_clone") == 0)
		machine_fix(f, "as root: sysctl -w kernel.unprivileged_userns_clone=1");
	else if (machine_setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1)
		machine_fix(f,
				"Ubuntu's AppArmor restricts them: as root, sysctl -w "
				"kernel.apparmor_restrict_unprivileged_userns=0, or give this program a profile "
				"with `userns,`");
	else
		machine_fix(f,
				"inside a container, its seccomp profile refuses them: run it with "
				"--security-opt seccomp=unconfined");
}

static void machine_fix_ids(struct machine_finding *f)
{
	int64_t first, last;
	char name[256];

	if (!idmap_user_name(name, sizeof(name)))
		machine_fix(f,
				"newuidmap wants a user with a name: as root, useradd --uid %u NAME, "
				"which gives subordinate ids, too",
				(unsigned)geteuid());
	else if (!idmap_free_range(geteuid(), &first, &last))
		machine_fix(f, "as root: make room in /etc/subuid and /etc/subgid, where no range is free");
	else
		machine_fix(f,
				"as root: %susermod --add-subuids %" PRId64 "-%" PRId64
				" --add-subgids %" PRId64 "-%" PRId64 " %s",
				/* usermod has --add-subuids only if /etc/subuid and /etc/subgid
				 * exist */
				path_exists("/etc/subuid") && path_exists("/etc/subgid")
						? ""
						: "touch /etc/subuid /etc/subgid && ",
				first, last, first, last, name);
}

static void machine_check_ids(struct machine_finding *f)
{
	struct fh_error err = FH_ERROR_INIT;

	f->ok = idmap_check(&err) == 0;
	machine_detail(f, "%s", f->ok ? "subordinate ids can be mapped" : err.message);
	if (!f->ok && strstr(err.message, "uidmap"))
		machine_fix(f, "as root: apt-get install uidmap");
	else if (!f->ok)
		machine_fix_ids(f);
}

static void machine_check_plugin(struct machine_finding *f)
{
	const char *plugin = places_get()->guest_plugin;

	f->ok = access(plugin, R_OK) == 0;
	machine_detail(f, "%s%s", plugin, f->ok ? "" : " is not there");
	if (!f->ok)
		machine_fix(f, "build it: make (it needs the package bash-builtins)");
}

/* Advice to the user for known errors of sandboxes, found by a part of the error. */
static const struct {
	const char *says, *fix;
} refusals[] = {
	{ "plugin was built for", "this machine's bash has changed: build again with make" },
	{ "mount '/proc'",
			"/proc is masked, as in most containers: run the container with "
			"--security-opt systempaths=unconfined (Docker) or --security-opt "
			"unmask=ALL (Podman)" },
	{ "mount '/home/agent'",
			"overlayfs is refused in a user namespace: a kernel of 5.11 or "
			"later without a patch against it is needed" },
	{ "make namespaces",
			"see the check of user namespaces; sysctl user.max_pid_namespaces, "
			"max_net_namespaces, max_mnt_namespaces may be 0 as well" },
	{ "uid_map",
			"this root lacks CAP_SETUID, as in a container: run as an ordinary user with "
			"subordinate ids, or give the container that capability" },
	{ "bash can't load", "build again with make" },
	{ "refused to map",
			"newuidmap and newgidmap must be setuid root, and no_new_privs unset: as root, "
			"apt-get install --reinstall uidmap" },
};

static int machine_command(struct session *session, struct fh_error *err)
{
	int r = session_command(session, "touch a && rm a", 10000, false, err);

	if (r < 0)
		return r;
	if (session_result(session)->outcome != SESSION_OK ||
			session_result(session)->exit_code != 0)
		return error_say(err, EIO, "%s", buf_str(session_result(session)->output));
	return 0;
}

static int machine_run_true(struct owner *owner, struct fh_error *err)
{
	static const struct layer_item item = { .target = "workspace" };
	struct sandbox *sb;
	struct session *session;
	int r = owner_add_layer(owner, "doctor", &item, 1, err);

	if (r < 0)
		return r;
	r = sandbox_start(owner, &(struct sandbox_options){ .layer = "doctor", .shell = true }, &sb,
			err);
	if (r < 0)
		return r;
	session = session_new(sb, 4096);
	r = machine_command(session, err);
	session_free(session);
	sandbox_close(sb);
	return r;
}

/* Starts an owner, the object that has sandboxes, and runs a command in a sandbox. NULL: one of
 * these failed. */
static struct owner *machine_try_owner(struct fh_error *err)
{
	struct owner *owner = NULL;

	if (owner_open(&(struct owner_options){ .label = "doctor" }, &owner, err) < 0)
		return NULL;
	if (machine_run_true(owner, err) == 0)
		return owner;
	owner_close(owner);
	return NULL;
}

static void machine_check_sandbox(struct machine_finding *f)
{
	struct fh_error err = FH_ERROR_INIT;
	int64_t began = clock_now_ns();
	struct owner *owner = machine_try_owner(&err);
	char *advice = strstr(err.message, ERROR_SEE_DOCTOR);

	f->ok = owner != NULL;
	if (advice)
		*advice = '\0';
	if (f->ok)
		machine_detail(f, "a sandbox ran a command %.0f ms after this program began one",
				(double)(clock_now_ns() - began) / 1e6);
	else
		machine_detail(f, "%s", err.message);
	owner_close(owner);
	for (size_t i = 0; i < ARRAY_SIZE(refusals) && !f->fix[0]; i++)
		if (strstr(f->detail, refusals[i].says))
			machine_fix(f, "%s", refusals[i].fix);
}

static void machine_check_overlay(struct machine_finding *f)
{
	struct owner *owner = machine_try_owner(NULL);

	if (!owner) {
		machine_detail(f, "not known without a sandbox");
		return;
	}
	f->ok = native_owner_of(owner)->can & NURSERY_CAN_OVERLAY;
	machine_detail(f, "a task's files are %s",
			f->ok ? "shared between episodes" : "copied into each episode");
	if (!f->ok)
		machine_fix(f, "a kernel of 6.6 or later lets them be shared (attributes on tmpfs)");
	owner_close(owner);
}

static void machine_check_groups(struct machine_finding *f)
{
	struct owner *owner = machine_try_owner(NULL);

	if (!owner) {
		machine_detail(f, "not known without a sandbox");
		return;
	}
	f->ok = native_owner_of(owner)->cgroups != NULL;
	machine_detail(f, "%s",
			f->ok ? "limits and usage are an episode's"
			      : native_owner_of(owner)->no_cgroups);
	if (!f->ok && geteuid() == 0)
		machine_fix(f,
				"mount them where this process may make folders in its own group, as "
				"containers do when they are told to");
	else if (!f->ok)
		machine_fix(f, "run under `systemd-run --user --scope -p Delegate=yes`, or as root");
	owner_close(owner);
}

static void machine_check_sockets(struct machine_finding *f)
{
	f->ok = landlock_can_scope_sockets();
	machine_detail(f, "with the host's network, agents %s",
			f->ok ? "reach no abstract unix socket outside their sandbox"
			      : "reach all abstract unix sockets");
	if (!f->ok)
		machine_fix(f, "a kernel of 6.12 or later that has Landlock switched on (lsm=landlock,...)");
}

static void machine_check_python(struct machine_finding *f)
{
	f->ok = access("/usr/bin/python3", X_OK) == 0;
	machine_detail(f, "/usr/bin/python3%s", f->ok ? "" : " can't be run");
	if (!f->ok)
		machine_fix(f, "apt-get install python3");
}

static void machine_check_linter(struct machine_finding *f)
{
	f->ok = access("/usr/lib/python3/dist-packages/flake8", R_OK) == 0;
	machine_detail(f, "flake8 for %s",
			f->ok ? "/usr/bin/python3"
			      : "/usr/bin/python3 is missing: agents' edits go unchecked");
	if (!f->ok)
		machine_fix(f, "apt-get install flake8");
}

static void machine_check_papers(struct machine_finding *f)
{
	f->ok = access("/usr/bin/pdftotext", X_OK) == 0;
	machine_detail(f, "pdftotext%s",
			f->ok ? "" : " is missing: parse_pdf_url keeps PDFs as they are");
	if (!f->ok)
		machine_fix(f, "apt-get install poppler-utils");
}

/* Checks for NVIDIA GPUs. No GPU is fine. Device files that can't be opened are a failure. So is
 * a driver without device files, because only other programs can make them. */
static void machine_check_gpus(struct machine_finding *f)
{
	auto_buf struct buf list = BUF_INIT(sizeof(f->detail) / 2);
	struct fh_error err = FH_ERROR_INIT;
	int numbers[GPU_NUMBER_MAX + 1];
	size_t n = devices_look(numbers, ARRAY_SIZE(numbers), &err);

	for (size_t i = 0; i < n; i++)
		buf_printf(&list, "%s%d", i ? ", " : n > 1 ? "GPUs " : "GPU ", numbers[i]);
	f->ok = err.code == 0 && (n || !path_exists("/proc/driver/nvidia/version"));
	if (err.code)
		machine_detail(f, "%s", err.message);
	else if (n)
		machine_detail(f, "%s: an agent has those that --gpus-per-agent or --gpus give it",
				buf_str(&list));
	else
		machine_detail(f,
				"none of NVIDIA's: --gpus finds them as /dev/nvidia0, /dev/nvidia1 and so on");
	if (err.code)
		machine_fix(f, "as root: chmod 666 /dev/nvidia*");
	else if (!f->ok)
		machine_fix(f, "there is a driver: nvidia-smi or nvidia-modprobe, as root, makes its devices");
}

static void machine_check_state(struct machine_finding *f)
{
	struct fh_error err = FH_ERROR_INIT;
	auto_free char *dir = NULL;

	f->ok = places_state_dir(NULL, &dir, &err) == 0 && access(dir, W_OK) == 0;
	machine_detail(f, "%s%s", dir ? dir : err.message,
			dir && !f->ok ? " can't be written" : "");
	if (!f->ok)
		machine_fix(f, "set FUMEHOOD_STATE to a folder that can be written");
}

static void machine_check_leftovers(struct machine_finding *f)
{
	auto_free pid_t *list = NULL;
	size_t n = leftovers_find(&list);

	f->ok = n == 0;
	if (f->ok) {
		machine_detail(f, "no sandbox lives on without its owner");
		return;
	}
	machine_detail(f, "%zu sandbox%s without an owner, of process %d%s", n,
			n == 1 ? " lives on" : "es live on", (int)list[0],
			n == 1 ? "" : " and others");
	machine_fix(f, "fumehood sandbox gc");
}

const struct machine_check machine_checks[] = {
	{ "kernel", true, machine_check_kernel },
	{ "user namespaces", true, machine_check_user_namespaces },
	{ "subordinate ids", true, machine_check_ids },
	{ "bash plugin", true, machine_check_plugin },
	{ "sandbox", true, machine_check_sandbox },
	{ "state folder", true, machine_check_state },
	{ "overlay", false, machine_check_overlay },
	{ "control groups", false, machine_check_groups },
	{ "unix sockets", false, machine_check_sockets },
	{ "python", false, machine_check_python },
	{ "linter", false, machine_check_linter },
	{ "papers", false, machine_check_papers },
	{ "gpus", false, machine_check_gpus },
	{ "leftovers", false, machine_check_leftovers },
	{ NULL },
};
