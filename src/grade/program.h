/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_PROGRAM_H
#define GRADE_PROGRAM_H

#include "base/buf.h"
#include "base/error.h"
#include "base/waits.h"
#include "sandbox/sandbox.h"

/*
 * A program in a sandbox of its own, for graders and for data sets that are made. A file may be put
 * into the sandbox' workspace first. The program's output is kept up to a cap.
 *
 * Nothing here blocks: call program_advance() whenever its waits come, until it returns true. The
 * sandbox is closed by then, with all processes that the program left, unless keep_sandbox is set.
 */
#define PROGRAM_STREAMS_MAX 8
#define PROGRAM_RESULT_BYTES 65536 /* most that a program may write as its result */
#define PROGRAM_LOG_BYTES 2000     /* kept of the end of its log */

/* In program_plan.streams, instead of a descriptor. */
enum {
	PROGRAM_NOTHING = RUN_NOTHING,
	PROGRAM_LOG = RUN_STREAM_1,    /* output for people: its end is kept */
	PROGRAM_RESULT = RUN_STREAM_2, /* output to parse: cut at PROGRAM_RESULT_BYTES */
};

/* program_start() takes over the descriptors in `streams`, also when it fails. All pointers must
 * stay valid until the program is over. */
struct program_plan {
	struct sandbox_options sandbox;
	const char *program; /* path here of a static program, run instead of argv[0]; NULL: none */
	const char *const *argv;
	const char *const *env;
	const char *cwd; /* NULL: the workspace */
	/* The program's descriptors 0, 1, 2, ...: sealed bytes, ends of pipes, or PROGRAM_... */
	int streams[PROGRAM_STREAMS_MAX];
	size_t n_streams;
	const char *put_path; /* file of the workspace to write first; NULL: none */
	int put_fd;           /* sealed content of that file; stays the caller's */
	bool keep_sandbox;    /* until program_release(): the caller fetches files from it */
};

enum program_state {
	PROGRAM_STARTING, /* the sandbox starts */
	PROGRAM_PUTTING,  /* put_path is written */
	PROGRAM_RUNNING,
	PROGRAM_DRAINING, /* the program has ended; its last output is on its way */
	PROGRAM_ENDED,    /* `status` is its exit status */
	PROGRAM_BROKEN,   /* it could not be run to its end; `err` says why */
};

struct program {
	enum program_state state;
	int status;         /* as wait(2) gives it */
	bool out_of_memory; /* the kernel killed one of its processes at the memory limit */
	struct fh_error err;
	struct buf log;
	struct buf result;

	struct owner *owner;
	struct program_plan plan;
	int starts; /* failed starts of its sandbox */
	struct sandbox *sb;
	uint32_t id;      /* from sandbox_run() */
	uint32_t request; /* the porter's current work */
};

/* On failure nothing is left to release. */
int program_start(struct program *p, struct owner *owner, const struct program_plan *plan,
		struct fh_error *err);
void program_waits(const struct program *p, struct waits *w);
bool program_advance(struct program *p); /* true: over */
bool program_over(const struct program *p);

/* Blocks until it is over. -ETIMEDOUT: it still runs; program_release() ends it. */
int program_wait(struct program *p, int64_t timeout_ms, struct fh_error *err);

/* For the fuzzer, which has a sandbox already: keeps the output of its program. */
void program_listen(struct program *p);

/* Ends the program if it still runs. */
void program_release(struct program *p);

#endif
