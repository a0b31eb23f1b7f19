/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_MLGYM_ROOT_H
#define CMD_MLGYM_ROOT_H

/* The checkout of MLGym whose tasks and agents are used: what --mlgym-root says, else what MLGym's own
 * variables do, $MLGYM_CONFIG_ROOT (its folder configs) or $MLGYM_TASK_CONFIG_DIR (configs/tasks), else the
 * current folder if it is one, which is said; NULL: none. Lives as long as the process. */
const char *mlgym_root(const char *option);

#define MLGYM_ROOT_OPTION(at)                                                                        \
	{                                                                                            \
		"mlgym-root", 0, OPTION_TEXT, at, "DIR",                                             \
				"a checkout of MLGym, whose tasks are used as they are "             \
				"(otherwise what $MLGYM_CONFIG_ROOT lies in, or the current folder)" \
	}

#endif
