/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_MEMORY_H
#define ENV_MEMORY_H

#include "base/buf.h"
#include "base/waits.h"
#include "env/poller.h"
#include "sandbox/sandbox.h"
#include "task/task.h"

/*
 * Carries an agent's memory from episode to episode. A memory is a file in the agent's home, a JSON
 * object with MLGym's keys. An episode begins with the file at the task's memory_path, or with a
 * recorded file instead. When the episode ends, its new notes are added at memory_path. A thread
 * does slow work (base/job.h), so no function here blocks.
 */
struct memory {
	/* env/open.c sets the members down to `file` when the environment is opened. */
	struct poller *poller;
	const struct task *task;
	/* at the episode's end, new notes are added to the file at the task's memory_path */
	bool is_kept;
	/* file of a recorded memory to begin with; NULL: begin with the one at memory_path */
	const char *file;

	struct buf began; /* text of the memory that the episode began with, if has_began is true */
	bool has_began;
	struct job *job;         /* job that reads or keeps a memory; NULL: none runs */
	struct keeping *keeping; /* data of the job that saves the agent's memory; NULL: none */
	uint32_t id; /* id of the request to the sandbox that reads the agent's memory file */
};

void memory_init(struct memory *m);
void memory_release(struct memory *m); /* waits for the end of a running job */

/* Checks the memory at the task's memory_path, if the file exists. */
int memory_check_task(const struct task *task, struct fh_error *err);

/*
 * Returns the memory that the episode began with; NULL: none. Lives until the next memory_read().
 */
const struct buf *memory_began(const struct memory *m);

/*
 * Reads the agent's memory that an episode begins with. 0: done. 1: a job checks it; call
 * memory_read_advance() until it returns another value.
 */
int memory_read(struct memory *m, struct fh_error *err);
int memory_read_advance(struct memory *m, struct fh_error *err);
bool memory_is_busy(const struct memory *m); /* true: a job reads or saves it */

/* Begins to save the agent's memory of an episode that is about to end. Call memory_keep_advance()
 * then. */
int memory_keep_begin(struct memory *m, struct sandbox *sb, struct fh_error *err);
/* Goes on with saving the agent's memory. 1: call it again later; 0: the memory is saved. */
int memory_keep_advance(struct memory *m, struct sandbox *sb, struct fh_error *err);

/* Adds the descriptor and the deadline of the running job, or, if none runs, of the sandbox'
 * answer. */
void memory_waits(const struct memory *m, const struct sandbox *sb, struct waits *w);

#endif
