/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_EXPORT_FILES_H
#define TRAJECTORY_EXPORT_FILES_H

#include "trajectory/export.h"

/* Finds records, and writes MLGym's files from a `struct exported`. */

/*
 * Finds the record that `path` means: a .traj, or a run's folder. For a path of events.jsonl, *out
 * is the run's folder. For a folder without events, as MLGym writes it, *out is the .traj inside.
 * If there are several, the error lists them. *out is a heap string.
 */
int export_record(const char *path, char **out, struct fh_error *err);

/* Reads a record, a .traj or a run's folder. From a folder it reads the events, also of a killed
 * run. */
int export_traj(const char *path, struct traj **out, struct fh_error *err);

/* Writes the .traj and results.json into the run's folder `dir`. Each file is replaced as a
 * whole or stays as it was. */
int export_write(const char *dir, const struct exported *e, struct fh_error *err);

/* Reads the events in the run's folder `dir`, then writes MLGym's files there. */
int export_run(const char *dir, struct fh_error *err);

#endif
