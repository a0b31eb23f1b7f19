/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "model/backend.h"
#include "trajectory/export_files.h"

#include <errno.h>
#include <stdlib.h>

/* The model replay:FILE.traj, or replay:FOLDER with a run's folder. It plays the recorded replies
 * and actions. At the record's end the episode ends without a score. */
struct replay_model {
	struct traj *traj;
	size_t next;
};

static int replay_model_check(const char *path, const struct traj *t, struct fh_error *err)
{
	for (size_t i = 0; i < t->n_steps; i++) {
		const struct pyjson *action = t->steps[i].action;

		if (!action || !pyjson_string(action))
			return error_say(err, EINVAL, "%s: the action of step %zu can't be played",
					path, i);
	}
	return 0;
}

static void replay_model_close(void *state)
{
	struct replay_model *r = state;

	traj_free(r->traj);
	free(r);
}

static int replay_model_open(const struct model_request *request, const char *argument,
		void **out_state, struct fh_error *err)
{
	struct replay_model *r;
	struct traj *traj;
	int n;

	if (!*argument)
		return error_say(err, EINVAL,
				"the model 'replay' wants a recorded run: replay:FILE.traj");
	n = export_traj(argument, &traj, err);
	if (n < 0)
		return n;
	r = xcalloc(1, sizeof(*r));
	r->traj = traj;
	n = replay_model_check(argument, traj, err);
	if (n < 0) {
		replay_model_close(r);
		return n;
	}
	*out_state = r;
	return 0;
}

static const char *replay_model_text(const struct pyjson *v)
{
	return v ? pyjson_string(v) : NULL;
}

static int replay_model_next(void *state, const struct fh_step *step, struct model_turn *out,
		struct fh_error *err)
{
	struct replay_model *r = state;
	const struct traj_step *s;

	if (r->next == r->traj->n_steps)
		return error_say(err, EINTR, "the record ends here");
	s = &r->traj->steps[r->next++];
	*out = (struct model_turn){ .action = pyjson_string(s->action),
		.response = replay_model_text(s->response),
		.thought = replay_model_text(s->thought),
		.timeout_s = s->timeout_s };
	return 0;
}

const struct model_backend model_replay = {
	.name = "replay",
	.takes_argument = true,
	.open = replay_model_open,
	.next = replay_model_next,
	.close = replay_model_close,
};
