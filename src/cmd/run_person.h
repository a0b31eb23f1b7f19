/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_PERSON_H
#define CMD_RUN_PERSON_H

#include "run/run.h"

/*
 * Serves a run that a person plays, whenever the run waits. Shows the output of the command so far.
 * At a terminal Ctrl-C ends only that command.
 */
void run_person_serve(const struct run *run);

#endif
