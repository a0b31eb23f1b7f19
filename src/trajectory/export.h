/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_EXPORT_H
#define TRAJECTORY_EXPORT_H

#include "base/error.h"
#include "trajectory/traj.h"

/* Makes MLGym's files from the events of a run, which may have been killed. */

#define EXPORT_EVENTS "events.jsonl"
#define EXPORT_RESULTS "results.json"
#define EXPORT_EVENTS_BYTES_MAX (1024L * 1024 * 1024)

/* "<task>.traj", "<task>-<variant>.traj" for a task with a variant. Heap. */
char *export_traj_name(const char *task, const char *variant);

/* A run as its events tell it. */
struct exported {
	struct traj *traj;
	const struct pyjson *baseline;     /* these live as long as traj */
	const struct pyjson *open, *reset; /* events; reset may be NULL */
	const struct pyjson *const *told;  /* events: the reset, then the steps */
	size_t n_told;
	size_t n_messages; /* messages in traj->history; 0: it was made from the steps */
	size_t n_played;   /* steps that were played whole; see export.c */
	bool over;         /* it ended in order: not killed, stopped or broken */
	char *traj_name;   /* heap */
};

/* Reads <dir>/events.jsonl, without a last line that was cut. -EINVAL with "<path>:<line>:<column>:
 * <why>" if it is no event log. */
int export_read(const char *dir, struct exported *out, struct fh_error *err);

/* The same from memory; `name` is for errors. */
int export_parse(const char *name, const char *data, size_t n, struct exported *out,
		struct fh_error *err);

/*
 * Finds the record that a path names: a .traj, or the folder of a run. events.jsonl names its
 * folder. A folder without events, as MLGym writes them, names its .traj. If there are several, the
 * error names them. Heap.
 */
int export_record(const char *path, char **out, struct fh_error *err);

/* Reads the record at a path. In the folder of a run it reads the events, even of a killed run. */
int export_traj(const char *path, struct traj **out, struct fh_error *err);
void export_release(struct exported *e);

/* Writes the .traj and results.json beside the events, each whole or not at all. */
int export_write(const char *dir, const struct exported *e, struct fh_error *err);

/* Reads the events, and writes the files. */
int export_run(const char *dir, struct fh_error *err);

#endif
