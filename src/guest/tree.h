/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_TREE_H
#define GUEST_TREE_H

#include "guest/guest.h"

#include <sys/types.h>

/* The nursery's own mount tree. No sandbox sees it once it has pivoted. */
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
	BIND_DEVICE,  /* read-only; its devices can be opened */
	BIND_EPISODE, /* writable; its owner becomes the sandbox' root */
};

int tree_enter(int ns, struct fh_error *err);

/* rootfs.c: in a fresh mount namespace; makes the tree and becomes its root. *out_can:
 * NURSERY_CAN_*. */
int rootfs_build(const struct hello *hello, uint8_t *out_can, struct fh_error *err);
/* A descriptor of a copy of the mounts at `source`, in this mount namespace. */
int rootfs_open_tree(const char *source, enum bind_use use, struct fh_error *err);

/* binds.c: the slot in TREE_BINDS where a path of the host is mounted. The process is in
 * trees->own before and after. */
struct binds *binds_new(void);
int binds_slot(struct binds *b, const struct trees *trees, const char *source, enum bind_use use,
		struct fh_error *err);
void binds_drop(struct binds *b, const char *source); /* nobody will ask for it again */
void binds_forget(struct binds *b);                   /* in a sandbox: wipes names */

/* removals.c */
struct removals *removals_new(void);
void removals_add(struct removals *r, const char *path);
/* Starts a worker if there is something to do and none runs: how many children began. */
int removals_turn(struct removals *r, const struct trees *trees);
void removals_reaped(struct removals *r, pid_t pid, int status);
bool removals_left(const struct removals *r);
void removals_forget(struct removals *r); /* in a sandbox: wipes names */

/* layer.c: copies into the folder `to`; source paths are of the current root. */
int layer_copy(int to, const struct layer *layer, struct fh_error *err);
/* Copies the tree beneath `from` into `to` and keeps ids: for kernels without an overlay. */
int layer_clone(int from, int to, struct fh_error *err);

#endif
