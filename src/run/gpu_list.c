/* SPDX-License-Identifier: Apache-2.0 */
#include "run/gpu_list.h"

#include "base/str.h"
#include "sandbox/sandbox.h"

#include <errno.h>

int gpu_list_read(const struct texts *list, struct arena *arena, const int **out,
		struct fh_error *err)
{
	int *numbers = list->n ? arena_array(arena, list->n, sizeof(*numbers)) : NULL;

	for (size_t i = 0; i < list->n; i++) {
		int64_t number;

		if (!str_to_i64(list->items[i], &number) || number < 0 || number > GPU_NUMBER_MAX)
			return error_say(err, EINVAL,
					"--gpus '%s': a GPU is a number, as 0 is for /dev/nvidia0",
					list->items[i]);
		numbers[i] = (int)number;
		for (size_t k = 0; k < i; k++)
			if (numbers[k] == numbers[i])
				return error_say(err, EINVAL, "--gpus names GPU %d twice",
						numbers[i]);
	}
	*out = numbers;
	return 0;
}
