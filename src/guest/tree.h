/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_TREE_H
#define GUEST_TREE_H

#include "guest/guest.h"

#include <sys/types.h>

/* Folders of the nursery's own mount tree. A sandbox does not see them after pivot_root. */
#define TREE_ROOT "/root"     /* folder with the root directory that all sandboxes share */
#define TREE_LAYERS "/layers" /* folder with a subfolder for each layer of starting files */
/* folder with a mount for each path of the host that sandboxes may bind */
#define TREE_BINDS "/binds"
/* folder with copies of files of the host's /etc, for sandboxes with the host's network */
#define TREE_NAMES "/names"
#define TREE_NEXT "/next" /* a sandbox' root is built here before the sandbox enters it */
/* here a sandbox mounts the file system of the files that it writes */
#define TREE_FILES "/files"

/*
 * Descriptors of the nursery's two mount namespaces: a copy of the host's, and its own minimal
 * tree.
 */
struct trees {
	int host, own;
};

enum bind_use {
	BIND_READ_ONLY,
	BIND_DEVICE, /* the bind is a device: read-only, but programs can open the device */
	/* the bind is a folder for an episode's files: writable, and owned by the sandbox' root
	 * user */
	BIND_EPISODE,
};

int tree_enter(int ns, struct fh_error *err);

/*
 * In rootfs.c: makes the nursery's mount tree in a new mount namespace, and makes it the root
 * directory. *out_can: bits NURSERY_CAN_* of what the machine supports.
 */
int rootfs_build(const struct hello *hello, uint8_t *out_can, struct fh_error *err);
/* Returns a descriptor of a detached copy of the mounts at `source` in this mount namespace. */
int rootfs_open_tree(const char *source, enum bind_use use, struct fh_error *err);

/*
 * In binds.c: binds_slot() mounts a path of the host at TREE_BINDS/<slot> and returns the slot. The
 * process is in the mount namespace trees->own before and after the call.
 */
struct binds *binds_new(void);
int binds_slot(struct binds *b, const struct trees *trees, const char *source, enum bind_use use,
		struct fh_error *err);
/* Unmounts a path of the host and frees its slot. Call it for a path that is not used again. */
void binds_drop(struct binds *b, const char *source);
/* Wipes the list of host paths from memory. Call it in a sandbox, which must not see them. */
void binds_forget(struct binds *b);

/* In removals.c: removes folders of ended episodes. */
struct removals *removals_new(void);
void removals_add(struct removals *r, const char *path);
/*
 * Starts a child process that removes the listed folders. Does nothing if the list is empty or such
 * a child runs. Returns the number of children that it started.
 */
int removals_turn(struct removals *r, const struct trees *trees);
void removals_reaped(struct removals *r, pid_t pid, int status);
/* Removes a folder with all that is in it, in this process. */
int removals_remove(const char *path);
bool removals_left(const struct removals *r);
/* wipes the list of folders to remove from memory; call it in a sandbox, which must not see them */
void removals_forget(struct removals *r);

/*
 * In layer.c: copies a layer's files into the folder `to`. Source paths start at this process' root
 * directory.
 */
int layer_copy(int to, const struct layer *layer, struct fh_error *err);
/*
 * Copies all files beneath `from` into `to` with their owners. It replaces an overlay if the kernel
 * has none on a tmpfs.
 */
int layer_clone(int from, int to, struct fh_error *err);

#endif
