/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_REPLAY_H
#define CMD_REPLAY_H

#include "base/arena.h"
#include "cli/cmd.h"
#include "cmd/episode_options.h"
#include "run/agent.h"
#include "run/episode.h"
#include "task/task.h"
#include "trajectory/compare.h"
#include "trajectory/traj.h"

/* A recorded run that `fumehood replay` plays again: what its record says of it, and what comes of it. */
struct replay_options {
	struct episode_options episode;
	const char *task, *agent, *out;
	struct texts gpus;
	bool compare, all;
	int tools; /* index into episode_tools */
	bool tools_given;
};

struct replay {
	struct command_context *ctx;
	const struct replay_options *options;
	struct arena arena;
	struct task_places places;
	struct fh_env_options env;
	struct run_agent agent;
	const int *gpus;
	const char *name; /* as the command line has it: a .traj, or the folder of a run */
	char *path;       /* of the record */
	const char *model;
	char *out;
	const char *own_root;               /* the checkout that this user chose; NULL: none */
	const char *aliases;                /* a file that its shells source; NULL: none */
	const char *agent_spec;             /* NULL: none led it */
	const char *web_hosts;              /* of the record; NULL: it does not say */
	const char *task_hash, *agent_hash; /* the same */
	bool is_next;        /* others were prepared before: of the folder is warned once */
	bool place_is_known; /* whether its task is of a checkout, or ours */
	uint64_t seed;
	int64_t recorded_s, now_s; /* when it began, then and now; 0: the record does not say */
	int reward;
	bool original_tools;
	struct traj *recorded, *now; /* now: only where both are compared */
	struct episode episode;
};

/* Reads the record that it names, for an episode as it was; what the command line says wins. What the
 * record can't give is said. -EPERM for a task of the record's own that would give its actions what is this
 * machine's. */
int replay_prepare(struct replay *r, struct fh_error *err);

struct replay_verdicts {
	size_t n[COMPARE_VERDICTS]; /* steps, by enum compare_verdict */
	size_t missing;             /* steps that only one of both has */
};

/* Both runs side by side. Prints the steps that are not equal, or all that are asked for. */
struct replay_verdicts replay_compare(const struct replay *r);

#endif
