/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RECORD_JSON_H
#define CMD_RECORD_JSON_H

#include "trajectory/export.h"

/*
 * Puts the members by which programs know a recorded run: `run`, which is the path, `task`,
 * `variant`, `model` and `exit_status`. Members that the record lacks are null. A .traj alone has
 * only the exit status.
 */
void record_json_put(struct pyjson_writer *w, const char *path, const struct exported *e);

#endif
