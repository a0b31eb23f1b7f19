/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_IDMAP_H
#define SANDBOX_IDMAP_H

#include "base/error.h"

#include <sys/types.h>

/*
 * Maps the ids of a nursery's new user namespace: its 0 is the owner, its 1 and up are ids that
 * belong to nobody else (subordinate ids; see subuid(5), user_namespaces(7)). As root the map is
 * written directly, else by newuidmap and newgidmap (package uidmap).
 */
int idmap_apply(pid_t pid, struct fh_error *err);

/* Whether idmap_apply can work here; the error says what is missing and how to get it. */
int idmap_check(struct fh_error *err);

#endif
