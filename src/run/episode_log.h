/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EPISODE_LOG_H
#define RUN_EPISODE_LOG_H

#include "base/error.h"
#include "base/log.h"
#include "model/chat.h"

#include <fumehood/env.h>

/*
 * Log of an episode. Each record goes to the program's log (base/log.h), and to a file in the run's
 * folder. The file is text, from LOG_INFO on. Each record names task, step and episode: the number
 * of the folder, or of the reset.
 */
struct episode_log {
	struct log_options file; /* log file in the run's folder; fd -1: none */
	char *task;
	int episode, step;
};

void episode_log_init(struct episode_log *l, const char *task);
void episode_log_release(struct episode_log *l);

#define LOG_WARNINGS_MAX 3 /* most warnings: about this machine, the model and the task */

struct episode_log_place {
	const char *task; /* name of the task, "titanic:micro" */
	int episode;
	const char *dir; /* folder of the run; NULL: no log file */
	/* warnings to write at the start of the log file; NULL: none */
	const char *warnings[LOG_WARNINGS_MAX];
};

/* Starts the log of the next episode, with its file. */
int episode_log_open(
		struct episode_log *l, const struct episode_log_place *place, struct fh_error *err);

void episode_log_begun(struct episode_log *l, const char *model, uint64_t seed, int max_steps);
void episode_log_reset(struct episode_log *l, const struct fh_step *step);
/* A change of the task's or agent's files since a run was recorded. */
struct episode_log_change {
	const char *what;           /* changed part, "task" or "agent" */
	const char *recorded, *now; /* hashes of the files */
};
void episode_log_changed(struct episode_log *l, const struct episode_log_change *change);
/* Logs that the run was recorded with another SECRET_KEYS_VERSION. */
void episode_log_other_keys(struct episode_log *l, int64_t recorded);
/* Logs that all recorded steps were played again. `different`: number of observations that differ
 * from the record. */
void episode_log_resumed(struct episode_log *l, size_t different);
void episode_log_action(struct episode_log *l, const char *action);
void episode_log_step(struct episode_log *l, const struct fh_step *step);
/* Logs that a request to the model failed and will be repeated. */
void episode_log_retry(struct episode_log *l, const struct chat_retry *retry);
void episode_log_failed(struct episode_log *l, const char *why);
void episode_log_over(struct episode_log *l, const char *exit_status);

#endif
