/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_DEADLINES_H
#define ENV_DEADLINES_H

#include <fumehood/env.h>

#include <stddef.h>
#include <stdint.h>

struct poller;

/* The poller's heap: environments at work, the earliest deadline first. O(log n) each. */
void deadlines_put(struct poller *p, struct fh_env *env, int64_t deadline_ns); /* or moves it */
void deadlines_remove(struct poller *p, struct fh_env *env); /* fine for one that is not in it */

/* INT64_MAX if there is none. */
int64_t deadlines_first(const struct poller *p);

#endif
