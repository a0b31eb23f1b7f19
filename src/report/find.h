/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_FIND_H
#define REPORT_FIND_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* A record beneath a folder, with what tells whether it has changed. */
struct found_record {
	const char *path;
	/* text of the times and sizes of the record and of the results.json beside it */
	const char *stamp;
};

struct found_records {
	struct found_record *items; /* sorted by path */
	size_t n;
};

/* True for the name <task>_pi<N>_*.json, a record of an episode of a policy. */
bool found_is_policy(const char *name);

#define FOUND_RECORDS_MAX 1000000
#define FOUND_DEPTH_MAX 16

/*
 * Finds all records beneath `dir`. A folder with an events.jsonl is one record. Else each .traj and
 * each <task>_pi<N>_*.json in it is one, or else its results.json. Links are not followed.
 * Each stamp ends with the text `salt`.
 */
int found_records_read(struct arena *a, const char *dir, const char *salt,
		struct found_records *out, struct fh_error *err);

#endif
