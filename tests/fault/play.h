/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_PLAY_H
#define FAULT_PLAY_H

#include "trajectory/recorder.h"

#include <fumehood/env.h>

/*
 * A play is an owner's life in acts, from opening its gym to closing it. It is recorded as by
 * `fumehood env --out`. If a fault makes an act fail, the act has to report an error. It is then
 * repeated, and has to succeed. The records have to be readable at the end in any case.
 */
struct play {
	const char *task; /* "sums", ... */
	struct fh_gym *gym;
	struct fh_env *env;
	struct recorder *recorder;
	struct fh_step step;
	struct fh_error err;
	int run; /* number of the run that was recorded last */
	int failed_resets;
	int felt;           /* number of acts that failed at first */
	int worker;         /* a socket to a fork that still lives; 0: none */
	char trouble[2048]; /* description of the failure; "": none */
};

enum script {
	SCRIPT_WHOLE, /* plays everything that an owner can do */
	SCRIPT_SUBMIT /* reset, submit */
};

/* Makes a state folder and a folder for records. This process and its forks use both. */
void play_set_up(void);
void play_tear_down(void);

/* Plays all acts of a script. Returns false on a failure, and describes it in `trouble`. */
bool play(struct play *p, const char *task, enum script script);

/* Checks that the records hold all observations that the fault page counts as given out. Works also
 * after the process that played was killed. Returns false if something is wrong: see `trouble`. */
bool play_read_records(struct play *p);

/* Name of a script's act by its index, for error messages. */
const char *play_phase_name(enum script script, unsigned phase);

#endif
