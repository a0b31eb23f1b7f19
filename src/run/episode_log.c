/* SPDX-License-Identifier: Apache-2.0 */
#include "run/episode_log.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/secret.h"
#include "trajectory/run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define LOG_FIELDS_MAX 16
#define NUMBER_BYTES 32
#define SCORE_SHOWN 2000 /* most bytes of a step's scores in a log line */
#define ACTION_SHOWN 200 /* most bytes of an action in a log line; events.jsonl has all */

#define LOG_FIELDS(...) ((const struct log_field[]){ __VA_ARGS__, {} })

/*
 * Writes a line to the log. It has the fields task, episode and step, and those of `more` that
 * have a value.
 */
static void episode_log_write(const struct episode_log *l, enum log_level level,
		const char *message, const struct log_field *more)
{
	char episode[NUMBER_BYTES], step[NUMBER_BYTES];
	struct log_field fields[LOG_FIELDS_MAX] = { { "task", l->task }, { "episode", episode },
		{ "step", step } };
	size_t n = 3;

	snprintf(episode, sizeof(episode), "%d", l->episode);
	snprintf(step, sizeof(step), "%d", l->step);
	for (; more->key; more++)
		if (more->value)
			fields[n++] = *more;
	log_line(NULL, level, message, fields, n);
	if (l->file.fd >= 0)
		log_line(&l->file, level, message, fields, n);
}

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

int episode_log_open(
		struct episode_log *l, const struct episode_log_place *place, struct fh_error *err)
{
	auto_free char *path = place->dir ? run_dir_log(place->dir) : NULL;

	episode_log_release(l);
	episode_log_init(l, place->task);
	l->episode = place->episode;
	if (!path)
		return 0;
	l->file.level = LOG_INFO;
	l->file.time = true;
	/* Open the log file without following a link or blocking on a pipe. The folder of a resumed
	 * run is untrusted. */
	l->file.fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
			0666);
	if (l->file.fd < 0)
		return error_set(err, errno, "create '%s'", path);
	for (int i = 0; i < LOG_WARNINGS_MAX; i++)
		if (place->warnings[i])
			log_line(&l->file, LOG_WARN, place->warnings[i], NULL, 0);
	return 0;
}

void episode_log_begun(struct episode_log *l, const char *model, uint64_t seed, int max_steps)
{
	char seed_text[NUMBER_BYTES], steps[NUMBER_BYTES];

	snprintf(seed_text, sizeof(seed_text), "%" PRIu64, seed);
	snprintf(steps, sizeof(steps), "%d", max_steps);
	episode_log_write(l, LOG_INFO, "episode begun",
			LOG_FIELDS({ "model", model }, { "seed", seed_text },
					{ "max_steps", steps }));
}

static void episode_log_events(struct episode_log *l, const struct fh_step *step)
{
	if (step->restarted)
		episode_log_write(l, LOG_INFO, "shell restarted", LOG_FIELDS({}));
	if (step->integrity)
		episode_log_write(
				l, LOG_WARN, "integrity", LOG_FIELDS({ "what", step->integrity }));
	if (step->state_error)
		episode_log_write(l, LOG_WARN, "state", LOG_FIELDS({ "what", step->state_error }));
}

void episode_log_reset(struct episode_log *l, const struct fh_step *step)
{
	char duration[NUMBER_BYTES];

	snprintf(duration, sizeof(duration), "%.6g", step->duration_s);
	episode_log_write(l, LOG_INFO, "reset", LOG_FIELDS({ "duration_s", duration }));
	episode_log_events(l, step);
}

void episode_log_changed(struct episode_log *l, const struct episode_log_change *change)
{
	const char *what = change->what;
	auto_free char *recorded = xasprintf("recorded_%s_hash", what);
	auto_free char *now = xasprintf("%s_hash", what);
	auto_free char *message =
			xasprintf("the %s's files have changed since the run was recorded", what);

	episode_log_write(l, LOG_WARN, message,
			LOG_FIELDS({ recorded, change->recorded }, { now, change->now }));
}

void episode_log_other_keys(struct episode_log *l, int64_t recorded)
{
	char then[NUMBER_BYTES], now[NUMBER_BYTES];

	snprintf(then, sizeof(then), "%" PRId64, recorded);
	snprintf(now, sizeof(now), "%d", SECRET_KEYS_VERSION);
	episode_log_write(l, LOG_WARN,
			"scores and made data may differ from the record, because keys are derived in "
			"another way since",
			LOG_FIELDS({ "recorded_keys", then }, { "keys", now }));
}

void episode_log_resumed(struct episode_log *l, size_t different)
{
	char n[NUMBER_BYTES];

	snprintf(n, sizeof(n), "%zu", different);
	episode_log_write(l, different ? LOG_WARN : LOG_INFO, "resumed",
			LOG_FIELDS({ "different", n }));
}

void episode_log_action(struct episode_log *l, const char *action)
{
	char shown[ACTION_SHOWN + 1];

	snprintf(shown, sizeof(shown), "%s", action);
	episode_log_write(l, LOG_DEBUG, "action", LOG_FIELDS({ "action", shown }));
}

static void episode_log_add_score(struct buf *out, const struct fh_step *step)
{
	for (size_t i = 0; step->score && i < step->n_score; i++)
		buf_printf(out, "%s%s %.6g", i ? ", " : "", step->score[i].name,
				step->score[i].value);
}

void episode_log_asked(struct episode_log *l, const char *what, const struct fh_step *told)
{
	auto_buf struct buf score = BUF_INIT(SCORE_SHOWN);

	l->step = told->step;
	episode_log_add_score(&score, told);
	episode_log_write(l, LOG_INFO, what,
			LOG_FIELDS({ "score", told->score ? buf_str(&score) : NULL },
					{ "grade_error", told->grade_error }));
}

void episode_log_step(struct episode_log *l, const struct fh_step *step)
{
	auto_buf struct buf score = BUF_INIT(SCORE_SHOWN);
	char code[NUMBER_BYTES], duration[NUMBER_BYTES];

	l->step = step->step;
	snprintf(code, sizeof(code), "%d", step->exit_code);
	snprintf(duration, sizeof(duration), "%.6g", step->duration_s);
	episode_log_add_score(&score, step);
	episode_log_write(l, LOG_INFO, "step",
			LOG_FIELDS({ "outcome", fh_outcome_name(step->outcome) },
					{ "exit_code", step->exit_code >= 0 ? code : NULL },
					{ "duration_s", duration },
					{ "score", step->score ? buf_str(&score) : NULL },
					{ "grade_error", step->grade_error }));
	episode_log_events(l, step);
}

/* Logs that a request to the model is retried. Only the first failure is a warning: an outage
 * brings many retries. */
void episode_log_retry(struct episode_log *l, const struct chat_retry *retry)
{
	char tries[NUMBER_BYTES], pause[NUMBER_BYTES];

	snprintf(tries, sizeof(tries), "%d of %d", retry->tries, retry->most);
	snprintf(pause, sizeof(pause), "%.6g", (double)retry->pause_ms / 1000);
	episode_log_write(l, retry->is_first ? LOG_WARN : LOG_INFO,
			"no reply, it is asked for again",
			LOG_FIELDS({ "model", retry->spec }, { "try", tries }, { "pause_s", pause },
					{ "why", retry->why }));
}

void episode_log_failed(struct episode_log *l, const char *why)
{
	episode_log_write(l, LOG_ERROR, "episode failed", LOG_FIELDS({ "error", why }));
}

void episode_log_over(struct episode_log *l, const char *exit_status)
{
	episode_log_write(l, LOG_INFO, "episode over", LOG_FIELDS({ "exit_status", exit_status }));
}
