/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_MOUNTS_H
#define GUEST_MOUNTS_H

#include "guest/guest.h"

struct mounts_request {
	const struct plan *plan;
	const int *bind_numbers; /* bind i lies in TREE_BINDS/<bind_numbers[i]> */
	int disk_number;         /* slot of the folder for the episode's files; -1: a tmpfs */
	uint8_t can;
};

/*
 * In the clone that becomes PID 1. *out_files: an O_PATH descriptor of the episode's file system.
 * The nursery's tree lies over the new root until mounts_leave(), which takes as long as starting a
 * shell. No code of an agent runs before it.
 */
int mounts_build(const struct mounts_request *request, int *out_files, struct fh_error *err);
int mounts_leave(struct fh_error *err);

/* network.c: moves the process into a fresh network namespace with a loopback device. */
int network_make(struct fh_error *err);

#endif
