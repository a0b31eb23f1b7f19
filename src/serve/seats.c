/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/seats.h"

#include "base/clock.h"
#include "base/str.h"

#include <errno.h>
#include <poll.h>

#define DONE_AT_ONCE 64

struct seat *seats_open(struct seats *all)
{
	struct metrics *m = &all->host->metrics;
	struct seat *s;

	if (all->draining || all->n >= (size_t)all->host->options->max_sessions) {
		m->sessions_refused++;
		return NULL;
	}
	m->sessions_opened++;
	s = seat_new(all->host);
	TAILQ_INSERT_TAIL(&all->list, s, link);
	all->n++;
	return s;
}

struct seat *seats_find(const struct seats *all, const char *id)
{
	struct seat *s;

	TAILQ_FOREACH(s, &all->list, link)
		if (!s->closing && str_eq(s->id, id))
			break;
	return s;
}

struct seat *seats_find_episode(const struct seats *all, const char *episode_id)
{
	struct seat *s;

	if (!*episode_id)
		return NULL;
	TAILQ_FOREACH(s, &all->list, link)
		if (!s->closing && s->detached && str_eq(s->episode_id, episode_id))
			break;
	return s;
}

/* Frees the sessions that have closed. */
static void seats_sweep(struct seats *all)
{
	struct seat *next;

	for (struct seat *s = TAILQ_FIRST(&all->list); s; s = next) {
		next = TAILQ_NEXT(s, link);
		if (s->phase != SEAT_CLOSED)
			continue;
		TAILQ_REMOVE(&all->list, s, link);
		seat_free(s);
	}
}

void seats_close(struct seats *all, struct seat *s)
{
	all->n--;
	seat_close(s);
}

/* Goes on after threads that have ended. Queued sessions come last, when all room is free. If one
 * came before, it could miss the room, and perhaps no thread would be left to wake it. */
static void seats_advance_threads(struct seats *all)
{
	struct seat *s;

	if (!openings_came(&all->host->openings))
		return;
	TAILQ_FOREACH(s, &all->list, link)
		seat_advance(s);
	TAILQ_FOREACH(s, &all->list, link)
		seat_leave_queue(s);
}

int seats_advance(struct seats *all, struct fh_error *err)
{
	struct fh_env *done[DONE_AT_ONCE];
	int n;

	seats_advance_threads(all);
	n = fh_gym_wait(all->host->gym, 0, done, DONE_AT_ONCE, err);
	for (int i = 0; i < n; i++)
		seat_take(fh_env_user(done[i]));
	seats_sweep(all);
	return n < 0 ? n : 0;
}

void seats_tick(struct seats *all)
{
	double idle_s = all->host->options->idle_s;
	int64_t before = clock_now_ns() - (int64_t)(idle_s * (double)NS_PER_S);
	struct seat *s;

	TAILQ_FOREACH(s, &all->list, link) {
		if (!s->detached || s->closing || s->phase != SEAT_IDLE || s->active_ns > before)
			continue;
		all->host->metrics.sessions_reaped++;
		seats_close(all, s);
	}
	seats_sweep(all);
}

bool seats_busy(const struct seats *all)
{
	const struct seat *s;

	TAILQ_FOREACH(s, &all->list, link)
		if (s->phase != SEAT_IDLE && s->phase != SEAT_CLOSED)
			return true;
	return false;
}

/* True if a session waits for a thread that writes a record. */
static bool seats_write(const struct seats *all)
{
	const struct seat *s;

	TAILQ_FOREACH(s, &all->list, link)
		if (s->phase == SEAT_WRITING)
			return true;
	return false;
}

void seats_end(struct seats *all)
{
	struct pollfd threads = { .fd = all->host->openings.fd, .events = POLLIN };

	struct seat *s;

	TAILQ_FOREACH(s, &all->list, link)
		if (!s->closing)
			seats_close(all, s);
	while (seats_write(all)) {
		if (poll(&threads, 1, -1) < 0 && errno != EINTR)
			break;
		seats_advance_threads(all);
	}
	seats_sweep(all);
}
