/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_PLAY_H
#define FAULT_PLAY_H

#include "trajectory/recorder.h"

#include <fumehood/env.h>

/*
 * A play: an owner's life from its gym's opening to its close, in acts, recorded as `fumehood env --out`
 * does. While a fault may come, an act is done, or it tells clearly why not; then it is done once more,
 * and has to be. What was recorded can be read in the end, whatever came.
 */
struct play {
	const char *task; /* "sums", ... */
	struct fh_gym *gym;
	struct fh_env *env;
	struct recorder *recorder;
	struct fh_step step;
	struct fh_error err;
	int run; /* whose record is open, or was last */
	int failed_resets;
	int felt;           /* acts that were not done at first */
	int worker;         /* a socket to a fork that lives on; 0: none */
	char trouble[2048]; /* what must not be; "" */
};

enum script {
	SCRIPT_WHOLE, /* everything an owner does */
	SCRIPT_SUBMIT /* reset, submit */
};

/* A state folder and a folder for records, of this process and those that it forks. */
void play_set_up(void);
void play_tear_down(void);

/* All acts of a script. false: there is trouble. */
bool play(struct play *p, const char *task, enum script script);

/* After a play, or after the death of whoever played, by the fault page: is all that was given out
 * there to be read? false: there is trouble. */
bool play_read_records(struct play *p);

/* For messages: what is played in a phase of the fault page. */
const char *play_phase_name(enum script script, unsigned phase);

#endif
