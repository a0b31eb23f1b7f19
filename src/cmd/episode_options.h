/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_EPISODE_OPTIONS_H
#define CMD_EPISODE_OPTIONS_H

#include "cli/cmd.h"
#include "run/episode_options.h"
#include "run/episode_setup.h"

/* Rows for the option tables of all commands that play episodes. */

/* Prints the warnings of functions in src/run. */
extern const struct warner cmd_warner;

/* clang-format off */
#define PYTHON_OPTION(field)                                                                       \
	{ "python", 0, OPTION_TEXT, (field), "ENV[:rw]",                                           \
	  "use a Python environment of this machine (venv, conda). With :rw the sandbox can " \
	  "write to it, as `pip install` does; the changes end with the sandbox" }

/* The last parameters tell the default: `standard` as typed, or NULL and `otherwise` in words. */
#define DATA_SEED_OPTION(field, is_given, standard, otherwise)                                     \
	{ "data-seed", 0, OPTION_UINT64, (field), "N",                                             \
	  "seed of generated data: other data of the same kind, with its own baseline" otherwise,  \
	  standard, .max = FH_DATA_SEED_MAX, .given = (is_given) }

#define MLGYM_ROOT_OPTION(at, first)                                                               \
	{ "mlgym-root", 0, OPTION_TEXT, at, "DIR",                                                 \
	  "use the tasks of this checkout of MLGym (default: " first                               \
	  "the folder above $MLGYM_CONFIG_ROOT, or the current folder)" }

#define EPISODE_TOOLS_OPTION(field, is_given, standard, otherwise)                                 \
	{ "tools", 0, OPTION_CHOICE, (field), NULL,                                                \
	  "which commands open, edit and so on are: our own, which are faster, or MLGym's"         \
	  otherwise,                                                                               \
	  standard, episode_tools, .given = (is_given) }

/* Rows of a command's option table. The command's struct has a struct episode_options at the offset
 * `at`. */
#define EPISODE_OPTIONS(at)                                                                        \
	EPISODE_ROWS(at, "the task's number", "new in each episode, and recorded", "0", "delta",   \
			"", "")

/* Defaults of the rows of `replay`, which keeps what the run recorded. */
#define AS_RECORDED " (default: as recorded)"
#define EPISODE_OPTIONS_RECORDED(at)                                                               \
	EPISODE_ROWS(at, "as recorded", "as recorded", NULL, NULL, AS_RECORDED,                    \
			"as recorded, else ")

/* Each parameter after `at` is the default of the rows that use it. `root` is its beginning. */
#define EPISODE_ROWS(at, steps, salt, number, change, otherwise, root)                             \
	{ "variant", 0, OPTION_TEXT, EPISODE_FIELD(at, variant), "V",                              \
	  "variant of the task, as in --task T:V" },                                               \
	{ "max-steps", 0, OPTION_INT, EPISODE_FIELD(at, max_steps), "N",                           \
	  "most steps of an episode (default: " steps ")", .min = 1, .max = STEPS_MAX },           \
	{ "seed", 0, OPTION_UINT64, EPISODE_FIELD(at, seed), "N",                                  \
	  "seed of random numbers in an episode" otherwise, number, .max = SEED_MAX,               \
	  .given = EPISODE_FIELD(at, given.seed) },                                                \
	DATA_SEED_OPTION(EPISODE_FIELD(at, data_seed), EPISODE_FIELD(at, given.data_seed), number, \
			otherwise),                                                                \
	{ "judge-salt", 0, OPTION_UINT64, EPISODE_FIELD(at, judge_salt), "N",                      \
	  "seed of judges' random numbers, beside the seed and the actions (default: " salt ")",   \
	  .max = FH_JUDGE_SALT_MAX },                                                              \
	{ "reward", 0, OPTION_CHOICE, EPISODE_FIELD(at, reward), NULL,                             \
	  "reward of a scored step: change of the score, improvement on the baseline, or none"     \
	  otherwise,                                                                               \
	  change, episode_rewards, .given = EPISODE_FIELD(at, given.reward) },                     \
	{ "bind", 0, OPTION_REPEAT, EPISODE_FIELD(at, bind), "SRC[:DST]",                          \
	  "show a file or folder of this machine in the sandbox, read-only; may be repeated" },    \
	PYTHON_OPTION(EPISODE_FIELD(at, python)),                                                  \
	{ "aliases-file", 0, OPTION_PATH, EPISODE_FIELD(at, aliases), "FILE",                      \
	  "source this file first in each shell of an episode, with aliases enabled" },            \
	{ "tasks-dir", 0, OPTION_PATH, EPISODE_FIELD(at, tasks_dir), "DIR",                        \
	  "a folder with more tasks, looked up first" otherwise },                                 \
	{ "web-hosts", 0, OPTION_TEXT, EPISODE_FIELD(at, web_hosts), "HOST,...",                   \
	  "hosts that literature_search and parse_pdf_url may ask (docs/tools.md); `papers`: "     \
	  "usual hosts of papers; `none`" },                                                       \
	MLGYM_ROOT_OPTION(EPISODE_FIELD(at, mlgym_root), root)
/* clang-format on */
#define EPISODE_FIELD(at, field) ((at) + offsetof(struct episode_options, field))

#endif
