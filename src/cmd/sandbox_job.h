/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_SANDBOX_JOB_H
#define CMD_SANDBOX_JOB_H

#include "sandbox/sandbox.h"

/* A program in a sandbox, with relays for our terminal and pipes. */
struct sandbox_job {
	const char *const *argv; /* words of the program's command line, NULL-terminated */
	const char *const *env;  /* variables "K=V" to add; a terminal gets TERM too */
	size_t n_env;
	const char *cwd;
	double timeout_s; /* seconds until the program is ended; 0: no timeout */
};

struct sandbox_job_end {
	int status; /* exit status of the program, 128+N after signal N, or 124 after the timeout */
	bool timed_out;
};

int sandbox_job_run(struct sandbox *sb, const struct sandbox_job *wanted,
		struct sandbox_job_end *out_end, struct fh_error *err);

#endif
