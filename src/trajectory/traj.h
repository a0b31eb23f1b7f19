/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_TRAJ_H
#define TRAJECTORY_TRAJ_H

#include "base/arena.h"
#include "python/pyjson.h"

#include <stdbool.h>
#include <stddef.h>

/* MLGym's record of a run, <task>.traj: its steps, messages and scores. */

struct traj_step {
	const struct pyjson
			/* agent's state, a string that holds JSON: {"open_file": ...,
			 * "working_dir": ...} */
			*state;
	const struct pyjson *response;
	const struct pyjson *thought;
	const struct pyjson *action;
	const struct pyjson *execution_time; /* time that the action took, in seconds */
	const struct pyjson *observation;
	double timeout_s; /* timeout that the action named; not written; 0: none, or not known */
};

/* A message to or from the model in a .traj. Members that are NULL are not written. */
struct traj_message {
	const struct pyjson *role; /* "system", "user" or "assistant" */
	const struct pyjson *content;
	/* set if the message's role is "assistant", else NULL */
	const struct pyjson *thought, *action;
	const struct pyjson *agent; /* name of the agent: "primary_<run>" */
	const struct pyjson *is_demo;
	bool by_person; /* a person took the step of this reply; not written */
	/* event of our record, which may have `tool_calls`, `tool_call_id` and `tools`; not
	 * written; NULL: a record of MLGym's */
	const struct pyjson *event;
};

struct traj_info {
	const struct pyjson *model_stats;
	const struct pyjson *exit_status;
	const struct pyjson *submission; /* path of the graded file, or null */
	const struct pyjson *score;      /* an array with an object for each grading */
	const struct pyjson *summarizer;
};

/* MLGym's record of a run, the file <task>.traj. A file that is read and written again has the
 * same bytes, because values are kept as JSON. A struct traj owns all values to which its
 * pointers lead. */
struct traj {
	const struct pyjson *environment;
	struct traj_step *steps;
	size_t n_steps;
	struct traj_message *history;
	size_t n_history;
	struct traj_info info;
	bool old_order; /* write `action` as a step's first member, as older versions of MLGym do */
	struct arena arena;
};

#define TRAJ_BYTES_MAX (512L * 1024 * 1024)

struct traj *traj_new(void);
void traj_free(struct traj *t); /* `t` may be NULL */

static inline void scope_traj(struct traj **t)
{
	traj_free(*t);
}

#define auto_traj __attribute__((cleanup(scope_traj)))

/* Reads a .traj. -EINVAL with "<path>:<line>:<column>: what was expected". */
int traj_read(const char *path, struct traj **out, struct fh_error *err);

/*
 * Parses n bytes of `data`, the text of a .traj, as traj_read() does. `name` stands for the file in
 * error messages.
 */
int traj_parse(const char *name, const char *data, size_t n, struct traj **out,
		struct fh_error *err);

/*
 * Reads the intact parts of a .traj that was cut or damaged. All members of a broken step are NULL.
 * So are those of `info` if it is missing or broken. Messages are not read: n_history is 0.
 */
void traj_salvage(const char *data, size_t n, struct traj **out);

/* Appends the text of a .traj. If it exceeds the cap of `out`, sets out->truncated. */
void traj_write(struct buf *out, const struct traj *t);

/* Members of results.json beside the scores of the run. Those that are NULL are left out. */
struct traj_results {
	const struct pyjson *baseline; /* scores of the baseline; not NULL */
	const struct pyjson *final, *policy_step, *numbers;
};

/* Appends the text of results.json. */
void traj_write_results(struct buf *out, const struct traj *t, const struct traj_results *results);

#endif
