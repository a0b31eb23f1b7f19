/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PLACES_H
#define BASE_PLACES_H

#include "base/error.h"

/*
 * The places of our own files, relative to this program or libfumehood.so. In a checkout they are
 * in the build folder and the folder above it; otherwise they are installed.
 */
struct places {
	const char *share_dir;    /* holds tasks/, datasets/, agents/, images/ */
	const char *guest_plugin; /* fumehood-guest.so */
	const char *aci;          /* fh-aci */
	const char *grade_csv;    /* fh-grade-csv */
	const char *floors;       /* folder of small programs for `bench` */
	const char *graders;      /* folder of the Python files of judges and players */
};

/* Finds the places once, for the life of the process. The files need not exist. */
const struct places *places_get(void);

/*
 * The folder for baselines, data and keys, as a heap string: `dir` if not NULL, else
 * $FUMEHOOD_STATE. The default is /var/lib/fumehood for root, $XDG_STATE_HOME/fumehood or
 * ~/.local/state/fumehood for others. places_state_dir() makes the folder.
 */
int places_state_path(const char *dir, char **out, struct fh_error *err);
int places_state_dir(const char *dir, char **out, struct fh_error *err);

#endif
