/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_EPISODE_OPTIONS_H
#define CMD_EPISODE_OPTIONS_H

#include "cli/cmd.h"
#include "run/episode_options.h"
#include "run/episode_setup.h"

/* Rows for the option tables of all commands that play episodes. */

/* Prints what src/run warns of. */
extern const struct warner cmd_warner;

#define PYTHON_OPTION(field)                                                                                          \
	{                                                                                                             \
		"python", 0, OPTION_TEXT, (field), "ENV[:rw]",                                                        \
				"a Python environment of this machine (venv, conda), whose programs come first; rw: " \
				"inside it can be written to, by `pip install` say, which ends with the episode"      \
	}

#define MLGYM_ROOT_OPTION(at)                                                                        \
	{                                                                                            \
		"mlgym-root", 0, OPTION_TEXT, at, "DIR",                                             \
				"a checkout of MLGym, whose tasks are used as they are "             \
				"(otherwise what $MLGYM_CONFIG_ROOT lies in, or the current folder)" \
	}

/* clang-format off */
#define EPISODE_TOOLS_OPTION(field, is_given)                                                      \
	{ "tools", 0, OPTION_CHOICE, (field), NULL,                                                \
	  "where MLGym's commands (open, edit, ...) are known: our own, which do the same in "     \
	  "less time, or the original ones", "own", episode_tools, .given = (is_given) }
/* clang-format on */

/* Rows of a table whose struct holds a struct episode_options at the offset `at`. */
/* clang-format off */
#define EPISODE_OPTIONS(at)                                                                        \
	{ "variant", 0, OPTION_TEXT, EPISODE_FIELD(at, variant), "V",                              \
	  "variant of the task, as in --task T:V" },                                               \
	{ "max-steps", 0, OPTION_INT, EPISODE_FIELD(at, max_steps), "N",                           \
	  "most steps of an episode (otherwise the task's own number)",                            \
	  .min = 1, .max = STEPS_MAX },                                                            \
	{ "seed", 0, OPTION_UINT64, EPISODE_FIELD(at, seed), "N",                                  \
	  "what is random in an episode", "0", .given = EPISODE_FIELD(at, given.seed) },            \
	{ "judge-salt", 0, OPTION_UINT64, EPISODE_FIELD(at, judge_salt), "N",                      \
	  "what judges' random numbers follow from beside the seed and the actions (otherwise "    \
	  "new in each episode, and recorded)" },                                                  \
	{ "reward", 0, OPTION_CHOICE, EPISODE_FIELD(at, reward), NULL,                             \
	  "what a scored step is worth: the score's change, how much it is better than the "       \
	  "baseline, or nothing", "delta", episode_rewards,                                         \
	  .given = EPISODE_FIELD(at, given.reward) },                                               \
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

#endif
