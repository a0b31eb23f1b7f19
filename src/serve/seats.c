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
	s->next = all->first;
	all->first = s;
	all->n++;
	return s;
}

struct seat *seats_find(const struct seats *all, const char *id)
{
	struct seat *s = all->first;

	while (s && (s->closing || !str_eq(s->id, id)))
		s = s->next;
	return s;
}

struct seat *seats_find_episode(const struct seats *all, const char *episode_id)
{
	struct seat *s = all->first;

	while (s &&
			(s->closing || !s->detached || !*episode_id ||
					!str_eq(s->episode_id, episode_id)))
		s = s->next;
	return s;
}

/* Frees the sessions that have closed. */
static void seats_sweep(struct seats *all)
{
	struct seat **at = &all->first;

	while (*at) {
		struct seat *s = *at;

		if (s->phase != SEAT_CLOSED) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		seat_free(s);
	}
}

void seats_close(struct seats *all, struct seat *s)
{
	all->n--;
	seat_close(s);
}

int seats_advance(struct seats *all, struct fh_error *err)
{
	struct fh_env *done[DONE_AT_ONCE];
	int n;

	if (openings_came(&all->host->openings))
		for (struct seat *s = all->first; s; s = s->next)
			seat_advance(s);
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

	for (struct seat *s = all->first; s; s = s->next) {
		if (!s->detached || s->closing || s->phase != SEAT_IDLE || s->active_ns > before)
			continue;
		all->host->metrics.sessions_reaped++;
		seats_close(all, s);
	}
	seats_sweep(all);
}

bool seats_busy(const struct seats *all)
{
	const struct seat *s = all->first;

	while (s && (s->phase == SEAT_IDLE || s->phase == SEAT_CLOSED))
		s = s->next;
	return s != NULL;
}

/* True if a session waits for a thread that writes a record. */
static bool seats_write(const struct seats *all)
{
	const struct seat *s = all->first;

	while (s && s->phase != SEAT_WRITING)
		s = s->next;
	return s != NULL;
}

void seats_end(struct seats *all)
{
	struct pollfd threads = { .fd = all->host->openings.fd, .events = POLLIN };

	for (struct seat *s = all->first; s; s = s->next)
		if (!s->closing)
			seats_close(all, s);
	while (seats_write(all)) {
		if (poll(&threads, 1, -1) < 0 && errno != EINTR)
			break;
		if (openings_came(&all->host->openings))
			for (struct seat *s = all->first; s; s = s->next)
				seat_advance(s);
	}
	seats_sweep(all);
}
