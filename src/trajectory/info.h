/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_INFO_H
#define TRAJECTORY_INFO_H

#include "python/pyjson.h"

#include <fumehood/env.h>

/* Writes the result of a step as JSON, in the form that the event log and `fumehood env` share. */

/* Writes metrics as {"accuracy":0.8}, or null if there are none. */
void info_put_metrics(struct pyjson_writer *w, const char *key, const struct fh_metric *metrics,
		size_t n);

/* Functions that write members into the JSON object that was begun: observation and info.
 * info_put_step() also writes reward, terminated and truncated. */
void info_put_reset(struct pyjson_writer *w, const struct fh_step *step);
void info_put_step(struct pyjson_writer *w, const struct fh_step *step);

/* Writes the object `info` alone. */
void info_put_info(struct pyjson_writer *w, const struct fh_step *step);

#endif
