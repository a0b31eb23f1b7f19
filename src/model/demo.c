/* SPDX-License-Identifier: Apache-2.0 */
#include "config/node.h"
#include "model/backend.h"
#include "model/script.h"

#include <errno.h>

/* demo: recorded actions, in the task's folder. */

/* Names the variant too: some variants have a demonstration and others don't. */
static int demo_say_none(const struct task *task, struct fh_error *err)
{
	bool has_variants = node_get(task->keys, "variants");

	return error_say(err, EINVAL, "the task '%s%s%s' has no demonstration", task->id,
			has_variants ? ":" : "",
			!has_variants                    ? ""
					: *task->variant ? task->variant
							 : TASK_FULL);
}

static int demo_open(const struct model_request *request, const char *argument, void **out_state,
		struct fh_error *err)
{
	struct script *s;
	struct task *task;
	int r = task_load(request->places, request->task, request->variant, &task, err);

	if (r < 0)
		return r;
	s = script_new();
	r = task->demo ? script_read(s, task->demo, err) : demo_say_none(task, err);
	task_free(task);
	if (r < 0) {
		script_free(s);
		return r;
	}
	*out_state = s;
	return 0;
}

const struct model_backend model_demo = {
	.name = "demo",
	.open = demo_open,
	.next = script_next,
	.close = script_free,
};
