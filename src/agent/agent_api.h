/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AGENT_AGENT_API_H
#define AGENT_AGENT_API_H

#include "agent/config.h"

#include <fumehood/agent.h>

/* A configuration of fumehood/agent.h. */
struct fh_agent {
	struct agent_config *config;
	char *aliases; /* path of a file of aliases; NULL: none */
	struct fh_agent_info info;
	struct warnings warnings;
	struct arena arena; /* holds what `info` points to beside `config` */
};

#endif
