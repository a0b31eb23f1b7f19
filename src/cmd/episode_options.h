/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_EPISODE_OPTIONS_H
#define CMD_EPISODE_OPTIONS_H

#include "agent/config.h"
#include "base/arena.h"
#include "cli/cmd.h"
#include "cmd/mlgym_root.h"
#include "trajectory/pyjson.h"

#include <fumehood/env.h>

/* What `run` and `env` have in common: rows of their tables of options, and how they are read. */
struct episode_options {
	const char *variant;
	uint64_t seed, judge_salt;
	int max_steps;
	int reward; /* index into episode_rewards; the same as enum fh_reward_kind */
	struct cmd_list bind;
	const char *tasks_dir, *mlgym_root, *web_hosts, *aliases, *python;
};

extern const char *const episode_rewards[];

#define STEPS_MAX 1000000

#define PYTHON_OPTION(field)                                                                                          \
	{                                                                                                             \
		"python", 0, OPTION_TEXT, (field), "ENV[:rw]",                                                        \
				"a Python environment of this machine (venv, conda), whose programs come first; rw: " \
				"inside it can be written to, by `pip install` say, which ends with the episode"      \
	}

/* Rows of a table whose struct holds a struct episode_options at the offset `at`. */
/* clang-format off */
#define EPISODE_OPTIONS(at)                                                                        \
	{ "variant", 0, OPTION_TEXT, EPISODE_FIELD(at, variant), "V",                              \
	  "variant of the task, as in --task T:V" },                                               \
	{ "max-steps", 0, OPTION_INT, EPISODE_FIELD(at, max_steps), "N",                           \
	  "most steps of an episode (otherwise the task's own number)",                            \
	  .min = 1, .max = STEPS_MAX },                                                            \
	{ "seed", 0, OPTION_UINT64, EPISODE_FIELD(at, seed), "N",                                  \
	  "what is random in an episode", "0" },                                                   \
	{ "judge-salt", 0, OPTION_UINT64, EPISODE_FIELD(at, judge_salt), "N",                      \
	  "what judges' random numbers follow from beside the seed and the actions (otherwise "    \
	  "new in each episode, and recorded)" },                                                  \
	{ "reward", 0, OPTION_CHOICE, EPISODE_FIELD(at, reward), NULL,                             \
	  "what a scored step is worth: the score's change, how much it is better than the "       \
	  "baseline, or nothing", "delta", episode_rewards },                                      \
	{ "bind", 0, OPTION_REPEAT, EPISODE_FIELD(at, bind), "SRC[:DST]",                          \
	  "show a file or folder of this machine inside, read-only; may be given again" },         \
	PYTHON_OPTION(EPISODE_FIELD(at, python)),                                                  \
	{ "aliases-file", 0, OPTION_TEXT, EPISODE_FIELD(at, aliases), "FILE",                      \
	  "each of an episode's shells sources it first, with aliases switched on" },              \
	{ "tasks-dir", 0, OPTION_TEXT, EPISODE_FIELD(at, tasks_dir), "DIR",                        \
	  "a folder with more tasks, looked up first" },                                           \
	{ "web-hosts", 0, OPTION_TEXT, EPISODE_FIELD(at, web_hosts), "HOST,...",                   \
	  "what literature_search and parse_pdf_url may ask (docs/tools.md); papers: where "       \
	  "papers are read; none: nothing" },                                                      \
	MLGYM_ROOT_OPTION(EPISODE_FIELD(at, mlgym_root))
/* clang-format on */
#define EPISODE_FIELD(at, field) ((at) + offsetof(struct episode_options, field))

/* Paths are made absolute, and must exist. The array lives in the arena. -EINVAL, -ENOENT. */
int episode_binds(const struct cmd_list *list, struct arena *arena, const struct fh_bind **out,
		struct fh_error *err);

/* One bind: SRC[:DST[:ro|rw]]. out_writable: whether it ends with ":rw"; NULL refuses that. Strings are in the arena. */
int episode_read_bind(const char *text, struct arena *arena, struct fh_bind *out,
		bool *out_writable, struct fh_error *err);

/* MLGym's --container_mounts: binds more, each beneath the root by its own name; what is not there is left out, and said. */
void episode_add_mounts(const struct cmd_list *mounts, struct arena *arena, struct cmd_list *binds);

/* Checks --python: "ENV" or "ENV:rw". *out is the same with an absolute path, in the arena; NULL for NULL.
 * -EINVAL, -ENOENT. */
int episode_python(const char *spec, struct arena *arena, const char **out, struct fh_error *err);

/* Of a recorded "reset" event. 0: it has none, and was not made by a judge of ours. */
uint64_t episode_recorded_salt(const struct pyjson *reset);

/* For whom `agent` leads, or NULL: what was given; otherwise papers for who has commands that read them. */
const char *episode_web_hosts(
		const struct episode_options *options, const struct agent_config *agent);

#endif
