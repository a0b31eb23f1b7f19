/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NATIVE_IDMAP_H
#define NATIVE_IDMAP_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Maps the ids of a nursery's new user namespace. Id 0 inside is the user of this process. Ids 1
 * and up are ids that belong to no user (subordinate ids; see subuid(5), user_namespaces(7)). Root
 * writes the map directly, another user calls newuidmap and newgidmap (package uidmap).
 */
int idmap_apply(pid_t pid, struct fh_error *err);

/* Checks whether idmap_apply() can work on this machine. The error says which part is missing. */
int idmap_check(struct fh_error *err);

/* Writes the name of this process' user. Returns false if the user has no name, or `out` is too
 * small. */
bool idmap_user_name(char *out, size_t size);

/*
 * Finds a range of subordinate ids that could be given to a user without one. No line of
 * /etc/subuid and /etc/subgid overlaps it, and no user or group has an id in it. False if there is
 * none. Not thread-safe: it walks the users' database.
 */
bool idmap_free_range(uid_t uid, int64_t *out_first, int64_t *out_last);

#endif
