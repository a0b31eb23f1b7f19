/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAJECTORY_INFO_H
#define TRAJECTORY_INFO_H

#include "python/pyjson.h"

#include <fumehood/env.h>

/* A step as JSON members: the same in the event log, over `fumehood env` and in its servers. */

/* {"accuracy":0.8}; null where there are none. */
void info_put_metrics(struct pyjson_writer *w, const char *key, const struct fh_metric *metrics,
		size_t n);

/* The object `info` of a reset or step. */
void info_put(struct pyjson_writer *w, const char *key, const struct fh_step *step);

/* Members of the object that is open: observation, and after a step reward, terminated, truncated;
 * info. */
void info_put_reset(struct pyjson_writer *w, const struct fh_step *step);
void info_put_step(struct pyjson_writer *w, const struct fh_step *step);

#endif
