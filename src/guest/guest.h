/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef GUEST_GUEST_H
#define GUEST_GUEST_H

#include "base/error.h"
#include "proto/guest.h"

#include <sys/types.h>

/*
 * The guest's side of proto/guest.h. Processes become others by clone or fork: nothing is exec'd
 * between the nursery and a shell. All of them are single-threaded.
 *
 *   nursery.c   the owner's helper: one user namespace, one minimal mount tree; clones sandboxes
 *   birth.c     makes one sandbox: the clone that becomes its PID 1
 *   cradle.c    processes that wait in a sandbox' control groups, with a network for it
 *   ends.c      ends sandboxes whose PID 1 can't
 *   rootfs.c    builds the tree once: the root that all sandboxes share
 *   layer.c     copies starting files into it
 *   binds.c     brings paths of the host into it
 *   removals.c  removes the folders of ended episodes
 *   mounts.c    a sandbox' own mounts, in its clone
 *   network.c   its network namespace
 *   init.c      its PID 1: the control socket, ends of processes, the end of the owner
 *   children.c  how PID 1 makes its children
 *   porter.c    the child of PID 1 that touches what agents can block: output, files, requests
 *   requests.c  pipes for an agent's requests to the porter
 *   shell.c     a fork of PID 1 that becomes the shell
 *   program.c   a fork of PID 1 that becomes a program
 *   pack.c      packs a folder for another sandbox, in a fork of PID 1
 *   files.c     files in and out of a sandbox, by the porter
 *   confine.c   the rights that shell and programs lose before they run code of an agent
 *   glue.c      knows bash: the builtin and the shell's loop
 *   look.c      knows bash: variables and names that a shell shows
 *
 * Tests link all but glue.c and look.c, without bash.
 */

/* The user or group id outside of a sandbox, as the nursery sees it, for an id inside. */
#define NURSERY_ID(id) ((id) + 1)

/* Sends an error as a message on a socket. `kind` is NURSERY_FAILED or INIT_FAILED. */
int guest_fail(int socket, uint8_t kind, const struct fh_error *err);
/* Sends an error as a message on a socket, then ends the process. `kind` is NURSERY_FAILED or
 * INIT_FAILED. */
_Noreturn void guest_die(int socket, uint8_t kind, const struct fh_error *err);

/* Ends this process if `fine` is false. Call it with the result of parsing a message of the
 * owner. */
void guest_expect(bool fine);

/*
 * Clones this process by the system call clone3. The child sends no signal when it ends. The C
 * library's fork handlers don't run in the child.
 */
pid_t guest_clone(uint64_t flags);

/*
 * Closes all descriptors from 3 on except those in `keep`. Entries of `keep` that are -1 are
 * skipped.
 */
void guest_keep_fds(const int *keep, size_t n);

#endif
