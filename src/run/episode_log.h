/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EPISODE_LOG_H
#define RUN_EPISODE_LOG_H

#include "base/error.h"
#include "base/log.h"
#include "model/chat.h"

#include <fumehood/env.h>

/*
 * Log of an episode. Each line goes to the program's log (base/log.h), and to a file in the run's
 * folder. The file is text, from LOG_INFO on. Each line names task, step and episode. The episode
 * is the number of the run's folder, or of the reset in `fumehood env`.
 */
struct episode_log {
	struct log_options file; /* log file in the run's folder; fd -1: none */
	char *task;
	int episode, step;
};

void episode_log_init(struct episode_log *l, const char *task);
void episode_log_release(struct episode_log *l);

/* most warnings at the start of a log file: about this machine, the model and the task */
#define LOG_WARNINGS_MAX 3

struct episode_log_place {
	const char *task; /* name of the task, like "titanic:micro" */
	int episode;
	const char *dir; /* folder of the run; NULL: no log file */
	/* Warnings to write at the start of the episode's log file; NULL: none. */
	const char *warnings[LOG_WARNINGS_MAX];
};

/* Starts the log of an episode. If place->dir is set, the log goes to a new file in it too. */
int episode_log_open(
		struct episode_log *l, const struct episode_log_place *place, struct fh_error *err);

void episode_log_begun(struct episode_log *l, const char *model, uint64_t seed, int max_steps);
void episode_log_reset(struct episode_log *l, const struct fh_step *step);
/* The files of a task or agent that have changed since a run was recorded, to be logged. */
struct episode_log_change {
	const char *what;           /* part whose files have changed: "task" or "agent" */
	const char *recorded, *now; /* hash of the files in the record, and of the files now */
};
void episode_log_changed(struct episode_log *l, const struct episode_log_change *change);
/*
 * Logs that the run was recorded by a build that derives keys from the machine's secret in another
 * way. `recorded` is that build's SECRET_KEYS_VERSION.
 */
void episode_log_other_keys(struct episode_log *l, int64_t recorded);
/* Logs that a resumed run has played all recorded steps again. `different`: number of observations
 * that differ from the record. */
void episode_log_resumed(struct episode_log *l, size_t different);
void episode_log_action(struct episode_log *l, const char *action);
void episode_log_step(struct episode_log *l, const struct fh_step *step);
/* Logs a `validate` or `submit` of a command that plays as the agent. */
void episode_log_asked(struct episode_log *l, const char *what, const struct fh_step *told);
/* Logs that a request to the model failed and will be repeated. */
void episode_log_retry(struct episode_log *l, const struct chat_retry *retry);
void episode_log_failed(struct episode_log *l, const char *why);
void episode_log_over(struct episode_log *l, const char *exit_status);

#endif
