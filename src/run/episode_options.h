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

/* Options of all commands that play episodes. */
struct episode_options {
	const char *variant;
	uint64_t seed, judge_salt, data_seed;
	int max_steps;
	int64_t output_bytes; /* as in fh_env_options: of a record that is resumed */
	/* index into episode_rewards of the reward to give, equal to enum fh_reward_kind */
	int reward;
	struct texts bind;
	const char *tasks_dir, *mlgym_root, *web_hosts, *aliases, *python;
	struct {
		bool seed, data_seed, reward;
	} given; /* true for each option that the user set; other options have their defaults */
};

extern const char *const episode_rewards[];

/* Returns the index into episode_rewards of a recorded reward's name, or `otherwise` if the name is
 * unknown. */
int episode_reward_of(const char *name, int otherwise);

/* largest seed of an episode: the protocol of `fumehood env` accepts none above it */
#define SEED_MAX INT64_MAX

/*
 * Checks the options. Then sets in `out` the options of an environment that don't depend on its
 * agent. Paths become absolute; `out` points into the arena and to `options`. -EINVAL, -ENOENT: an
 * option is malformed, or its path is missing; the error names the option.
 */
int episode_env_options(const struct episode_options *options, struct arena *arena,
		struct fh_env_options *out, struct fh_error *err);

/* Returns max_steps of a recorded "open" event, or `otherwise` if it is missing or invalid. */
int episode_recorded_steps(const struct pyjson *open, int otherwise);

/* Reads a bind: SRC[:DST[:ro|rw]]. *out_writable: whether it ends with ":rw". If out_writable is
 * NULL, ":rw" is an error. Strings live in the arena. */
int episode_read_bind(const char *text, struct arena *arena, struct fh_bind *out,
		bool *out_writable, struct fh_error *err);

/* Adds the folders of MLGym's --container_mounts to the binds, each as /NAME. Warns of missing
 * folders and leaves them out. */
void episode_add_mounts(const struct texts *mounts, const struct warner *warner,
		struct arena *arena, struct texts *binds);

/* Reads the list of --gpus, whose numbers must differ. *out is an array in the arena, or NULL
 * for an empty list. -EINVAL: a number is wrong. */
int episode_gpus(const struct texts *list, struct arena *arena, const int **out,
		struct fh_error *err);

/*
 * Returns the SECRET_KEYS_VERSION, the version of how keys are derived from the machine's secret,
 * that a run's "open" event records. 1 if the event has none: version 1 was not recorded. 0 if
 * `open` is NULL.
 */
int64_t episode_recorded_keys(const struct pyjson *open);

/*
 * Returns the salt of a recorded "reset" event: a number from which the judge's random numbers are
 * derived. 0: the event has none.
 */
uint64_t episode_recorded_salt(const struct pyjson *reset);

/* Returns the seed for generated data in a recorded "open" event. 0 if the event has none: older
 * builds did not record it. */
uint64_t episode_recorded_data_seed(const struct pyjson *open);

/* Returns output_bytes of a recorded "open" event. 0 if the run had none, or an invalid number. */
int64_t episode_recorded_output(const struct pyjson *open);

/* Returns the value of the --web-hosts option: hosts that the agent's tools may connect to. If the
 * option is not given: "papers" if the agent has tools that read papers, else NULL (no host).
 * `agent` may be NULL. */
const char *episode_web_hosts(
		const struct episode_options *options, const struct agent_config *agent);

#endif
