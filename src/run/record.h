/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_RECORD_H
#define RUN_RECORD_H

#include "run/episode.h"

/* How the record of an episode begins and ends: the folder of its run with the log, how it was asked for, and the
 * events; and what its end says. */

/* The parts of the folder's name, for a model ("actions-games") and a task ("titanic:micro"). */
struct run_name run_record_name(
		const struct episode_plan *plan, const char *model, const char *task);

/* Makes the folder, or takes that of a run that goes on. Fills e->error. */
int run_record_open(struct episode *e, const struct fh_env_info *info);

/* What the agent's memory began as, beside the events: so that it can begin so again. Before the reset is recorded. */
#define RUN_MEMORY_FILE "memory.json"
int run_record_memory(struct episode *e);

/* Cost and calls of the language model, from its record; zeros for NULL. */
struct chat_stats run_record_stats(const struct pyjson *model_stats);

/* Records the cost of the language model, if it has made another call. */
int run_record_spent(struct episode *e);

/* Ends the record. exit_status NULL: that of the last step. A record that can't be written fails the episode. */
void run_record_end(struct episode *e, const char *exit_status);

#endif
