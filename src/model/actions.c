/* SPDX-License-Identifier: Apache-2.0 */
#include "model/backend.h"
#include "model/script.h"

#include <errno.h>

/* actions:FILE. At the file's end the episode is submitted, as MLGym does with recordings. */

static int actions_open(const struct model_request *request, const char *argument, void **out_state,
		struct fh_error *err)
{
	struct script *s;
	int r;

	if (!*argument)
		return error_say(err, EINVAL, "the model 'actions' wants a file: actions:FILE");
	s = script_new();
	r = script_read(s, argument, err);
	if (r < 0) {
		script_free(s);
		return r;
	}
	*out_state = s;
	return 0;
}

const struct model_backend model_actions = {
	.name = "actions",
	.takes_argument = true,
	.open = actions_open,
	.next = script_next,
	.close = script_free,
};
