/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_GPU_OPTIONS_H
#define CMD_GPU_OPTIONS_H

#include "base/arena.h"
#include "cli/cmd.h"

/* The values of --gpus: numbers, each once. The array lives in the arena; NULL for an empty list. -EINVAL. */
int gpu_options_read(const struct cmd_list *list, struct arena *arena, const int **out,
		struct fh_error *err);

#endif
