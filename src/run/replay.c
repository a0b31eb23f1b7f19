/* SPDX-License-Identifier: Apache-2.0 */
#include "run/replay.h"

#include "base/scope.h"
#include "run/episode_begin.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int replay_wait(struct replay *r, int stop_fd, struct fh_error *err)
{
	struct pollfd fds[] = { { .fd = r->stopping ? -1 : stop_fd, .events = POLLIN },
		{ .fd = fh_gym_fd(r->gym), .events = POLLIN },
		{ .fd = r->openings.fd, .events = POLLIN } };
	struct episode *e = &r->episode;
	struct fh_env *done;
	int n;

	if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
		return error_set(err, errno, "wait for the episode");
	if (fds[0].revents) {
		r->stopping = true;
		episode_stop(e);
	}
	openings_came(&r->openings);
	if (episode_is_recorded(e))
		episode_recorded(e);
	if (e->phase == EPISODE_OPENING && episode_is_open(e)) {
		episode_opened(e);
		if (episode_warning(e))
			warner_say(r->options->warner, "%s", episode_warning(e));
	}
	n = fh_gym_wait(r->gym, 0, &done, 1, err);
	if (n > 0)
		episode_advance(e);
	return n;
}

/* Returns true if a line of any recorded action begins with the command `name`. */
static bool replay_has_command(const struct traj *t, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < t->n_steps; i++)
		for (const char *at = pyjson_text(t->steps[i].action); *at;) {
			if (strncmp(at, name, n) == 0 && at[n] == ' ')
				return true;
			at += strcspn(at, "\n");
			at += *at == '\n';
		}
	return false;
}

static int replay_open(struct replay *r, struct fh_error *err)
{
	struct fh_gym_options options = FH_GYM_OPTIONS(.tasks_dir = r->places.tasks_dir,
			.mlgym_root = r->places.mlgym_root, .n_gpus = r->env.n_gpus,
			.gpu_numbers = r->gpus, .n_gpu_numbers = r->gpus ? r->env.n_gpus : 0);
	int n = fh_gym_open(&options, &r->gym, err);

	if (n < 0 && r->env.n_gpus && !r->gpus)
		return error_wrap(err, "the run had %zu GPUs (--gpus none plays it without)",
				r->env.n_gpus);
	return n < 0 ? n : openings_open(&r->openings, err);
}

static void replay_idle(void *user, struct fh_env *env)
{
	struct replay *r = user;

	replay_files_note(&r->files, env);
}

int replay_play(struct replay *r, int stop_fd, struct fh_error *err)
{
	struct episode_plan plan = {
		.openings = &r->openings,
		.env = &r->env,
		.places = &r->places,
		.model = r->model,
		.agent = r->agent.config ? &r->agent : NULL,
		.out = r->out,
		.aliases = r->aliases,
		.edits_at_once = replay_has_command(r->recorded, "edit") ||
				replay_has_command(r->recorded, "insert"),
		.suffix = "replay",
		.reward = episode_rewards[r->reward],
		.seed = r->seed,
		.task_hash = r->options->task ? NULL : r->task_hash,
		.keys = r->options->task ? 0 : r->keys,
		.agent_hash = r->options->agent ? NULL : r->agent_hash,
		.stop_fd = -1,
		.idle = r->options->files ? replay_idle : NULL,
		.idle_user = r,
	};
	int n = replay_open(r, err);

	if (n < 0)
		return n;
	plan.gym = r->gym;
	r->now_s = time(NULL);
	episode_init(&r->episode, &plan);
	episode_start(&r->episode);
	while (r->episode.phase != EPISODE_ENDED) {
		n = replay_wait(r, stop_fd, err);
		if (n < 0)
			return n;
	}
	if (!r->episode.failed)
		return 0;
	*err = r->episode.error;
	return err->code;
}

bool replay_is_opening(const struct replay *r)
{
	return r->openings.n > 0;
}

void replay_init(struct replay *r, const struct replay_options *options, const char *name)
{
	*r = (struct replay){ .options = options, .name = name, .openings = { .fd = -1 } };
	replay_files_init(&r->files);
}

void replay_close(struct replay *r)
{
	episode_release(&r->episode);
	replay_files_release(&r->files);
	fh_gym_close(r->gym);
	openings_close(&r->openings);
	run_agent_release(&r->agent);
	traj_free(r->recorded);
	traj_free(r->now);
	free(r->path);
	free(r->out);
	arena_release(&r->arena);
}
