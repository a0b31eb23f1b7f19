/* SPDX-License-Identifier: Apache-2.0 */
#include "run/episode_log.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/secret.h"
#include "trajectory/run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#define FIELDS_MAX 16
#define SCORE_SHOWN 2000 /* bytes of all metrics */
#define ACTION_SHOWN 200 /* bytes of an action; the record of the run has all of it */

struct log_record {
	struct arena arena;
	struct log_field fields[FIELDS_MAX];
	size_t n;
};

/* --- one record ------------------------------------------------------------------------------- */

static void episode_log_add(struct log_record *r, const char *key, const char *value)
{
	r->fields[r->n++] = (struct log_field){ key, value };
}

static void episode_log_add_int(struct log_record *r, const char *key, int64_t v)
{
	episode_log_add(r, key, arena_printf(&r->arena, "%" PRId64, v));
}

static void episode_log_add_number(struct log_record *r, const char *key, double v)
{
	episode_log_add(r, key, arena_printf(&r->arena, "%.6g", v));
}

static void episode_log_add_score(struct log_record *r, const struct fh_step *step)
{
	auto_buf struct buf text = BUF_INIT(SCORE_SHOWN);

	for (size_t i = 0; i < step->n_score; i++)
		buf_printf(&text, "%s%s %.6g", i ? ", " : "", step->score[i].name,
				step->score[i].value);
	episode_log_add(r, "score", arena_strdup(&r->arena, buf_str(&text)));
}

static struct log_record episode_log_record(const struct episode_log *l)
{
	struct log_record r = { .arena = ARENA_INIT };

	episode_log_add(&r, "task", l->task);
	episode_log_add_int(&r, "episode", l->episode);
	episode_log_add_int(&r, "step", l->step);
	return r;
}

static void episode_log_write(const struct episode_log *l, struct log_record *r,
		enum log_level level, const char *message)
{
	log_record(NULL, level, message, r->fields, r->n);
	if (l->file.fd >= 0)
		log_record(&l->file, level, message, r->fields, r->n);
	arena_release(&r->arena);
}

/* --- the episode ------------------------------------------------------------------------------ */

void episode_log_init(struct episode_log *l, const char *task)
{
	*l = (struct episode_log){ .file = { .fd = -1 }, .task = task ? xstrdup(task) : NULL };
}

void episode_log_release(struct episode_log *l)
{
	if (l->file.fd >= 0)
		close(l->file.fd);
	l->file.fd = -1;
	free(l->task);
	l->task = NULL;
}

static int episode_log_open_file(const char *dir, int *out_fd, struct fh_error *err)
{
	auto_free char *path = run_dir_log(dir);
	/* In the folder of a run that goes on, a stranger's maybe, a link of that name may lie. */
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
			0666);

	if (fd < 0)
		return error_set(err, errno, "create '%s'", path);
	*out_fd = fd;
	return 0;
}

int episode_log_open(
		struct episode_log *l, const struct episode_log_place *place, struct fh_error *err)
{
	int r;

	episode_log_release(l);
	episode_log_init(l, place->task);
	l->episode = place->episode;
	l->file.level = LOG_INFO;
	l->file.time = true;
	if (!place->dir)
		return 0;
	r = episode_log_open_file(place->dir, &l->file.fd, err);
	for (int i = 0; r == 0 && i < LOG_WARNINGS_MAX; i++)
		if (place->warnings[i])
			log_record(&l->file, LOG_WARN, place->warnings[i], NULL, 0);
	return r;
}

void episode_log_begun(struct episode_log *l, const char *model, uint64_t seed, int max_steps)
{
	struct log_record r = episode_log_record(l);

	episode_log_add(&r, "model", model);
	episode_log_add(&r, "seed", arena_printf(&r.arena, "%" PRIu64, seed));
	episode_log_add_int(&r, "max_steps", max_steps);
	episode_log_write(l, &r, LOG_INFO, "episode begun");
}

static void episode_log_events(struct episode_log *l, const struct fh_step *step)
{
	if (step->restarted) {
		struct log_record r = episode_log_record(l);

		episode_log_write(l, &r, LOG_INFO, "shell restarted");
	}
	if (step->integrity) {
		struct log_record r = episode_log_record(l);

		episode_log_add(&r, "what", step->integrity);
		episode_log_write(l, &r, LOG_WARN, "integrity");
	}
	if (step->state_error) {
		struct log_record r = episode_log_record(l);

		episode_log_add(&r, "what", step->state_error);
		episode_log_write(l, &r, LOG_WARN, "state");
	}
}

void episode_log_reset(struct episode_log *l, const struct fh_step *step)
{
	struct log_record r = episode_log_record(l);

	episode_log_add_number(&r, "duration_s", step->duration_s);
	episode_log_write(l, &r, LOG_INFO, "reset");
	episode_log_events(l, step);
}

void episode_log_changed(struct episode_log *l, const struct episode_log_change *change)
{
	struct log_record r = episode_log_record(l);

	episode_log_add(&r, arena_printf(&r.arena, "recorded_%s_hash", change->what),
			change->recorded);
	episode_log_add(&r, arena_printf(&r.arena, "%s_hash", change->what), change->now);
	episode_log_write(l, &r, LOG_WARN,
			arena_printf(&r.arena,
					"the %s's files have changed since the run was recorded",
					change->what));
}

void episode_log_other_keys(struct episode_log *l, int64_t recorded)
{
	struct log_record r = episode_log_record(l);

	episode_log_add_int(&r, "recorded_keys", recorded);
	episode_log_add_int(&r, "keys", SECRET_KEYS_VERSION);
	episode_log_write(l, &r, LOG_WARN,
			"scores and made data may differ from the record, because keys are derived in "
			"another way since");
}

void episode_log_resumed(struct episode_log *l, size_t different)
{
	struct log_record r = episode_log_record(l);

	episode_log_add_int(&r, "different", (int64_t)different);
	episode_log_write(l, &r, different ? LOG_WARN : LOG_INFO, "resumed");
}

void episode_log_action(struct episode_log *l, const char *action)
{
	struct log_record r = episode_log_record(l);

	episode_log_add(&r, "action", arena_printf(&r.arena, "%.*s", ACTION_SHOWN, action));
	episode_log_write(l, &r, LOG_DEBUG, "action");
}

void episode_log_step(struct episode_log *l, const struct fh_step *step)
{
	struct log_record r;

	l->step = step->step;
	r = episode_log_record(l);
	episode_log_add(&r, "outcome", fh_outcome_name(step->outcome));
	if (step->exit_code >= 0)
		episode_log_add_int(&r, "exit_code", step->exit_code);
	episode_log_add_number(&r, "duration_s", step->duration_s);
	if (step->score)
		episode_log_add_score(&r, step);
	if (step->grade_error)
		episode_log_add(&r, "grade_error", step->grade_error);
	episode_log_write(l, &r, LOG_INFO, "step");
	episode_log_events(l, step);
}

/* The first is for who watches; of an outage each episode has many. */
void episode_log_retry(struct episode_log *l, const struct chat_retry *retry)
{
	struct log_record r = episode_log_record(l);

	episode_log_add(&r, "model", retry->spec);
	episode_log_add(&r, "try", arena_printf(&r.arena, "%d of %d", retry->tries, retry->most));
	episode_log_add_number(&r, "pause_s", (double)retry->pause_ms / 1000);
	episode_log_add(&r, "why", retry->why);
	episode_log_write(l, &r, retry->is_first ? LOG_WARN : LOG_INFO,
			"no reply, it is asked for again");
}

void episode_log_failed(struct episode_log *l, const char *why)
{
	struct log_record r = episode_log_record(l);

	episode_log_add(&r, "error", why);
	episode_log_write(l, &r, LOG_ERROR, "episode failed");
}

void episode_log_over(struct episode_log *l, const char *exit_status)
{
	struct log_record r = episode_log_record(l);

	episode_log_add(&r, "exit_status", exit_status);
	episode_log_write(l, &r, LOG_INFO, "episode over");
}
