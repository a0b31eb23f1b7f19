/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_PROGRAM_H
#define GRADE_PROGRAM_H

#include "base/buf.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/waits.h"
#include "sandbox/sandbox.h"

/*
 * A program in a sandbox of its own, for graders and for generated data sets. A file may be put
 * into the sandbox' workspace first. The program's output is kept up to a cap.
 *
 * No function blocks except program_wait(). Call program_advance() whenever a descriptor or
 * deadline of program_waits() is ready, until it returns true. Then the sandbox is closed, and all
 * processes that the program left are dead, unless keep_sandbox is set.
 */

#define PROGRAM_STREAMS_MAX 10
#define PROGRAM_RESULT_BYTES 65536 /* most bytes of a program's result */
/* bytes at the end of a log that are kept, at least; at most twice as many */
#define PROGRAM_LOG_BYTES 2000

/* Values for program_plan.streams, which has descriptors otherwise. */
enum {
	PROGRAM_NOTHING = STREAM_NOTHING,
	PROGRAM_LOG = STREAM_PIPE_1,    /* output for people, whose last bytes are kept */
	PROGRAM_RESULT = STREAM_PIPE_2, /* output to parse, cut at PROGRAM_RESULT_BYTES */
};

/* A program to start. program_start() takes over the descriptors in `streams`, even if it fails.
 * All pointers must stay valid until the program has ended or is broken. */
struct program_plan {
	struct sandbox_options sandbox;
	/* path outside of the sandbox to a static program to run instead of argv[0]; NULL: none */
	const char *program;
	const char *const *argv;
	const char *const *env;
	const char *cwd; /* working folder of the program in the sandbox; NULL: the workspace */
	/* Files behind the program's descriptors 0, 1, 2, ...: sealed files, ends of pipes, or
	 * PROGRAM_LOG, ... */
	int streams[PROGRAM_STREAMS_MAX];
	size_t n_streams;
	/* path of a file to write into the sandbox' workspace before the program starts; NULL:
	 * none */
	const char *put_path;
	/* descriptor of a sealed file with the content for put_path; the caller closes it */
	int put_fd;
	/* Program at the other end of this program's pipes, which starts first; NULL: none. A
	 * running program can hold the kernel's lock of a pipe. Then close() of this process' end
	 * of the pipe would wait. */
	const struct program *peer;
	/* Program that must have ended, and whose sandbox must be closed, before this one starts;
	 * NULL: none. */
	const struct program *after;
	/* keep the sandbox open until program_release(), so that the caller can fetch files from
	 * it */
	bool keep_sandbox;
	/* once the program has ended, drop the file pages that it has read from memory:
	 * sandbox_close_traceless() */
	bool traceless;
	struct cancel *cancel; /* request that ends program_wait(); NULL: none */
};

enum program_state {
	PROGRAM_STARTING, /* the program's sandbox is starting */
	PROGRAM_PUTTING,  /* the file put_path is being written into the sandbox */
	/* the program is set up, but waits for its peer or for plan.after, other programs */
	PROGRAM_HELD,
	PROGRAM_RUNNING,
	PROGRAM_DRAINING, /* the program has ended; its last output is being read */
	PROGRAM_ENDED,    /* the program has ended, and `status` is its exit status */
	/* the program could not be run to its end; `err` has the reason */
	PROGRAM_BROKEN,
};

struct program {
	enum program_state state;
	int status; /* exit status of the program, in the form of wait(2) */
	/* CPU nanoseconds that the sandbox had used when it was closed; see program_cpu_ns() */
	int64_t cpu_ns;
	bool out_of_memory; /* the kernel killed a process of the sandbox at the memory limit */
	struct fh_error err;
	struct buf log;
	struct buf result;

	struct owner *owner;
	struct program_plan plan;
	int starts; /* number of failed starts of the sandbox */
	struct sandbox *sb;
	struct job *forgetting; /* drops the program's file pages; NULL: none, or done */
	uint32_t id;            /* id of the running program, from sandbox_run() */
	/* id of the copy or drain under way, from sandbox_put_begin() or sandbox_drain_begin() */
	uint32_t request;
};

/* Starts a program in a sandbox. If that fails, there is nothing to release. */
int program_start(struct program *p, struct owner *owner, const struct program_plan *plan,
		struct fh_error *err);
void program_waits(const struct program *p, struct waits *w);
/* Returns true when the program has ended or is broken. With plan.traceless its file pages are
 * dropped by then. */
bool program_advance(struct program *p);

/* Returns the CPU nanoseconds of all processes in the program's sandbox so far; -1 if this machine
 * can't tell. */
int64_t program_cpu_ns(const struct program *p);

/* Waits, blocking, until the program has ended or is broken. -ETIMEDOUT, or -ECANCELED by
 * plan.cancel: the program still runs; end it with program_release(). */
int program_wait(struct program *p, int64_t timeout_ms, struct fh_error *err);

/* Collects the output of a program in a sandbox that is open already. Only the fuzzer uses it. */
void program_listen(struct program *p);

/* Ends the program if it still runs. It is over once program_advance() returns true. */
void program_stop(struct program *p);

/* Ends the program if it still runs, and frees its buffers. Waits until its file pages are dropped.
 */
void program_release(struct program *p);

#endif
