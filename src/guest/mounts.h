/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_MOUNTS_H
#define GUEST_MOUNTS_H

#include "guest/guest.h"

/* Mounts and network of a sandbox, made in the clone that becomes its PID 1. */

struct mounts_request {
	const struct plan *plan;
	/* bind i of the sandbox' plan is mounted at TREE_BINDS/<bind_numbers[i]> */
	const int *bind_numbers;
	/* Number of the mount TREE_BINDS/<number> of the disk folder for the episode's files; -1:
	 * they are in a tmpfs. */
	int disk_number;
	uint8_t can;
};

/*
 * Reads the names of the entries in the root that all sandboxes share. Call it in the nursery
 * before there is an agent. Later an agent can hold the kernel's lock of that folder, and making a
 * sandbox would wait for it.
 */
int mounts_note_parts(struct fh_error *err);

/*
 * Makes a sandbox' mounts, in the clone that becomes PID 1. *out_files: an O_PATH descriptor of the
 * episode's file system. The nursery's mount tree can be seen at GUEST_RUN_DIR until mounts_leave()
 * removes it. Removing takes as long as starting a shell. No code of an agent may run before that.
 */
int mounts_build(const struct mounts_request *request, int *out_files, struct fh_error *err);
int mounts_leave(struct fh_error *err);

/*
 * In network.c. Moves the process into a new network namespace, which has only a loopback device.
 */
int network_make(struct fh_error *err);
/*
 * In network.c. Keeps a process in the machine's network, and its children, from abstract unix
 * sockets outside the sandbox. Does nothing if the kernel can't.
 */
int network_share(struct fh_error *err);

#endif
