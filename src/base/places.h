/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PLACES_H
#define BASE_PLACES_H

#include "base/error.h"

/*
 * Paths of Fumehood's own files. They are found from the path of this program or of libfumehood.so.
 * In a checkout the files are in the build folder and its parent; otherwise they are installed.
 */
struct places {
	const char *share_dir; /* folder with tasks/, datasets/, templates/, agents/ and models/ */
	/* fumehood-guest.so, the library that makes sandboxes and runs in them */
	const char *guest_plugin;
	const char *bash;          /* the bash that loads it: the one beside it, else /bin/bash */
	const char *aci;           /* fh-aci, the program of the agent's editing tools */
	const char *grade_csv;     /* fh-grade-csv, the program that grades CSV files */
	const char *sat;           /* fh-sat.so, the 3-SAT solver of judges */
	const char *libwebsockets; /* the library beside them; NULL: take the machine's */
	/* folder of the small programs that `bench` compares Fumehood with */
	const char *floors;
	const char *graders;    /* folder of the Python programs of graders */
	const char *simulators; /* folder of the Python module `simulators` */
};

/* Finds the paths, once per process; they stay valid. The files need not exist. */
const struct places *places_get(void);

/*
 * The state folder for baselines, data and keys, as a heap string. It is `dir`, or $FUMEHOOD_STATE
 * if `dir` is NULL. The default is /var/lib/fumehood for root, $XDG_STATE_HOME/fumehood or
 * ~/.local/state/fumehood for others. places_state_dir() also makes the folder.
 */
int places_state_path(const char *dir, char **out, struct fh_error *err);
int places_state_dir(const char *dir, char **out, struct fh_error *err);

#endif
