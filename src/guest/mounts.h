/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_MOUNTS_H
#define GUEST_MOUNTS_H

#include "guest/guest.h"

struct mounts_request {
	const struct plan *plan;
	const int *bind_numbers; /* bind i is mounted at TREE_BINDS/<bind_numbers[i]> */
	/* Slot in TREE_BINDS of the folder for the episode's files; -1: use a tmpfs. */
	int disk_number;
	uint8_t can;
};

/*
 * Reads the names in the root that sandboxes share. Call it in the nursery before there is an
 * agent. An agent can hold the lock of that folder, and a birth would wait for it.
 */
int mounts_note_parts(struct fh_error *err);

/*
 * Makes a sandbox' mounts, in the clone that becomes PID 1. *out_files: an O_PATH descriptor of the
 * episode's file system. The nursery's tree lies over GUEST_RUN_DIR until mounts_leave() removes
 * it, which takes as long as starting a shell. No code of an agent may run before.
 */
int mounts_build(const struct mounts_request *request, int *out_files, struct fh_error *err);
int mounts_leave(struct fh_error *err);

/* In network.c. Moves the process into a fresh network namespace with a loopback device. */
int network_make(struct fh_error *err);

#endif
