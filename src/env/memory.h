/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_MEMORY_H
#define ENV_MEMORY_H

#include "base/buf.h"
#include "base/waits.h"
#include "env/poller.h"
#include "sandbox/sandbox.h"
#include "task/task.h"

/*
 * Carries an agent's memory from episode to episode: a file in its home, a JSON object with MLGym's
 * keys. An episode begins with the file at the task's memory_path, or with a recorded file instead.
 * When it ends, its new notes are added at memory_path. Slow work is done by a thread (base/job.h),
 * so nothing here blocks.
 */
struct memory {
	/* set by whoever opens the environment */
	struct poller *poller;
	const struct task *task;
	bool is_kept;     /* at the task's memory_path */
	const char *file; /* recorded, to begin with instead; NULL: memory_path */

	struct buf began; /* the episode's memory as it began */
	bool has_began;
	struct job *job;         /* reads or keeps a memory; NULL: none */
	struct keeping *keeping; /* the job's data; NULL */
	uint32_t id;             /* request to the porter */
};

void memory_init(struct memory *m);
void memory_release(struct memory *m); /* waits for a job */

/* Checks the memory that the task keeps, if there is one. */
int memory_check_task(const struct task *task, struct fh_error *err);

/* The memory that the episode began with; NULL: none. Lives until the next memory_read(). */
const struct buf *memory_began(const struct memory *m);

/* Reads the memory to begin with. 0: done; 1: a job checks it, and memory_read_advance() tells its
 * end. */
int memory_read(struct memory *m, struct fh_error *err);
int memory_read_advance(struct memory *m, struct fh_error *err);
bool memory_is_busy(const struct memory *m); /* a job runs */

/* Begins to keep the memory of an episode that is about to end; memory_keep_advance() goes on. */
int memory_keep_begin(struct memory *m, struct sandbox *sb, struct fh_error *err);
int memory_keep_advance(
		struct memory *m, struct sandbox *sb, struct fh_error *err); /* 1: it goes on */

/* Waits for the job, or for the porter's answer. */
void memory_waits(const struct memory *m, const struct sandbox *sb, struct waits *w);

#endif
