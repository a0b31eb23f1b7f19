/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_ENV_RECORD_H
#define RUN_ENV_RECORD_H

#include "run/episode_log.h"
#include "trajectory/recorder.h"

/* The records of a served environment, one episode after the other: the log, and with `out` a folder for each. */
struct env_record {
	const char *out, *suffix, *reward; /* out NULL: only the log */
	const char *warning;               /* of this machine; NULL: none */
	const struct fh_env_info *info;
	struct recorder *recorder; /* NULL: none, or ended */
	struct episode_log log;
	bool going_on;
	int n_episodes;
};

void env_record_init(struct env_record *r, const char *task);
void env_record_release(struct env_record *r);

/* After a reset, after each step (which ends it, if it was the last), and at any time before that. */
int env_record_begin(struct env_record *r, uint64_t seed, const struct fh_step *step,
		struct fh_error *err);
int env_record_step(struct env_record *r, const char *action, const struct fh_step *step,
		struct fh_error *err);
int env_record_end(struct env_record *r, const char *exit_status, struct fh_error *err);

#endif
