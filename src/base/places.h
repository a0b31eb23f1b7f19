/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_PLACES_H
#define BASE_PLACES_H

#include "base/error.h"

/*
 * Where our own files are, found from where this program (or libfumehood.so) lies: in a checkout
 * the build folder and the folder above it, else what was installed beside it.
 */
struct places {
	const char *share_dir;    /* holds tasks/, datasets/, agents/, images/ */
	const char *guest_plugin; /* fumehood-guest.so */
	const char *aci;          /* fh-aci */
	const char *grade_csv;    /* fh-grade-csv */
	const char *floors;       /* folder of the bare programs that `bench` measures against */
	const char *graders;      /* folder of what judges and players are run with: duel.py, ... */
};

/* Found once; lives as long as the process. Whether the files are there shows when they are used. */
const struct places *places_get(void);

/*
 * The folder for baselines, data, keys, as a heap string: `dir` if not NULL, else $FUMEHOOD_STATE,
 * else /var/lib/fumehood for root and $XDG_STATE_HOME/fumehood (by default
 * ~/.local/state/fumehood) for anyone else. places_state_dir() makes it if it is not there.
 */
int places_state_path(const char *dir, char **out, struct fh_error *err);
int places_state_dir(const char *dir, char **out, struct fh_error *err);

#endif
