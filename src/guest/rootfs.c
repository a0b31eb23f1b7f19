/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/fd.h"
#include "base/path.h"
#include "base/scope.h"
#include "guest/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

/*
 * Builds the nursery's mount tree (tree.h) once per owner, in a file system of its own. The folder
 * /root in it is the root of sandboxes. It shows listed paths of the host, some of /etc, and
 * devices. No other file of the host exists in it. The tree's /proc is the host's, needed to write
 * uid_map. Each sandbox mounts its own /proc.
 */

/* Folder of the host on which the nursery mounts its own tree while building it. No file of
 * Fumehood lies in it. */
#define BASE "/sys"

/* Files of the host's /etc that programs need. Sandboxes see copies. */
static const char *const etc_files[] = {
	"ld.so.cache",
	"ld.so.conf",
	"localtime",
	"timezone",
	"os-release",
	"debian_version",
	"services",
	"protocols",
	"mime.types",
	"locale.alias",
	"magic",
	"inputrc",
	"ca-certificates.conf",
	"papersize",
};

/*
 * Folders of the host's /etc that programs need. Sandboxes see the folders themselves, by a bind.
 */
static const char *const etc_folders[] = {
	"alternatives",
	"ssl",
	"fonts",
	"python3.11",
	"python3",
	"ld.so.conf.d",
	"OpenCL",
	"vulkan",
};

/* Line of /etc/hosts in a sandbox, with the sandbox' own name. Sandboxes with and without a network
 * have it. */
#define OWN_HOST "127.0.1.1 fumehood\n"

/*
 * Content of files in /etc that sandboxes see instead of the host's files, which would describe the
 * machine.
 */
static const struct {
	const char *path, *text;
} own_files[] = {
	{ "root/etc/passwd",
			"root:x:0:0:root:/root:/usr/sbin/nologin\n"
			"agent:x:1000:1000:agent:/home/agent:/bin/bash\n"
			"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n" },
	{ "root/etc/group", "root:x:0:\ntty:x:5:\nagent:x:1000:\nnogroup:x:65534:\n" },
	{ "root/etc/nsswitch.conf",
			"passwd: files\ngroup: files\nhosts: files dns\n"
			"services: files\nprotocols: files\n" },
	{ "root/etc/hostname", "fumehood\n" },
	{ "root/etc/hosts", "127.0.0.1 localhost\n" OWN_HOST "::1 localhost\n" },
	{ "root/etc/resolv.conf", "" },
};

/*
 * Files of the host's /etc for sandboxes with the host's network. mounts.c binds them over the
 * entries of own_files.
 */
static const char *const name_files[] = { "hosts", "resolv.conf" };

static const char *const folders[] = {
	"root",
	"layers",
	"binds",
	"next",
	"files",
	"names",
	"proc",
	"root/etc",
	"root/home",
	"root/home/agent",
	"root/tmp",
	"root/var",
	"root/run",
	"root/run/fumehood",
	"root/proc",
	"root/dev",
	"root/dev/shm",
	"root/dev/pts",
	"root/fumehood",
	"root/fumehood/bin",
	"root/mnt",
};

static const struct {
	const char *path, *target;
} links[] = {
	{ "root/var/tmp", "/tmp" },
	{ "root/var/run", "/run" },
	{ "root/dev/fd", "/proc/self/fd" },
	{ "root/dev/stdin", "/proc/self/fd/0" },
	{ "root/dev/stdout", "/proc/self/fd/1" },
	{ "root/dev/stderr", "/proc/self/fd/2" },
	{ "root/dev/ptmx", "pts/ptmx" },
	{ "root/etc/mtab", "/proc/self/mounts" },
};

static const char *const devices[] = { "null", "zero", "full", "random", "urandom", "tty" };

int rootfs_open_tree(const char *source, enum bind_use use, struct fh_error *err)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_NOSUID |
				(use == BIND_DEVICE ? 0 : MOUNT_ATTR_NODEV) |
				(use == BIND_EPISODE ? 0 : MOUNT_ATTR_RDONLY) };
	auto_close int tree = (int)syscall(SYS_open_tree, AT_FDCWD, source,
			OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);

	if (tree < 0)
		return error_set(err, errno, "bind '%s'", source);
	if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
			    sizeof(attr)) < 0)
		return error_set(err, errno, "restrict the bind of '%s'", source);
	return take_fd(&tree);
}

static int rootfs_make_file(const char *path, mode_t mode, struct fh_error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	return fd < 0 ? error_set(err, errno, "create '%s'", path) : fd;
}

/* Binds a path of the host into the root directory that all sandboxes share. `folder`: the path is
 * a folder, not a file or device. */
static int rootfs_bind(const char *source, const char *target, enum bind_use use, bool folder,
		struct fh_error *err)
{
	auto_close int tree = rootfs_open_tree(source, use, err);
	auto_close int file = -1;

	if (tree < 0)
		return tree;
	if (folder) {
		int r = path_mkdirs(target, 0755, err);

		if (r < 0)
			return r;
	} else {
		file = rootfs_make_file(target, use == BIND_DEVICE ? 0666 : 0644, err);
		if (file < 0)
			return file;
	}
	if (syscall(SYS_move_mount, tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return error_set(err, errno, "mount '%s'", target);
	return 0;
}

/*
 * Shows a path of the host at the same path in all sandboxes. Copies a symbolic link, binds all
 * else. Skips a missing path.
 */
static int rootfs_add(const char *path, struct fh_error *err)
{
	char target[PATH_MAX], link[PATH_MAX];
	struct stat st;
	ssize_t n;

	snprintf(target, sizeof(target), "root%s", path);
	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : error_set(err, errno, "look at '%s'", path);
	if (!S_ISLNK(st.st_mode))
		return rootfs_bind(path, target, BIND_READ_ONLY, S_ISDIR(st.st_mode), err);
	n = readlink(path, link, sizeof(link) - 1);
	if (n < 0)
		return error_set(err, errno, "read link '%s'", path);
	link[n] = '\0';
	return symlink(link, target) < 0 ? error_set(err, errno, "link '%s'", target) : 0;
}

/*
 * Copies a file of the host's /etc into `folder` of the nursery's tree. Skips a file that is
 * missing or that this process can't read.
 */
static void rootfs_copy_etc(const char *name, const char *folder)
{
	char source[PATH_MAX], target[PATH_MAX];
	auto_close int from = -1;
	auto_close int to = -1;

	snprintf(source, sizeof(source), "/etc/%s", name);
	snprintf(target, sizeof(target), "%s/%s", folder, name);
	from = open(source, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return;
	to = rootfs_make_file(target, 0644, NULL);
	if (to >= 0)
		fd_copy(from, to);
}

/* Appends a text to a file of the nursery's tree. Makes the file if there is none. */
static int rootfs_write(const char *path, const char *text, struct fh_error *err)
{
	auto_close int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return error_set(err, errno, "write '%s'", path);
	return 0;
}

static int rootfs_fill_etc(struct fh_error *err)
{
	char path[PATH_MAX];
	struct stat st;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(etc_files); i++)
		rootfs_copy_etc(etc_files[i], "root/etc");
	for (size_t i = 0; i < ARRAY_SIZE(name_files); i++)
		rootfs_copy_etc(name_files[i], "names");
	/* Append the sandbox' own name to a copy of the host's /etc/hosts: torchrun looks it up. */
	r = rootfs_write("names/hosts", "\n" OWN_HOST, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(etc_folders); i++) {
		snprintf(path, sizeof(path), "/etc/%s", etc_folders[i]);
		if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode))
			continue;
		r = rootfs_add(path, err);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < ARRAY_SIZE(own_files); i++) {
		r = rootfs_write(own_files[i].path, own_files[i].text, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Bind devices read-only. Programs can still write to a device, but can't change its times and
 * mode, which all sandboxes see.
 */
static int rootfs_fill_dev(struct fh_error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		char source[64], target[64];
		int r;

		snprintf(source, sizeof(source), "/dev/%s", devices[i]);
		snprintf(target, sizeof(target), "root/dev/%s", devices[i]);
		r = rootfs_bind(source, target, BIND_DEVICE, false, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int rootfs_add_tools(const struct hello *hello, int from, struct fh_error *err)
{
	auto_close int to = -1;
	int r;

	if (from < 0)
		return 0;
	to = rootfs_make_file("root/fumehood/bin/.aci", 0755, err);
	if (to < 0)
		return to;
	r = fd_copy(from, to);
	if (r < 0)
		return error_set(err, -r, "copy '%s'", hello->tool);
	for (const char *const *name = hello->tool_names; *name; name++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "root/fumehood/bin/%s", *name);
		if (symlink(".aci", path) < 0)
			return error_set(err, errno, "link '%s'", path);
	}
	if (access("/usr/bin/python", X_OK) < 0 && access("/usr/bin/python3", X_OK) == 0 &&
			symlink("/usr/bin/python3", "root/fumehood/bin/python") < 0)
		return error_set(err, errno, "link python");
	return 0;
}

/* Hides a folder from sandboxes, if it lies beneath a path that they see. Mounts an empty folder
 * over it that nobody may enter. */
static int rootfs_cover(const char *path, struct fh_error *err)
{
	char target[PATH_MAX];
	struct stat st;

	snprintf(target, sizeof(target), "root%s", path);
	if (lstat(target, &st) < 0 || !S_ISDIR(st.st_mode))
		return 0; /* nothing to hide: sandboxes do not see the folder */
	if (mount("none", target, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
			    "size=4k,nr_inodes=1,mode=000") < 0)
		return error_set(err, errno, "cover '%s'", path);
	return 0;
}

static int rootfs_fill(const struct hello *hello, int tool, struct fh_error *err)
{
	int r;

	for (const char *const *path = hello->roots; *path; path++) {
		r = rootfs_add(*path, err);
		if (r < 0)
			return r;
	}
	r = rootfs_fill_etc(err);
	if (r < 0)
		return r;
	r = rootfs_fill_dev(err);
	if (r < 0)
		return r;
	r = rootfs_add_tools(hello, tool, err);
	if (r < 0)
		return r;
	for (const char *const *path = hello->covers; *path; path++) {
		r = rootfs_cover(*path, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int rootfs_make_skeleton(struct fh_error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (mkdir(folders[i], 0755) < 0)
			return error_set(err, errno, "make folder '%s'", folders[i]);
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		if (symlink(links[i].target, links[i].path) < 0)
			return error_set(err, errno, "link '%s'", links[i].path);
	if (mount("/proc", "proc", NULL, MS_BIND | MS_REC, NULL) < 0)
		return error_set(err, errno, "bind '/proc'");
	return 0;
}

int rootfs_build(const struct hello *hello, uint8_t *out_can, struct fh_error *err)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
				MOUNT_ATTR_NODEV };
	auto_close int tool = -1;
	int r;

	if (hello->tool) {
		/*
		 * Open the program of the agent's tools (fh-aci) now: the mount over BASE may hide
		 * it later.
		 */
		tool = open(hello->tool, O_RDONLY | O_CLOEXEC);
		if (tool < 0)
			return error_set(err, errno, "open '%s'", hello->tool);
	}
	if (mount("fumehood", BASE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0)
		return error_set(err, errno, "mount a tmpfs");
	if (chdir(BASE) < 0)
		return error_set(err, errno, "enter '%s'", BASE);
	r = rootfs_make_skeleton(err);
	if (r < 0)
		return r;
	r = rootfs_fill(hello, tool, err);
	if (r < 0)
		return r;
	/* Make the root that sandboxes share a mount, so that a clone can bind it with all mounts
	 * in it. */
	if (mount("root", "root", NULL, MS_BIND | MS_REC, NULL) < 0)
		return error_set(err, errno, "bind the root");
	if (syscall(SYS_mount_setattr, AT_FDCWD, "root", 0, &attr, sizeof(attr)) < 0)
		return error_set(err, errno, "make the root read-only");
	if (syscall(SYS_pivot_root, ".", ".") < 0)
		return error_set(err, errno, "pivot to the new root");
	if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return error_set(err, errno, "leave the old root");
	/*
	 * Test whether tmpfs has user.* attributes (Linux 6.6 and later). An overlay's upper needs
	 * them.
	 */
	*out_can = setxattr("/files", "user.fumehood", "1", 1, 0) == 0 ? NURSERY_CAN_OVERLAY : 0;
	removexattr("/files", "user.fumehood");
	return 0;
}
