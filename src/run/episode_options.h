/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EPISODE_OPTIONS_H
#define RUN_EPISODE_OPTIONS_H

#include "agent/config.h"
#include "base/arena.h"
#include "base/str.h"
#include "python/pyjson.h"
#include "run/warner.h"
#include "trajectory/export.h" /* STEPS_MAX */

#include <fumehood/env.h>

#include <stdbool.h>

/* Options that commands which play episodes share. */
struct episode_options {
	const char *variant;
	uint64_t seed, judge_salt, data_seed;
	int max_steps;
	int reward; /* index into episode_rewards, equal to enum fh_reward_kind */
	struct texts bind;
	const char *tasks_dir, *mlgym_root, *web_hosts, *aliases, *python;
	struct {
		bool seed, data_seed, reward;
	} given; /* true for options that the user set: not defaults */
};

extern const char *const episode_rewards[];

/* Index into episode_rewards of a recorded reward's name. Returns `otherwise` for an unknown
 * name. */
int episode_reward_of(const char *name, int otherwise);

#define SEED_MAX INT64_MAX /* most that the protocol of `env` takes */

/*
 * Checks the options, and sets those of an environment that don't depend on its agent. Paths become
 * absolute; `out` points into the arena and to `options`. -EINVAL, -ENOENT: an option is malformed,
 * or its path is missing; the sentence names it.
 */
int episode_env_options(const struct episode_options *options, struct arena *arena,
		struct fh_env_options *out, struct fh_error *err);

/* max_steps of a recorded "open" event. Returns `otherwise` if the event has none. */
int episode_recorded_steps(const struct pyjson *open, int otherwise);

/* Reads a bind: SRC[:DST[:ro|rw]]. *out_writable: whether it ends with ":rw". If out_writable is
 * NULL, ":rw" is an error. Strings live in the arena. */
int episode_read_bind(const char *text, struct arena *arena, struct fh_bind *out,
		bool *out_writable, struct fh_error *err);

/* Adds the folders of MLGym's --container_mounts to the binds, each as /NAME. Warns of missing
 * folders and leaves them out. */
void episode_add_mounts(const struct texts *mounts, const struct warner *warner,
		struct arena *arena, struct texts *binds);

/* Reads --gpus: different numbers. *out is an array in the arena, or NULL for an empty list.
 * -EINVAL. */
int episode_gpus(const struct texts *list, struct arena *arena, const int **out,
		struct fh_error *err);

/* SECRET_KEYS_VERSION that a run recorded in its "open" event. 0 if `open` is NULL. */
int64_t episode_recorded_keys(const struct pyjson *open);

/* The judge's salt of a recorded "reset" event. 0: the event has none. */
uint64_t episode_recorded_salt(const struct pyjson *reset);

/* The data seed of a recorded "open" event. 0 if the event has none: older builds had no data
 * seeds. */
uint64_t episode_recorded_data_seed(const struct pyjson *open);

/* The --web-hosts option: hosts that the agent's tools may connect to. Default: "papers" if the
 * agent has tools that read papers, else NULL, for no hosts. `agent` may be NULL. */
const char *episode_web_hosts(
		const struct episode_options *options, const struct agent_config *agent);

#endif
