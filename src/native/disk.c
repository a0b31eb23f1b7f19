/* SPDX-License-Identifier: Apache-2.0 */
#include "native/disk.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/places.h"
#include "base/process.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dqblk_xfs.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/quota.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Episodes' files on the disk (limits.disk_on: disk). Each episode has a folder in its owner's
 * folder, <state>/episodes/owner-NAME; NAME is the owner's process (base/process.h). If this
 * process may set project quotas, the episode's folder is a project with a limit. If not,
 * owner_warning() says so.
 */

#define DISK_EPISODES "episodes"
/* project id for quotas: this number xor the inode number of the episode's folder */
#define PROJECT_BASE 0x46480000U
#define BASIC_BLOCK 512 /* number of bytes in a unit of XFS' quota calls */

int disk_episodes_dir(char **out, struct fh_error *err)
{
	auto_free char *state = NULL;
	int r = places_state_dir(NULL, &state, err);

	if (r < 0)
		return r;
	*out = path_join(state, DISK_EPISODES);
	/*
	 * Mode 0711 of the folder that holds all episodes' folders: sandboxes reach theirs by a
	 * mount. Other users can't list the names in it.
	 */
	r = path_mkdirs(*out, 0711, err);
	if (r < 0)
		free(take_ptr(*out));
	return r;
}

/*
 * Makes an episode's folder a quota project, so that the kernel counts its files. Returns true if
 * they are counted, and the limit, if any, is set.
 */
static bool disk_limit_folder(const char *folder, const struct sandbox_limits *l)
{
	auto_close int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct fs_disk_quota quota = { .d_version = FS_DQUOT_VERSION,
		.d_flags = FS_PROJ_QUOTA,
		.d_fieldmask = FS_DQ_BHARD | FS_DQ_IHARD,
		.d_blk_hardlimit = (uint64_t)l->disk_bytes / BASIC_BLOCK,
		.d_ino_hardlimit = (uint64_t)l->disk_files };
	struct fsxattr attr;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	quota.d_id = PROJECT_BASE ^ (uint32_t)st.st_ino;
	if (syscall(SYS_quotactl_fd, fd, QCMD(Q_XSETQLIM, PRJQUOTA), quota.d_id, &quota) < 0)
		return false;
	if (ioctl(fd, FS_IOC_FSGETXATTR, &attr) < 0)
		return false;
	attr.fsx_projid = quota.d_id;
	attr.fsx_xflags |= FS_XFLAG_PROJINHERIT;
	return ioctl(fd, FS_IOC_FSSETXATTR, &attr) == 0;
}

static int disk_make_own_dir(struct native_owner *o, struct fh_error *err)
{
	auto_free char *episodes = NULL;
	auto_free char *prefix = NULL;
	auto_free char *dir = NULL;
	int r = disk_episodes_dir(&episodes, err);

	if (r < 0)
		return r;
	prefix = path_join(episodes, "owner");
	dir = process_own_name(prefix);
	if (mkdir(dir, 0711) < 0)
		return error_set(err, errno, "make '%s'", dir);
	o->disk_claim = process_claim(dir);
	if (o->disk_claim < 0)
		return error_set(err, -o->disk_claim, "lock '%s'", dir);
	o->disk_dir = take_ptr(dir);
	return 0;
}

static int disk_new_name(struct native_owner *o, char **out, struct fh_error *err)
{
	auto_unlock pthread_mutex_t *held = scope_lock(&o->lock);
	int r = o->disk_dir ? 0 : disk_make_own_dir(o, err);

	if (r < 0)
		return r;
	*out = xasprintf("%s/%u", o->disk_dir, o->disk_folders++);
	return 0;
}

int disk_folder_new(struct native_owner *o, const struct sandbox_limits *l, char **out,
		bool *out_counted, struct fh_error *err)
{
	auto_free char *folder = NULL;
	int r = disk_new_name(o, &folder, err);

	if (r < 0)
		return r;
	if (mkdir(folder, 0755) < 0)
		return error_set(err, errno, "make '%s'", folder);
	*out_counted = disk_limit_folder(folder, l);
	if (!*out_counted && (l->disk_bytes || l->disk_files))
		atomic_store(&o->disk_unlimited, true);
	*out = take_ptr(folder);
	return 0;
}

void disk_close(struct native_owner *o)
{
	if (o->disk_dir)
		/* this fails if files are left; a later process then removes the folder */
		rmdir(o->disk_dir);
	free(take_ptr(o->disk_dir));
	close_fd(&o->disk_claim);
}
