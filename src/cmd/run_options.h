/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_OPTIONS_H
#define CMD_RUN_OPTIONS_H

#include "cli/cmd.h"
#include "cmd/episode_options.h"
#include "cmd/log_options.h"
#include "run/options.h"

/* Options of `fumehood run`: Fumehood's own, and MLGym's spellings. */
struct run_command {
	struct run_options run;
	int agents; /* value of MLGym's --num_agents; 0: not given */
	bool quiet, verbose;
	bool web;     /* serve the viewer's page, where a person takes over */
	int web_port; /* port of the page; 0: a free one */
	struct log_choice log;
};

extern const struct cmd_option run_options[];

#endif
