/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_GPU_LIST_H
#define RUN_GPU_LIST_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* The values of --gpus: numbers, each once. The array lives in the arena; NULL for an empty list. -EINVAL. */
int gpu_list_read(const struct texts *list, struct arena *arena, const int **out,
		struct fh_error *err);

#endif
