/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EPISODE_LOG_H
#define RUN_EPISODE_LOG_H

#include "base/error.h"
#include "base/log.h"
#include "model/chat.h"

#include <fumehood/env.h>

/*
 * Log of an episode: the program's own log (base/log.h), and a file in the run's folder, if it has
 * one. The file has text from LOG_INFO on. Every record carries task, episode (the number of the
 * folder, or of the reset) and step.
 */
struct episode_log {
	struct log_options file; /* fd -1: none */
	char *task;
	int episode, step;
};

void episode_log_init(struct episode_log *l, const char *task);
void episode_log_release(struct episode_log *l);

#define LOG_WARNINGS_MAX 3 /* about this machine, the model and the task */

struct episode_log_place {
	const char *task; /* "titanic:micro" */
	int episode;
	const char *dir;                        /* the run's; NULL: no file */
	const char *warnings[LOG_WARNINGS_MAX]; /* for the file; NULL: none */
};

/* Begins the log of the next episode. */
int episode_log_open(
		struct episode_log *l, const struct episode_log_place *place, struct fh_error *err);

void episode_log_begun(struct episode_log *l, const char *model, uint64_t seed, int max_steps);
void episode_log_reset(struct episode_log *l, const struct fh_step *step);
/* The task or the agent has changed since the run was recorded. */
struct episode_log_change {
	const char *what;           /* "task", "agent" */
	const char *recorded, *now; /* hashes */
};
void episode_log_changed(struct episode_log *l, const struct episode_log_change *change);
/* The run was recorded with another SECRET_KEYS_VERSION. */
void episode_log_other_keys(struct episode_log *l, int64_t recorded);
/* All recorded steps were played again; `different` observations differ from the record. */
void episode_log_resumed(struct episode_log *l, size_t different);
void episode_log_action(struct episode_log *l, const char *action);
void episode_log_step(struct episode_log *l, const struct fh_step *step);
/* A request to the model failed, and will be repeated. */
void episode_log_retry(struct episode_log *l, const struct chat_retry *retry);
void episode_log_failed(struct episode_log *l, const char *why);
void episode_log_over(struct episode_log *l, const char *exit_status);

#endif
