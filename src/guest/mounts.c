/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "guest/mounts.h"

#include "base/scope.h"
#include "guest/tree.h"
#include "inside/places.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * A sandbox' own mounts. The clone that becomes its PID 1 makes them in its own user and mount
 * namespaces. Over the shared root lies one tmpfs for all files that the episode writes. So home,
 * /tmp and /dev/shm share one limit. Then the clone mounts a new /proc and /dev/pts and the plan's
 * binds. At the end it leaves the nursery's mount tree for good.
 */

#define MOUNTS_NOTHING (MS_NOSUID | MS_NODEV)
#define TERMINALS_MAX "64" /* terminals of one sandbox: the machine has 4096 for all */

static int mount_at(const char *source, const char *target, const char *type, unsigned long flags,
		const char *data, struct fh_error *err)
{
	if (mount(source, target, type, flags, data) < 0)
		return error_set(err, errno, "mount '%s'", target + strlen(TREE_NEXT));
	return 0;
}

static int mount_make_folder(const char *path, mode_t mode, id_t owner, struct fh_error *err)
{
	if (mkdir(path, mode) < 0 && errno != EEXIST)
		return error_set(err, errno, "make '%s'", path);
	if (chmod(path, mode) < 0 || (owner && chown(path, owner, owner) < 0))
		return error_set(err, errno, "prepare '%s'", path);
	return 0;
}

static int mount_tmpfs(const struct plan *plan, struct fh_error *err)
{
	char data[128] = "mode=755";
	size_t n = strlen(data);

	if (plan->disk_bytes)
		n += (size_t)snprintf(data + n, sizeof(data) - n, ",size=%llu",
				(unsigned long long)plan->disk_bytes);
	if (plan->disk_files)
		snprintf(data + n, sizeof(data) - n, ",nr_inodes=%llu",
				(unsigned long long)plan->disk_files);
	if (mount("fumehood", TREE_FILES, "tmpfs", MOUNTS_NOTHING, data) < 0)
		return error_set(err, errno, "mount the episode's files");
	return 0;
}

/*
 * Mounts a folder on the disk as the file system for the episode's files. The owner has set the
 * folder's quota, if it has one. /dev/shm stays in memory.
 */
static int mount_disk(int number, struct fh_error *err)
{
	char from[64];
	int r;

	snprintf(from, sizeof(from), TREE_BINDS "/%d", number);
	if (mount(from, TREE_FILES, NULL, MS_BIND, NULL) < 0)
		return error_set(err, errno, "mount the episode's files");
	r = mount_make_folder(TREE_FILES "/shm", 0755, 0, err);
	if (r < 0)
		return r;
	if (mount("fumehood", TREE_FILES "/shm", "tmpfs", MOUNTS_NOTHING, "mode=1777") < 0)
		return error_set(err, errno, "mount the episode's shared memory");
	return 0;
}

static int mount_files(const struct mounts_request *q, struct fh_error *err)
{
	static const struct {
		const char *path;
		mode_t mode;
		id_t owner;
	} parts[] = {
		{ TREE_FILES "/home", 0755, GUEST_AGENT_ID },
		{ TREE_FILES "/work", 0755, 0 },
		{ TREE_FILES "/tmp", 01777, 0 },
		{ TREE_FILES "/shm", 01777, 0 },
		{ TREE_FILES "/run", 0755, 0 },
	};
	int r = q->disk_number < 0 ? mount_tmpfs(q->plan, err) : mount_disk(q->disk_number, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		r = mount_make_folder(parts[i].path, parts[i].mode, parts[i].owner, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Mounts an overlay on `lower`. The folders `upper` and `work` are among the episode's own
 * files. */
static int mount_overlay(const char *lower, const char *upper, const char *work, const char *target,
		struct fh_error *err)
{
	char data[PATH_MAX + 256];

	snprintf(data, sizeof(data),
			"lowerdir=%s,upperdir=" TREE_FILES "%s,workdir=" TREE_FILES "%s,userxattr",
			lower, upper, work);
	return mount_at("overlay", target, "overlay", MOUNTS_NOTHING, data, err);
}

static int mount_home(const struct mounts_request *q, struct fh_error *err)
{
	char layer[PATH_MAX];

	if (q->plan->layer) {
		auto_close int from = -1, to = -1;
		int r;

		snprintf(layer, sizeof(layer), TREE_LAYERS "/%s", q->plan->layer);
		if (q->can & NURSERY_CAN_OVERLAY || q->disk_number >= 0)
			return mount_overlay(layer, "/home", "/work", TREE_NEXT GUEST_HOME, err);
		from = open(layer, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		to = open(TREE_FILES "/home", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (from < 0 || to < 0)
			return error_set(err, errno, "open '%s'", layer);
		r = layer_clone(from, to, err);
		if (r < 0)
			return r;
	}
	return mount_at(TREE_FILES "/home", TREE_NEXT GUEST_HOME, NULL, MS_BIND, NULL, err);
}

/*
 * Adds an entry to a root directory made for one sandbox. The entries are binds of the shared
 * root's entries, or links. A plan gets such a root if a bind's target is not among the episode's
 * files. Nobody may write to the shared root. With PLAN_BARE the root has devices only, for
 * programs that bring all they need.
 */
static int mount_part(const char *name, struct fh_error *err)
{
	char from[PATH_MAX], to[PATH_MAX], link[PATH_MAX];
	struct stat st;
	ssize_t n;

	snprintf(from, sizeof(from), TREE_ROOT "/%s", name);
	snprintf(to, sizeof(to), TREE_NEXT "/%s", name);
	if (lstat(from, &st) < 0)
		return error_set(err, errno, "look at '/%s'", name);
	if (S_ISLNK(st.st_mode)) {
		n = readlink(from, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = '\0';
		return symlink(link, to) < 0 ? error_set(err, errno, "link '/%s'", name) : 0;
	}
	if ((S_ISDIR(st.st_mode) ? mkdir(to, 0755) : mknod(to, S_IFREG | 0644, 0)) < 0)
		return error_set(err, errno, "make '/%s'", name);
	return mount_at(from, to, NULL, MS_BIND | MS_REC, NULL, err);
}

/*
 * Returns true if a sandbox with its own root directory does not bind this entry of the shared
 * root. The entry is then made anew, or left out so that a bind beneath it can be made.
 */
static bool mount_is_own_part(const char *name)
{
	static const char *const own[] = { ".", "..", "home", "tmp", "run", "proc", "dev", "mnt" };

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (strcmp(name, own[i]) == 0)
			return true;
	return false;
}

/*
 * Names of the entries of the sandboxes' shared root and of its /dev, each with a NUL at its end.
 * The nursery reads them once, and its clones inherit them.
 */
static struct parts {
	const char *folder;
	struct buf paths;
} parts_of_root = { "", BUF_INIT(1 << 20) }, parts_of_dev = { "dev/", BUF_INIT(1 << 20) };

static int mount_note_parts_of(struct parts *parts, struct fh_error *err)
{
	char path[PATH_MAX];
	DIR *dir;
	const struct dirent *e;

	snprintf(path, sizeof(path), TREE_ROOT "/%s", parts->folder);
	dir = opendir(path);
	if (!dir)
		return error_set(err, errno, "open '/%s'", parts->folder);
	while ((e = readdir(dir)))
		if (!mount_is_own_part(e->d_name)) {
			buf_printf(&parts->paths, "%s%s", parts->folder, e->d_name);
			buf_add_char(&parts->paths, '\0');
		}
	closedir(dir);
	return parts->paths.truncated ? error_set(err, ENOMEM, "list '/%s'", parts->folder) : 0;
}

int mounts_note_parts(struct fh_error *err)
{
	int r = mount_note_parts_of(&parts_of_root, err);

	return r < 0 ? r : mount_note_parts_of(&parts_of_dev, err);
}

/* Binds all entries of a folder of the shared root into the sandbox' own root. */
static int mount_parts_of(const struct parts *parts, struct fh_error *err)
{
	const char *path = buf_str(&parts->paths), *end = path + parts->paths.len;

	for (; path < end; path += strlen(path) + 1) {
		int r = mount_part(path, err);

		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Binds /dev of the root that sandboxes share. If the plan binds devices, /dev becomes a new folder
 * with a bind for each entry. Devices can be added to it.
 */
static int mount_dev(const struct plan *plan, struct fh_error *err)
{
	bool devices = false;
	int r;

	for (uint32_t i = 0; i < plan->n_binds; i++)
		devices = devices || plan->binds[i].device;
	if (!devices)
		return mount_part("dev", err);
	r = mount_make_folder(TREE_NEXT "/dev", 0755, 0, err);
	if (r < 0)
		return r;
	return mount_parts_of(&parts_of_dev, err);
}

static int mount_parts(const struct plan *plan, struct fh_error *err)
{
	static const char *const folders[] = { TREE_NEXT "/proc", TREE_NEXT "/home",
		TREE_NEXT GUEST_HOME, TREE_NEXT "/tmp", TREE_NEXT "/run", TREE_NEXT GUEST_RUN_DIR };
	int r = mount_at("fumehood", TREE_NEXT, "tmpfs", MOUNTS_NOTHING, "size=1m,mode=755", err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		r = mount_make_folder(folders[i], 0755, 0, err);
		if (r < 0)
			return r;
	}
	r = mount_dev(plan, err);
	if (r < 0)
		return r;
	return plan->flags & PLAN_BARE ? 0 : mount_parts_of(&parts_of_root, err);
}

static int mount_root(const struct plan *plan, struct fh_error *err)
{
	bool parts = plan->flags & PLAN_BARE;

	for (uint32_t i = 0; i < plan->n_binds; i++) {
		const char *target = plan->binds[i].target;

		if (strncmp(target, GUEST_HOME "/", sizeof(GUEST_HOME)) != 0 &&
				strncmp(target, "/tmp/", 5) != 0)
			/*
			 * Make a new root directory for this sandbox if a bind's target is not
			 * among the episode's files.
			 */
			parts = true;
	}
	if (parts)
		return mount_parts(plan, err);
	return mount_at(TREE_ROOT, TREE_NEXT, NULL, MS_BIND | MS_REC, NULL, err);
}

static int mount_own(const struct mounts_request *q, struct fh_error *err)
{
	const struct {
		const char *source, *target, *type;
		unsigned long flags;
		const char *data;
	} list[] = {
		{ TREE_FILES "/tmp", TREE_NEXT "/tmp", NULL, MS_BIND, NULL },
		{ TREE_FILES "/shm", TREE_NEXT "/dev/shm", NULL, MS_BIND, NULL },
		{ TREE_FILES "/run", TREE_NEXT GUEST_RUN_DIR, NULL, MS_BIND, NULL },
		{ "proc", TREE_NEXT "/proc", "proc", MOUNTS_NOTHING | MS_NOEXEC,
				q->plan->flags & PLAN_OWN_PROC ? "subset=pid" : NULL },
		{ "devpts", TREE_NEXT "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
				"newinstance,ptmxmode=0666,mode=620,max=" TERMINALS_MAX },
	};
	int r;

	r = mount_home(q, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		r = mount_at(list[i].source, list[i].target, list[i].type, list[i].flags,
				list[i].data, err);
		if (r < 0)
			return r;
	}
	if (q->plan->flags & PLAN_OWN_PROC)
		return 0;
	/* Hide how many terminals the machine has open, because two sandboxes could talk by that
	 * number. */
	return mount_at(TREE_ROOT "/mnt", TREE_NEXT "/proc/sys/kernel/pty", NULL, MS_BIND, NULL,
			err);
}

/* Binds copies of the host's /etc/hosts and resolv.conf, for a sandbox with the host's network. */
static int mount_names(struct fh_error *err)
{
	static const char *const list[][2] = {
		{ TREE_NAMES "/hosts", TREE_NEXT "/etc/hosts" },
		{ TREE_NAMES "/resolv.conf", TREE_NEXT "/etc/resolv.conf" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		int r;

		if (access(list[i][0], F_OK) < 0)
			continue;
		r = mount_at(list[i][0], list[i][1], NULL, MS_BIND, NULL, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int mount_say_no_place(const char *target, struct fh_error *err)
{
	if (errno == EROFS)
		return error_say(err, EROFS,
				"there is no '/%s' to bind to, and the folder above it is this "
				"machine's, read-only: bind to a place outside of it, such as /data/NAME",
				target);
	return error_set(err, errno, "make '/%s' for a bind", target);
}

/*
 * Makes the folder or file that a bind is mounted on. If the target lies beneath a path of the
 * host, fails unless it exists already.
 */
static int mount_make_place(int root, const char *target, bool folder, struct fh_error *err)
{
	char path[PATH_MAX];
	int fd;

	for (const char *slash = strchr(target, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(path, sizeof(path), "%.*s", (int)(slash - target), target);
		/*
		 * Don't call mkdirat() for a folder that exists. It would wait for a lock in the
		 * kernel, which agents can hold.
		 */
		if (faccessat(root, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			continue;
		if (mkdirat(root, path, 0755) < 0) {
			if (errno != EEXIST)
				return mount_say_no_place(path, err);
			continue;
		}
		if (fchownat(root, path, GUEST_AGENT_ID, GUEST_AGENT_ID, AT_SYMLINK_NOFOLLOW) < 0)
			return mount_say_no_place(path, err);
	}
	if (folder) {
		if (mkdirat(root, target, 0755) < 0 && errno != EEXIST)
			return mount_say_no_place(target, err);
		return 0;
	}
	fd = openat(root, target, O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return mount_say_no_place(target, err);
	close(fd);
	return 0;
}

/*
 * Makes an overlay, so that a sandbox can write above a path of the host. Before Linux 6.6 a tmpfs
 * can't be an overlay's upper. The owner then puts the episode's files on a disk.
 */
static int mount_writable(const char *layer, const char *from, const char *to, struct fh_error *err)
{
	char lower[PATH_MAX + 128];
	int r = mount_make_folder(TREE_FILES "/over", 0755, GUEST_AGENT_ID, err);

	if (r < 0)
		return r;
	r = mount_make_folder(TREE_FILES "/over-work", 0755, 0, err);
	if (r < 0)
		return r;
	snprintf(lower, sizeof(lower), TREE_LAYERS "/%s:%s", layer, from);
	r = mount_overlay(lower, "/over", "/over-work", to, err);
	return r < 0 ? error_wrap(err, "make a bind writable") : 0;
}

/*
 * Mounts a path of the host in a sandbox. If it shall be writable, mounts an overlay and stores its
 * path in `writable`, "" until then. Later binds of the same source show the same overlay.
 */
static int mount_bind(const struct plan *plan, const struct plan_bind *bind, const char *from,
		const char *to, char writable[PATH_MAX], struct fh_error *err)
{
	int r;

	if (!plan->writable || strcmp(bind->source, plan->writable) != 0)
		return mount_at(from, to, NULL, MS_BIND | MS_REC, NULL, err);
	if (*writable)
		return mount_at(writable, to, NULL, MS_BIND, NULL, err);
	r = mount_writable(plan->writable_layer, from, to, err);
	if (r < 0)
		return r;
	snprintf(writable, PATH_MAX, "%s", to);
	return 0;
}

static int mount_binds(const struct mounts_request *q, struct fh_error *err)
{
	auto_close int root = open(TREE_NEXT, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char writable[PATH_MAX] = "";

	if (root < 0)
		return error_set(err, errno, "open the root");
	for (uint32_t i = 0; i < q->plan->n_binds; i++) {
		const char *target = q->plan->binds[i].target;
		char from[64], to[PATH_MAX + 16];
		struct stat st;
		int r;

		while (*target == '/')
			target++;
		snprintf(from, sizeof(from), TREE_BINDS "/%d", q->bind_numbers[i]);
		snprintf(to, sizeof(to), TREE_NEXT "/%s", target);
		if (stat(from, &st) < 0)
			return error_set(err, errno, "look at the bind '%s'", target);
		r = mount_make_place(root, target, S_ISDIR(st.st_mode), err);
		if (r < 0)
			return r;
		r = mount_bind(q->plan, &q->plan->binds[i], from, to, writable, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int mounts_leave(struct fh_error *err)
{
	if (umount2(GUEST_RUN_DIR, MNT_DETACH) < 0 || chdir("/") < 0)
		return error_set(err, errno, "leave the nursery's tree");
	return 0;
}

int mounts_build(const struct mounts_request *request, int *out_files, struct fh_error *err)
{
	uint32_t flags = request->plan->flags;
	auto_close int files = -1;
	int r;

	r = mount_root(request->plan, err);
	if (r < 0)
		return r;
	r = mount_files(request, err);
	if (r < 0)
		return r;
	r = mount_own(request, err);
	if (r < 0)
		return r;
	r = mount_binds(request, err);
	if (r < 0)
		return r;
	r = flags & PLAN_NET_HOST && !(flags & PLAN_BARE) ? mount_names(err) : 0;
	if (r < 0)
		return r;
	files = open(TREE_FILES, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (files < 0)
		return error_set(err, errno, "open the episode's files");
	/*
	 * pivot_root() takes the kernel's lock of the folder where it puts the old root. Agents can
	 * hold the lock of a folder that sandboxes share, so use a folder of the episode's own.
	 */
	if (chdir(TREE_NEXT) < 0 || syscall(SYS_pivot_root, ".", TREE_NEXT GUEST_RUN_DIR) < 0)
		return error_set(err, errno, "pivot to the sandbox's root");
	*out_files = take_fd(&files);
	return 0;
}
