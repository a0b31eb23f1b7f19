/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_GYM_H
#define CMD_RUN_GYM_H

#include "cmd/run_plan.h"

/* The gym of all that is planned, for so many episodes at the same time. Warns of what this machine can't
 * enforce. *out may be set when it fails. */
int run_gym_open(struct run_plan *plan, const struct command_context *ctx, int jobs,
		struct fh_gym **out, struct fh_error *err);

#endif
