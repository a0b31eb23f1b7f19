/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_ARGS_H
#define CMD_RUN_ARGS_H

#include "cmd/run_episode.h"
#include "trajectory/args_yaml.h"

/* args.yaml of a run, made of its plan. Keys are no part of it; of a URL or of fields for each request, which may
 * hold others' secrets, it has what is none. */
int run_args_write(const char *dir, const struct episode *e, const struct run_name *name,
		const struct fh_env_info *info, struct fh_error *err);

/* Whether a part of it was left out. */
bool run_args_is_hidden(const char *text);

#endif
