/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"
#include "base/scope.h"
#include "guest/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Mounts paths of the host in the mount tree of the nursery, the process that makes sandboxes. Each
 * is at TREE_BINDS/<slot>. A sandbox, which is a clone of the nursery, can then bind them. The
 * mount comes from the host's mount namespace as a detached mount, and stays for later sandboxes. A
 * new path takes the slot that was used longest ago. Sandboxes that have the slot's old mount keep
 * it. There are more slots than one sandbox can use.
 */

#define SLOTS (4 * GUEST_BINDS_MAX)

struct bind_slot {
	char *source; /* path of the host that is mounted in this slot; NULL: the slot is free */
	enum bind_use use;
	dev_t dev;
	ino_t ino;
	/* time of the slot's last use, as a value of the counter binds.uses: the lowest is the
	 * oldest */
	uint64_t used;
};

struct binds {
	struct bind_slot slots[SLOTS];
	uint64_t uses;
};

struct binds *binds_new(void)
{
	return xcalloc(1, sizeof(struct binds));
}

int tree_enter(int ns, struct fh_error *err)
{
	return setns(ns, CLONE_NEWNS) < 0 ? error_set(err, errno, "enter a mount namespace") : 0;
}

static int binds_find(
		const struct binds *b, const char *source, enum bind_use use, const struct stat *st)
{
	for (int i = 0; i < SLOTS; i++) {
		const struct bind_slot *s = &b->slots[i];

		if (s->source && strcmp(s->source, source) == 0 && s->use == use &&
				s->dev == st->st_dev && s->ino == st->st_ino)
			return i;
	}
	return -1;
}

static void binds_clear(struct bind_slot *s, const char *path)
{
	umount2(path, MNT_DETACH);
	if (rmdir(path) < 0)
		unlink(path);
	free(s->source);
	*s = (struct bind_slot){ 0 };
}

static int binds_fill(struct binds *b, int tree, const char *source, enum bind_use use,
		const struct stat *st, struct fh_error *err)
{
	struct bind_slot *s;
	char path[64];
	int r, i = 0;

	for (int k = 1; k < SLOTS; k++)
		if (b->slots[k].used < b->slots[i].used)
			i = k;
	s = &b->slots[i];
	snprintf(path, sizeof(path), TREE_BINDS "/%d", i);
	if (s->source)
		binds_clear(s, path);
	if ((S_ISDIR(st->st_mode) ? mkdir(path, 0755) : mknod(path, S_IFREG | 0644, 0)) < 0)
		return error_set(err, errno, "make '%s'", path);
	if (syscall(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0) {
		r = error_set(err, errno, "mount the bind of '%s'", source);
		binds_clear(s, path);
		return r;
	}
	*s = (struct bind_slot){
		.source = xstrdup(source), .use = use, .dev = st->st_dev, .ino = st->st_ino
	};
	return i;
}

/*
 * Opens a path of the host, so that sandboxes can bind it. If a slot has the path already, returns
 * the slot's index. If not, returns -ENOENT, and *out_tree is a detached mount of the path.
 */
static int binds_look_up(struct binds *b, const char *source, enum bind_use use,
		struct stat *out_st, int *out_tree, struct fh_error *err)
{
	int slot;

	if (stat(source, out_st) < 0)
		return error_set(err, errno, "bind '%s'", source);
	if (use == BIND_EPISODE && chown(source, NURSERY_ID(0), NURSERY_ID(0)) < 0)
		return error_set(err, errno, "give '%s' to the sandbox", source);
	slot = binds_find(b, source, use, out_st);
	if (slot >= 0)
		return slot;
	*out_tree = rootfs_open_tree(source, use, err);
	return *out_tree < 0 ? *out_tree : -ENOENT;
}

int binds_slot(struct binds *b, const struct trees *trees, const char *source, enum bind_use use,
		struct fh_error *err)
{
	auto_close int tree = -1;
	struct stat st;
	int slot = tree_enter(trees->host, err);

	if (slot < 0)
		return slot;
	slot = binds_look_up(b, source, use, &st, &tree, err);
	if (tree_enter(trees->own, NULL) < 0)
		_exit(1);
	if (tree >= 0)
		slot = binds_fill(b, tree, source, use, &st, err);
	if (slot < 0)
		return slot;
	b->slots[slot].used = ++b->uses;
	return slot;
}

void binds_drop(struct binds *b, const char *source)
{
	for (int i = 0; i < SLOTS; i++) {
		struct bind_slot *s = &b->slots[i];
		char path[64];

		snprintf(path, sizeof(path), TREE_BINDS "/%d", i);
		if (s->source && strcmp(s->source, source) == 0)
			binds_clear(s, path);
	}
}

void binds_forget(struct binds *b)
{
	for (int i = 0; i < SLOTS; i++)
		if (b->slots[i].source)
			explicit_bzero(b->slots[i].source, strlen(b->slots[i].source));
}
