/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_GYM_H
#define RUN_GYM_H

#include "run/plan.h"

/* The gym of all that is planned, for so many episodes at the same time. Warns of what this machine can't
 * enforce. *out may be set when it fails. */
int run_gym_open(struct run_plan *plan, const struct run_options *options, int jobs,
		struct fh_gym **out, struct fh_error *err);

#endif
