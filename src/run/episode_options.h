/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EPISODE_OPTIONS_H
#define RUN_EPISODE_OPTIONS_H

#include "agent/config.h"
#include "base/arena.h"
#include "base/str.h"
#include "run/warner.h"
#include "trajectory/pyjson.h"

#include <fumehood/env.h>

#include <stdbool.h>

/* What is asked of an episode, whoever plays it. */
struct episode_options {
	const char *variant;
	uint64_t seed, judge_salt;
	int max_steps;
	int reward; /* index into episode_rewards; the same as enum fh_reward_kind */
	struct texts bind;
	const char *tasks_dir, *mlgym_root, *web_hosts, *aliases, *python;
	struct {
		bool seed, reward;
	} given; /* what was asked for, and is no default */
};

extern const char *const episode_rewards[];

#define STEPS_MAX 1000000

/* Paths are made absolute, and must exist. The array lives in the arena. -EINVAL, -ENOENT. */
int episode_binds(const struct texts *list, struct arena *arena, const struct fh_bind **out,
		struct fh_error *err);

/* One bind: SRC[:DST[:ro|rw]]. out_writable: whether it ends with ":rw"; NULL refuses that. Strings are in the arena. */
int episode_read_bind(const char *text, struct arena *arena, struct fh_bind *out,
		bool *out_writable, struct fh_error *err);

/* MLGym's --container_mounts: binds more, each beneath the root by its own name; what is not there is left out, and said. */
void episode_add_mounts(const struct texts *mounts, const struct warner *warner,
		struct arena *arena, struct texts *binds);

/* Checks --python: "ENV" or "ENV:rw". *out is the same with an absolute path, in the arena; NULL for NULL.
 * -EINVAL, -ENOENT. */
int episode_python(const char *spec, struct arena *arena, const char **out, struct fh_error *err);

/* Of a recorded "reset" event. 0: it has none, and was not made by a judge of ours. */
uint64_t episode_recorded_salt(const struct pyjson *reset);

/* For whom `agent` leads, or NULL: what was given; otherwise papers for who has commands that read them. */
const char *episode_web_hosts(
		const struct episode_options *options, const struct agent_config *agent);

#endif
