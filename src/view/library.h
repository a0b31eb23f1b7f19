/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_LIBRARY_H
#define VIEW_LIBRARY_H

#include "base/str.h"
#include "report/index.h"
#include "report/scan.h"
#include "view/rebuild.h"
#include "view/record.h"

/* The recorded runs that the viewer shows. */

#define LIBRARY_ID_BYTES 17

/* Writes the id of the run whose record has this path. */
void library_id(const char *path, char out[LIBRARY_ID_BYTES]);

/* A run that can be viewed. */
struct library_run {
	char id[LIBRARY_ID_BYTES]; /* hash of the path, which addresses have */
	char *path, *name;
	int64_t size, mtime_ns;
	size_t place; /* index of its place in `places` */
	bool seen;
	char *going; /* running_step.sentence; NULL: the run has ended, or is not indexed */
	const struct run_row *row; /* row of the run in the index; NULL: none */
	char *shown;               /* row that the page was told; NULL: none yet */
	int64_t changed;           /* version of the list in which the row changed last */
	struct record *record;     /* NULL: not opened yet */
	uint64_t round;            /* the library's round in which the record was read on */
	int64_t kept_bytes;        /* bytes of the record whose steps the index keeps */
	struct rebuild *rebuilt;   /* files of the run; NULL: not asked for yet */
	int64_t used_ns;           /* when the record was used last */
};

/* The row of a place that is a single record, which has no index. */
struct library_single {
	struct run_row row;
	struct arena arena;
	struct scan_tasks tasks;
	/* size and time of the record when the row was made; 0: there is none yet */
	int64_t size, mtime_ns;
};

/*
 * The recorded runs beneath some folders. Clients name a run by its id alone, so that no request
 * leads to another file.
 */
struct library {
	const struct texts *places;
	int stop_fd; /* when readable, a long reading of the folders ends early; -1: never */
	struct library_run *runs; /* sorted by path */
	size_t n;
	/* an index for each place that is a folder and can have one; else NULL */
	struct run_index **indexes;
	struct library_single *singles; /* row of each place that is one record, by place */
	struct arena arena;             /* memory of the index's rows */
	int64_t next_ns;                /* when the folders are to be read again */
	bool listed;                    /* the folders were read since `version` was made */
	/* Version of the list that the page was told. It begins with the time, so that no version
	 * of an earlier viewer is taken for one of this. */
	int64_t version;
	int64_t whole; /* oldest version since which no run was removed */
	/* Requests of a round are answered together: a record is read on once in a round. */
	uint64_t round;
};

/* Lists the runs anew if the list is old. Places that can't be read are skipped. */
void library_list(struct library *l);

/* Opens a run and reads what was added to it before this round. It is valid until the next call.
 * NULL: there is no such run. */
struct library_run *library_open(struct library *l, const char *id);

/* True if only a results.json is left of the run: scores without steps. */
bool library_has_only_results(const struct library_run *r);

void library_release(struct library *l);

#endif
