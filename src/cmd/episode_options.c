/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/episode_options.h"

static void print_warning(void *user, const char *sentence)
{
	cmd_warn("%s", sentence);
}

const struct warner cmd_warner = { .warn = print_warning };
