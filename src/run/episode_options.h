/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EPISODE_OPTIONS_H
#define RUN_EPISODE_OPTIONS_H

#include "agent/config.h"
#include "base/arena.h"
#include "base/str.h"
#include "python/pyjson.h"
#include "run/warner.h"

#include <fumehood/env.h>

#include <stdbool.h>

/* Options of an episode. */
struct episode_options {
	const char *variant;
	uint64_t seed, judge_salt;
	int max_steps;
	int reward; /* index into episode_rewards; the same as enum fh_reward_kind */
	struct texts bind;
	const char *tasks_dir, *mlgym_root, *web_hosts, *aliases, *python;
	struct {
		bool seed, reward;
	} given; /* the user set these: they are no defaults */
};

extern const char *const episode_rewards[];

/* Index of a recorded reward; `otherwise` if there is none of that name. */
int episode_reward_of(const char *name, int otherwise);

#define STEPS_MAX 1000000

/* max_steps of a recorded "open" event; `otherwise` if it has none. */
int episode_recorded_steps(const struct pyjson *open, int otherwise);

/* Makes paths absolute; they must exist. The array lives in the arena. -EINVAL, -ENOENT. */
int episode_binds(const struct texts *list, struct arena *arena, const struct fh_bind **out,
		struct fh_error *err);

/* Reads a bind: SRC[:DST[:ro|rw]]. out_writable: whether it ends with ":rw"; NULL refuses that.
 * Strings are in the arena. */
int episode_read_bind(const char *text, struct arena *arena, struct fh_bind *out,
		bool *out_writable, struct fh_error *err);

/* Adds MLGym's --container_mounts to the binds, each as /NAME. Leaves out a folder that is missing,
 * with a warning. */
void episode_add_mounts(const struct texts *mounts, const struct warner *warner,
		struct arena *arena, struct texts *binds);

/* Reads --gpus: numbers, each once. The array lives in the arena; NULL for an empty list.
 * -EINVAL. */
int episode_gpus(const struct texts *list, struct arena *arena, const int **out,
		struct fh_error *err);

/* Checks --python: "ENV" or "ENV:rw". *out is the same with an absolute path, in the arena; NULL
 * for NULL. -EINVAL, -ENOENT. */
int episode_python(const char *spec, struct arena *arena, const char **out, struct fh_error *err);

/* SECRET_KEYS_VERSION of a run, from its "open" event; 0 for NULL. */
int64_t episode_recorded_keys(const struct pyjson *open);

/* The judge's salt of a recorded "reset" event; 0: the event has none. */
uint64_t episode_recorded_salt(const struct pyjson *reset);

/* Hosts that the tools may ask, from the options. Without them "papers", if the agent (may be NULL)
 * has tools that read papers. NULL: none. */
const char *episode_web_hosts(
		const struct episode_options *options, const struct agent_config *agent);

#endif
