/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_MAKE_H
#define ENV_MAKE_H

#include "env/gym.h"

/*
 * Makes those data sets of the task that are made and are not there yet; docs/tasks.md says how. It
 * can take their `timeout`. Whoever makes one holds a lock, so that others wait and then find it. On
 * failure nothing of it is left.
 */
int make_data(struct fh_gym *gym, const struct task *task, struct fh_error *err);

#endif
