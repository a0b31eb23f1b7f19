/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_TREE_H
#define GUEST_TREE_H

#include "guest/guest.h"

#include <sys/types.h>

/* The nursery's own mount tree. A sandbox does not see it after pivot_root. */
#define TREE_ROOT "/root"     /* the root that sandboxes share */
#define TREE_LAYERS "/layers" /* a folder per layer */
#define TREE_BINDS "/binds"   /* a mount per bound path */
#define TREE_NAMES "/names"   /* files of /etc for sandboxes with the host's network */
#define TREE_NEXT "/next"     /* a sandbox builds its root here */
#define TREE_FILES "/files"   /* a sandbox mounts its own file system here */

/* The nursery's mount namespaces. */
struct trees {
	int host, own;
};

enum bind_use {
	BIND_READ_ONLY,
	BIND_DEVICE,  /* read-only; devices in it can be opened */
	BIND_EPISODE, /* writable; its owner becomes the sandbox' root */
};

int tree_enter(int ns, struct fh_error *err);

/*
 * In rootfs.c: makes the tree in a fresh mount namespace and makes it the root. *out_can:
 * NURSERY_CAN_*.
 */
int rootfs_build(const struct hello *hello, uint8_t *out_can, struct fh_error *err);
/* Returns a descriptor of a copy of the mounts at `source` in this mount namespace. */
int rootfs_open_tree(const char *source, enum bind_use use, struct fh_error *err);

/*
 * In binds.c: binds_slot() returns the slot in TREE_BINDS at which a path of the host is mounted.
 * The process is in trees->own before and after the call.
 */
struct binds *binds_new(void);
int binds_slot(struct binds *b, const struct trees *trees, const char *source, enum bind_use use,
		struct fh_error *err);
/* Frees the slot of a path that is not used again. */
void binds_drop(struct binds *b, const char *source);
/* Wipes the paths from memory; call it in a sandbox. */
void binds_forget(struct binds *b);

/* In removals.c: removes folders of ended episodes. */
struct removals *removals_new(void);
void removals_add(struct removals *r, const char *path);
/*
 * Starts a worker if there are folders to remove and none runs. Returns the number of children that
 * it started.
 */
int removals_turn(struct removals *r, const struct trees *trees);
void removals_reaped(struct removals *r, pid_t pid, int status);
bool removals_left(const struct removals *r);
void removals_forget(struct removals *r); /* wipes the paths from memory; call it in a sandbox */

/* In layer.c: copies a layer into the folder `to`. Source paths are those of the current root. */
int layer_copy(int to, const struct layer *layer, struct fh_error *err);
/*
 * Copies the tree beneath `from` into `to` and keeps ids, for kernels without an overlay on a
 * tmpfs.
 */
int layer_clone(int from, int to, struct fh_error *err);

#endif
