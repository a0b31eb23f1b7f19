/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ATTACH_ATTACH_H
#define ATTACH_ATTACH_H

#include "sandbox/sandbox.h"

/*
 * Runs a program in a sandbox as if this process had become it. Relays our terminal and pipes to
 * the program, and passes files and signals on to it.
 */

struct attach_request {
	const char *const *argv; /* words of the program's command line, NULL-terminated */
	const char *const *env;  /* variables "K=V" to add; a terminal gets TERM too */
	size_t n_env;
	const char *cwd;
	double timeout_s; /* seconds until the program is ended; 0: no timeout */
};

struct attach_end {
	int status; /* exit status of the program, 128+N after signal N, or 124 after the timeout */
	bool timed_out;
};

/*
 * Runs the program and waits for its end. Blocks SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH and
 * SIGPIPE in the calling thread, which must be the process' only one. The signals stay blocked. An
 * error: the program could not be started.
 */
int attach_run(struct sandbox *sb, const struct attach_request *wanted, struct attach_end *out_end,
		struct fh_error *err);

#endif
