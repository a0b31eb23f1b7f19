/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_FLOORS_H
#define BENCH_FLOORS_H

#include "bench/figure.h"

#include <sys/types.h>

/* Starts the program at the path argv[0]. *out_fd is a pipe with its standard output. The pipe is
 * open even if the program can't be started. */
int floor_spawn(const char *const *argv, int *out_fd, pid_t *out_pid, struct fh_error *err);

/* Runs the program `name`, with which Fumehood is compared, from the folder places.floors. Adds the
 * n samples that it prints. NULL ends `args`, which may be NULL. */
int floor_run(const char *name, int n, const char *const *args, struct samples *out,
		struct fh_error *err);

#endif
