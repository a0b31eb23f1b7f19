/* SPDX-License-Identifier: Apache-2.0 */
#include "model/backend.h"
#include "model/script.h"

#include <errno.h>

/* baseline: the task's baseline command, played as an episode. */

static int baseline_open(const struct model_request *request, const char *argument,
		void **out_state, struct fh_error *err)
{
	struct script *s;
	struct task *task;
	int r = task_load(request->places, request->task, request->variant, &task, err);

	if (r < 0)
		return r;
	if (!task->baseline_command) {
		r = error_say(err, EINVAL, "the task '%s' has no baseline", request->task);
		task_free(task);
		return r;
	}
	s = script_new();
	script_add(s, task->baseline_command);
	task_free(task);
	*out_state = s;
	return 0;
}

const struct model_backend model_baseline = {
	.name = "baseline",
	.open = baseline_open,
	.next = script_next,
	.close = script_free,
};
