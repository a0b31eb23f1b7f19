/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_PROGRAM_H
#define GRADE_PROGRAM_H

#include "base/buf.h"
#include "base/error.h"
#include "base/waits.h"
#include "sandbox/sandbox.h"

/*
 * One program in a sandbox of its own, as graders and makers of data use it: the sandbox is started,
 * a file may be put into its workspace, the program runs, and what it prints is kept, capped. Nothing
 * here waits: the program is advanced whenever its waits come, until program_advance() says that it
 * is over; then nothing of its sandbox is left, whatever the program had started, unless keep_sandbox
 * is set.
 */
#define PROGRAM_FDS_MAX 8
#define PROGRAM_RESULT_BYTES 65536 /* most that a program may write as its result */
#define PROGRAM_LOG_BYTES 2000     /* the end of what it printed that is kept */

/* In program_plan.fds, instead of a descriptor. */
enum {
	PROGRAM_NOTHING = RUN_NOTHING,
	PROGRAM_LOG = RUN_STREAM_1, /* what people read: the last of it is kept */
	PROGRAM_RESULT =
			RUN_STREAM_2, /* what is parsed: over PROGRAM_RESULT_BYTES sets `truncated` */
};

/* Descriptors in it are taken over, whatever comes of it. What it points to must stay until the
 * program is over. */
struct program_plan {
	struct sandbox_options sandbox;
	struct run_request run;   /* but for its fds, which come from here: */
	int fds[PROGRAM_FDS_MAX]; /* become 0, 1, 2, ... */
	size_t n_fds;
	const char *put_path; /* this file of the workspace is written first; NULL: none */
	int put_fd;           /* its content, sealed; not taken over */
	bool keep_sandbox;    /* until program_release(), for what is to be fetched from it */
};

enum program_state {
	PROGRAM_STARTING, /* the sandbox */
	PROGRAM_PUTTING,  /* the file into it */
	PROGRAM_RUNNING,
	PROGRAM_DRAINING, /* it has ended; what it printed last is on its way */
	PROGRAM_ENDED,    /* `status` is its end */
	PROGRAM_BROKEN,   /* it could not be run to its end; `err` says why */
};

struct program {
	enum program_state state;
	int status;         /* as wait(2) gives it */
	bool out_of_memory; /* the kernel has ended a process of it for its memory limit */
	struct fh_error err;
	struct buf log;
	struct buf result;

	struct owner *owner;
	struct program_plan plan;
	int starts; /* of its sandbox, that failed */
	struct sandbox *sb;
	uint32_t id;      /* of the program */
	uint32_t request; /* of what the porter does */
};

/* On failure nothing is left to release. */
int program_start(struct program *p, struct owner *owner, const struct program_plan *plan,
		struct fh_error *err);
void program_waits(const struct program *p, struct waits *w);
bool program_advance(struct program *p); /* true: over */
bool program_over(const struct program *p);

/* Blocks until it is over. -ETIMEDOUT: it still runs, for program_release() to end. */
int program_wait(struct program *p, int64_t timeout_ms, struct fh_error *err);

/* For the fuzzer, which has a sandbox already: what its program prints is kept. */
void program_listen(struct program *p);

/* Ends it, if it runs. */
void program_release(struct program *p);

#endif
