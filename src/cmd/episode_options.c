/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/episode_options.h"

static void episode_options_warn(void *user, const char *sentence)
{
	cmd_warn("%s", sentence);
}

const struct warner cmd_warner = { .warn = episode_options_warn };
